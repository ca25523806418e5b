//! Databases of earlier versions: brought forward, with a copy of what they were.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use rusqlite::{Connection, OpenFlags};
use segue_core::model::{Evidence, Permission, SessionId, Status, Trust};
use segue_core::ports::Change;
use segue_testkit::contract::store::{Samples, commit};

use crate::fixture::{OLD_SESSION_ID, Place, database_of_version, newest_version};

#[tokio::test]
async fn an_empty_folder_gets_the_newest_version_without_a_backup() {
    let place = Place::new();
    drop(segue_store::open(&place.store).await.unwrap());
    assert_eq!(version(&place.store), newest_version());
    assert_eq!(place.contents().len(), 1);
}

#[tokio::test]
async fn every_earlier_version_is_brought_forward_with_what_is_in_it() {
    for from in 1..=newest_version() {
        let place = Place::new();
        database_of_version(&place.store, from);
        let store = segue_store::open(&place.store).await.unwrap();
        let id: SessionId = OLD_SESSION_ID.parse().unwrap();
        let session = store.session(id).await.unwrap().unwrap();
        assert_eq!((session.permission, session.status), (Permission::Ask, Status::Idle));
        assert_eq!(store.bindings(id).await.unwrap()[0].evidence, Evidence::Hook);

        let (folder, at) = ("/code/shop".into(), Samples::default().time());
        let trust = Trust { folder, digest: "one".to_owned(), at };
        store.commit(commit([Change::PutTrust(trust.clone())])).await.unwrap();
        assert_eq!(store.trust(&trust.folder).await.unwrap(), Some(trust));
        drop(store);
        assert_eq!(version(&place.store), newest_version());
    }
}

#[tokio::test]
async fn the_newest_version_needs_no_backup() {
    let place = Place::new();
    database_of_version(&place.store, newest_version());
    drop(segue_store::open(&place.store).await.unwrap());
    assert_eq!(place.contents().len(), 1);
}

#[tokio::test]
async fn before_a_migration_the_database_is_copied() {
    let place = Place::new();
    database_of_version(&place.store, 1);
    drop(segue_store::open(&place.store).await.unwrap());
    let names: Vec<_> = place.contents().into_keys().collect();
    let backup = format!("segue.db.before-1-to-{}", newest_version());
    assert_eq!(names, ["segue.db", &backup]);

    let backup = place.folder().join(backup);
    assert_eq!(fs::metadata(&backup).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(version(&backup), 1);
    let sessions: u32 = Connection::open(&backup)
        .unwrap()
        .query_row("SELECT count(*) FROM sessions WHERE name = 'coder'", [], |row| row.get(0))
        .unwrap();
    assert_eq!(sessions, 1);
    // The copy is a store: put back in place it is brought forward like the first.
    fs::remove_file(&place.store).unwrap();
    fs::rename(&backup, &place.store).unwrap();
    let store = segue_store::open(&place.store).await.unwrap();
    assert_eq!(store.sessions().await.unwrap().len(), 1);
}

#[tokio::test]
async fn an_earlier_backup_is_not_overwritten() {
    let place = Place::new();
    database_of_version(&place.store, 1);
    let backup = place.beside(&format!(".before-1-to-{}", newest_version()));
    fs::write(&backup, "precious").unwrap();
    drop(segue_store::open(&place.store).await.unwrap());
    assert_eq!(fs::read_to_string(&backup).unwrap(), "precious");
    let second = place.beside(&format!(".before-1-to-{}.2", newest_version()));
    assert_eq!(version(&second), 1);
}

#[tokio::test]
async fn the_log_of_a_killed_writer_is_in_the_backup_too() {
    let place = Place::new();
    database_of_version(&place.store, 1);
    let writer = Connection::open(&place.store).unwrap();
    writer.execute("UPDATE sessions SET name = 'late'", []).unwrap();
    let copy = place.killed_copy();
    let store = segue_store::open(&copy.store).await.unwrap();
    assert_eq!(store.sessions().await.unwrap()[0].session.name.as_str(), "late");
    let backup = copy.beside(&format!(".before-1-to-{}", newest_version()));
    let name: String = Connection::open(backup)
        .unwrap()
        .query_row("SELECT name FROM sessions", [], |row| row.get(0))
        .unwrap();
    assert_eq!(name, "late");
}

#[tokio::test]
async fn many_that_open_an_older_store_at_once_make_one_backup() {
    let place = Place::new();
    database_of_version(&place.store, 1);
    let tasks: Vec<_> = (0..8)
        .map(|_| {
            let path = place.store.clone();
            tokio::spawn(async move { drop(segue_store::open(&path).await.unwrap()) })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(place.contents().len(), 2, "{:?}", place.contents().keys());
}

fn version(path: &Path) -> u32 {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
    let connection = Connection::open_with_flags(path, flags).unwrap();
    connection.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap()
}
