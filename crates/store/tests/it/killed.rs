//! Tests of SIGKILL before and after each durable step: the data is complete afterwards.

use std::path::Path;
use std::sync::OnceLock;

use rustix::process::{Signal, getpid, kill_process};
use segue_core::failpoint;
use segue_core::ports::Commit;
use segue_testkit::contract::store::{Samples, events};

use crate::children::{StoreProcess, named_store, print_line, read_line};
use crate::fixture::{OLD_SESSION_ID, StoreFixture, database_of_version, newest_version};

#[tokio::test]
async fn interrupted_creation_of_a_store_is_completed_by_the_next_open() {
    let points = [
        "store.create.before",
        "store.migrate.before",
        "store.migrate.after",
        "store.create.after",
        "store.publish.before",
        "store.publish.after",
        "store.commit.before",
    ];
    for point in points {
        let fixture = StoreFixture::new();
        kill_at(point, &fixture.store);
        let store = segue_store::open(&fixture.store).await.unwrap();
        assert!(events(&*store).await.is_empty(), "{point}");
        Samples::default().stored_session(&*store, "shop", "coder").await;
        drop(store);
        let names: Vec<_> = fixture.contents().into_keys().collect();
        assert_eq!(names, ["segue.db", "segue.db.backup"], "{point}");
    }
}

#[tokio::test]
async fn commit_is_on_disk_if_the_process_is_killed_after_it() {
    let fixture = StoreFixture::new();
    kill_at("store.commit.after", &fixture.store);
    let store = segue_store::open(&fixture.store).await.unwrap();
    assert_eq!(events(&*store).await, ["committed"]);
}

#[tokio::test]
async fn interrupted_migration_is_completed_and_its_backup_is_complete() {
    let points = [
        "store.backup.before",
        "store.backup.after",
        "store.keep_backup.before",
        "store.keep_backup.after",
        "store.migrate.before",
        "store.migrate.after",
    ];
    for point in points {
        let fixture = StoreFixture::new();
        database_of_version(&fixture.store, 1);
        kill_at(point, &fixture.store);
        let store = segue_store::open(&fixture.store).await.unwrap();
        let id = OLD_SESSION_ID.parse().unwrap();
        assert!(store.session(id).await.unwrap().is_some(), "{point}");
        drop(store);
        let backup = StoreFixture::new();
        let made = fixture.beside(&format!(".before-1-to-{}", newest_version()));
        std::fs::copy(made, &backup.store).unwrap();
        let store = segue_store::open(&backup.store).await.unwrap();
        assert!(store.session(id).await.unwrap().is_some(), "{point}: the backup");
    }
}

fn kill_at(point: &str, store: &Path) {
    let mut process = StoreProcess::start("killed::opens_and_commits", store);
    process.wait_for_line("ready");
    process.send_line(point);
    assert_eq!(process.ending_signal(), Some(Signal::KILL.as_raw()), "{point} was not reached");
}

static POINT: OnceLock<String> = OnceLock::new();

#[tokio::test]
#[ignore = "a process that another test starts"]
async fn opens_and_commits() {
    let Some(path) = named_store() else { return };
    print_line("ready");
    POINT.set(read_line()).unwrap();
    failpoint::install(|name| {
        if POINT.get().is_some_and(|point| point == name) {
            kill_process(getpid(), Signal::KILL).unwrap();
        }
    });
    let store = segue_store::open(&path).await.unwrap();
    let events = vec![Samples::default().event(None, "committed")];
    store.commit(Commit { changes: Vec::new(), events }).await.unwrap();
}
