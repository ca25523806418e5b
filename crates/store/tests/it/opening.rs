//! Tests of which databases are refused, with every byte unchanged, and which are opened.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use rusqlite::Connection;
use segue_core::ports::SessionQuery;
use segue_core::{Error, Kind};
use segue_testkit::contract::store::{Samples, assert_refused};

use crate::fixture::{StoreFixture, database_of_version, newest_version};

#[tokio::test]
async fn new_store_is_private_and_leaves_only_its_backup_when_closed() {
    let fixture = StoreFixture::new();
    let store = segue_store::open(&fixture.store).await.unwrap();
    Samples::default().stored_session(&*store, "shop", "coder").await;
    for suffix in ["", "-wal", "-shm"] {
        let mode = fs::metadata(fixture.beside(suffix)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "segue.db{suffix}");
    }
    drop(store);
    let names: Vec<_> = fixture.contents().into_keys().collect();
    assert_eq!(names, ["segue.db", "segue.db.backup"]);
    assert!(segue_store::exists(&fixture.store));
}

#[tokio::test]
async fn open_removes_the_read_permission_of_other_users() {
    let fixture = StoreFixture::new();
    drop(segue_store::open(&fixture.store).await.unwrap());
    fs::set_permissions(&fixture.store, fs::Permissions::from_mode(0o644)).unwrap();
    let _store = segue_store::open(&fixture.store).await.unwrap();
    for suffix in ["", "-wal", "-shm"] {
        let mode = fs::metadata(fixture.beside(suffix)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "segue.db{suffix}");
    }
}

#[tokio::test]
async fn newer_database_is_refused_and_keeps_every_byte() {
    let fixture = StoreFixture::new();
    database_of_version(&fixture.store, newest_version());
    raise_version(&fixture.store, 99).close().unwrap();
    let error = assert_refused_untouched(&fixture).await;
    assert!(error.message.contains("newer"), "{error:?}");
    assert!(error.causes[0].contains("99"), "{error:?}");
}

#[tokio::test]
async fn newer_database_of_a_killed_writer_keeps_its_log() {
    let fixture = StoreFixture::new();
    database_of_version(&fixture.store, newest_version());
    let _writer = raise_version(&fixture.store, 99);
    let copy = fixture.killed_copy();
    assert!(fs::metadata(copy.beside("-wal")).unwrap().len() > 0);
    let before = (fs::read(&copy.store).unwrap(), fs::read(copy.beside("-wal")).unwrap());
    refusal(&copy.store).await;
    assert_eq!((fs::read(&copy.store).unwrap(), fs::read(copy.beside("-wal")).unwrap()), before);
}

type DamageCase = (&'static str, fn(&Path));

#[tokio::test]
async fn damaged_files_are_refused_and_keep_every_byte() {
    let damages: [DamageCase; 6] = [
        ("not a database", |path| fs::write(path, "hello ".repeat(1000)).unwrap()),
        ("empty", |path| fs::write(path, "").unwrap()),
        ("cut off", |path| cut_off(path)),
        ("overwritten in the middle", |path| overwrite(path, 4096 * 2)),
        ("overwritten at the start", |path| overwrite(path, 0)),
        ("database of another program", |path| foreign(path)),
    ];
    for (name, damage) in damages {
        let fixture = StoreFixture::new();
        database_of_version(&fixture.store, newest_version());
        damage(&fixture.store);
        let error = assert_refused_untouched(&fixture).await;
        assert!(error.message.contains("is damaged"), "{name}: {error:?}");
        assert!(error.hints[0].contains("`segue doctor --fix`"), "{name}: {error:?}");
        assert!(!error.causes.is_empty(), "{name}: {error:?}");
    }
}

#[tokio::test]
async fn damaged_store_of_a_killed_writer_keeps_its_log() {
    let fixture = StoreFixture::new();
    let store = segue_store::open(&fixture.store).await.unwrap();
    Samples::default().stored_session(&*store, "shop", "coder").await;
    let copy = fixture.killed_copy();
    // Overwrite the second page, so that SQLite cannot read the database.
    overwrite(&copy.store, 4096);
    fs::remove_file(copy.beside("-shm")).unwrap();
    let before = (fs::read(&copy.store).unwrap(), fs::read(copy.beside("-wal")).unwrap());
    let error = refusal(&copy.store).await;
    assert!(error.message.contains("is damaged"), "{error:?}");
    assert_eq!((fs::read(&copy.store).unwrap(), fs::read(copy.beside("-wal")).unwrap()), before);
}

#[tokio::test]
async fn damaged_store_can_be_set_aside_and_a_new_one_created() {
    let fixture = StoreFixture::new();
    fs::write(&fixture.store, "precious").unwrap();
    refusal(&fixture.store).await;
    let aside = segue_store::set_aside(&fixture.store, "damaged").unwrap();
    assert_eq!(aside, fixture.beside(".damaged"));
    assert!(!segue_store::exists(&fixture.store));
    let store = segue_store::open(&fixture.store).await.unwrap();
    assert!(store.sessions(&SessionQuery::default()).await.unwrap().is_empty());
    assert_eq!(fs::read_to_string(aside).unwrap(), "precious");
}

#[tokio::test]
async fn log_of_a_deleted_store_is_not_replayed_into_the_new_one() {
    let fixture = StoreFixture::new();
    let store = segue_store::open(&fixture.store).await.unwrap();
    Samples::default().stored_session(&*store, "shop", "coder").await;
    let copy = fixture.killed_copy();
    let log = fs::read(copy.beside("-wal")).unwrap();
    fs::remove_file(&copy.store).unwrap();
    assert!(!segue_store::exists(&copy.store));

    let store = segue_store::open(&copy.store).await.unwrap();
    assert!(store.sessions(&SessionQuery::default()).await.unwrap().is_empty());
    Samples::default().stored_session(&*store, "shop", "coder").await;
    assert_eq!(fs::read(copy.beside(".orphan-wal")).unwrap(), log);
}

#[tokio::test]
async fn leftovers_of_an_interrupted_creation_are_removed() {
    let fixture = StoreFixture::new();
    for suffix in [".new", ".new-wal", ".lock"] {
        fs::write(fixture.beside(suffix), "half").unwrap();
    }
    drop(segue_store::open(&fixture.store).await.unwrap());
    assert_eq!(fixture.contents().into_keys().collect::<Vec<_>>(), ["segue.db"]);
}

#[tokio::test]
async fn store_in_a_missing_folder_is_refused() {
    let fixture = StoreFixture::new();
    let error = refusal(&fixture.folder().join("absent/segue.db")).await;
    assert!(error.message.contains("absent/segue.db"), "{error:?}");
    assert!(fixture.contents().is_empty());
}

#[tokio::test]
async fn folder_in_the_place_of_the_store_is_refused() {
    let fixture = StoreFixture::new();
    fs::create_dir(&fixture.store).unwrap();
    let error = refusal(&fixture.store).await;
    assert!(error.message.contains("segue.db"), "{error:?}");
}

#[tokio::test]
async fn symlink_to_a_store_opens_that_store() {
    let (fixture, elsewhere) = (StoreFixture::new(), StoreFixture::new());
    symlink(&elsewhere.store, &fixture.store).unwrap();
    drop(segue_store::open(&elsewhere.store).await.unwrap());
    let store = segue_store::open(&fixture.store).await.unwrap();
    Samples::default().stored_session(&*store, "shop", "coder").await;
    let other = segue_store::open(&elsewhere.store).await.unwrap();
    assert_eq!(other.sessions(&SessionQuery::default()).await.unwrap().len(), 1);
}

#[tokio::test]
async fn concurrent_opens_of_a_new_store_share_one_database() {
    let fixture = StoreFixture::new();
    let tasks: Vec<_> = (0..12)
        .map(|number| {
            let path = fixture.store.clone();
            tokio::spawn(async move {
                let store = segue_store::open(&path).await.unwrap();
                let name = format!("coder-{number}");
                Samples::default().stored_session(&*store, "shop", &name).await;
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    let store = segue_store::open(&fixture.store).await.unwrap();
    assert_eq!(store.sessions(&SessionQuery::default()).await.unwrap().len(), 12);
}

async fn refusal(path: &Path) -> Error {
    segue_store::open(path).await.unwrap_err()
}

async fn assert_refused_untouched(fixture: &StoreFixture) -> Error {
    let before = fixture.contents();
    let error = refusal(&fixture.store).await;
    assert_eq!(fixture.contents().keys().collect::<Vec<_>>(), before.keys().collect::<Vec<_>>());
    assert!(fixture.contents() == before, "bytes changed: {error:?}");
    assert_refused::<()>(Err(error.clone()), Kind::Unavailable, &["segue.db"]);
    error
}

fn raise_version(path: &Path, version: i64) -> Connection {
    let connection = Connection::open(path).unwrap();
    connection.pragma_update(None, "user_version", version).unwrap();
    connection
}

fn cut_off(path: &Path) {
    let half = fs::metadata(path).unwrap().len() / 2;
    fs::OpenOptions::new().write(true).open(path).unwrap().set_len(half).unwrap();
}

fn overwrite(path: &Path, at: usize) {
    let mut bytes = fs::read(path).unwrap();
    bytes[at..at + 4096].fill(0xA5);
    fs::write(path, bytes).unwrap();
}

fn foreign(path: &Path) {
    fs::remove_file(path).unwrap();
    let connection = Connection::open(path).unwrap();
    connection.execute_batch("CREATE TABLE theirs (a); INSERT INTO theirs VALUES (1);").unwrap();
}
