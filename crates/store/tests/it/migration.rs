//! Tests of databases of earlier versions: they are migrated, and a copy of the old state is kept.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use rusqlite::{Connection, OpenFlags};
use segue_core::model::{
    EventKind, EventPayload, Evidence, Exit, FailureClass, How, LaunchId, Permission, SessionId,
    Status, Task, Trust, WaitingFor,
};
use segue_core::ports::{
    Change, EventQuery, PlacedTask, SessionActivity, SessionQuery, SessionSummary, TaskQuery,
};
use segue_testkit::contract::store::{Samples, assert_conflict, commit};

use crate::fixture::{OLD_SESSION_ID, StoreFixture, database_of_version, newest_version};

#[tokio::test]
async fn new_store_has_the_newest_version_and_no_backup() {
    let fixture = StoreFixture::new();
    drop(segue_store::open(&fixture.store).await.unwrap());
    assert_eq!(version(&fixture.store), newest_version());
    assert_eq!(fixture.contents().len(), 1);
}

#[tokio::test]
async fn every_earlier_version_is_migrated_with_its_content() {
    for from in 1..=newest_version() {
        let fixture = StoreFixture::new();
        database_of_version(&fixture.store, from);
        let store = segue_store::open(&fixture.store).await.unwrap();
        let id: SessionId = OLD_SESSION_ID.parse().unwrap();
        let session = store.session(id).await.unwrap().unwrap();
        assert_eq!((session.permission, session.status), (Permission::Ask, Status::Idle));
        assert_eq!(store.bindings(id).await.unwrap()[0].evidence, Evidence::Hook);

        let (folder, at) = ("/code/shop".into(), Samples::default().time());
        let trust = Trust { folder, claims: "one".to_owned(), at };
        store.commit(commit([Change::PutTrust(trust.clone())])).await.unwrap();
        assert_eq!(store.trust(&trust.folder).await.unwrap(), Some(trust));
        drop(store);
        assert_eq!(version(&fixture.store), newest_version());
    }
}

#[tokio::test]
async fn migration_to_version_8_settles_the_sessions_that_rest() {
    let fixture = StoreFixture::new();
    database_of_version(&fixture.store, 7);
    let database = Connection::open(&fixture.store).unwrap();
    let exit = Exit::Signal(9);
    let statuses = [
        Status::Starting,
        Status::Working,
        Status::Idle,
        Status::Lost,
        Status::Waiting(WaitingFor::Choice),
        Status::Ended(How::Quit),
        Status::Ended(How::Stopped),
        Status::Ended(How::TurnFailed),
        Status::Ended(How::Failed(FailureClass::Connection)),
        Status::Ended(How::Crashed(exit)),
        Status::Ended(How::NeverStarted),
    ];
    for (number, status) in statuses.iter().enumerate() {
        for headless in [false, true] {
            let sql = "INSERT INTO sessions SELECT ?1, fleet, ?2, agent, vendor, cwd, config_dir, \
                       model, permission, ?3, restart, parent, ?4, spoke, created_at, updated_at, \
                       args, env, instructions, description, archive FROM sessions WHERE id = ?5";
            let id = format!("00000000-0000-7000-8000-00000000{}{number:03}", u8::from(headless));
            let status = serde_json::to_string(status).unwrap();
            let name = format!("s{number}-{headless}");
            let values = (id, name, headless, status, OLD_SESSION_ID);
            assert_eq!(database.execute(sql, values).unwrap(), 1);
        }
    }
    drop(database);
    let store = segue_store::open(&fixture.store).await.unwrap();
    let unsettled = SessionQuery::activity(SessionActivity::Unsettled);
    let names = |sessions: Vec<SessionSummary>| -> Vec<String> {
        sessions.into_iter().map(|it| it.session.name.to_string()).collect()
    };
    let found = names(store.sessions(&unsettled).await.unwrap());
    let all = store.sessions(&SessionQuery::default()).await.unwrap();
    assert_eq!(all.len(), 1 + 2 * statuses.len());
    let is_unsettled = |it: &SessionSummary| {
        !it.session.is_at_rest() || it.open.is_some() || it.queued_messages > 0
    };
    assert_eq!(found, names(all.into_iter().filter(is_unsettled).collect()));
    assert_eq!(store.resting_places(9).await.unwrap().len(), 1);
}

#[tokio::test]
async fn migration_to_version_9_keeps_launches_without_a_machine_and_their_bindings() {
    let fixture = StoreFixture::new();
    database_of_version(&fixture.store, 8);
    let launch = old_launch(&fixture.store);
    let store = segue_store::open(&fixture.store).await.unwrap();
    let open = store.open_launches(&[]).await.unwrap();
    assert_eq!(open.iter().map(|it| (it.id, it.machine)).collect::<Vec<_>>(), [(launch, None)]);
    let bindings = store.bindings(open[0].session).await.unwrap();
    assert_eq!(bindings.iter().map(|it| it.launch).collect::<Vec<_>>(), [None, Some(launch)]);
    let second = Samples::default().launch(open[0].session, 2);
    let refused = store.commit(commit([Change::CreateLaunch(Box::new(second))])).await;
    assert!(refused.is_err(), "a session has two open launches");
}

#[test]
fn launches_of_an_unmigrated_store_are_salvaged() {
    let fixture = StoreFixture::new();
    database_of_version(&fixture.store, 8);
    let launch = old_launch(&fixture.store);
    let salvaged = segue_store::salvage(&fixture.store).unwrap();
    let launches = salvaged.sessions.iter().flat_map(|it| &it.launches);
    assert_eq!(launches.map(|it| (it.id, it.machine)).collect::<Vec<_>>(), [(launch, None)]);
    assert_eq!(salvaged.unreadable, Vec::<&str>::new());
}

#[tokio::test]
async fn events_without_data_keep_their_kind_and_text() {
    let fixture = StoreFixture::new();
    database_of_version(&fixture.store, 9);
    let sql = "INSERT INTO events (at, kind, text) \
               VALUES ('2026-01-02T03:04:05.000000006Z', 'gave_up', 'after 3 failures')";
    assert_eq!(Connection::open(&fixture.store).unwrap().execute(sql, []).unwrap(), 1);
    let (kind, text) = (EventKind::GaveUp, "after 3 failures".to_owned());
    let expected = [EventPayload::Recorded { kind, text }];
    let salvaged = segue_store::salvage(&fixture.store).unwrap().events;
    assert_eq!(salvaged.into_iter().map(|it| it.payload).collect::<Vec<_>>(), expected);
    let store = segue_store::open(&fixture.store).await.unwrap();
    let events = store.events(&EventQuery { limit: 9, ..EventQuery::default() }).await.unwrap();
    assert_eq!(events.into_iter().map(|it| it.fact.payload).collect::<Vec<_>>(), expected);
}

#[tokio::test]
async fn migration_to_version_15_keeps_the_queue_of_tasks_and_their_keys() {
    let fixture = StoreFixture::new();
    database_of_version(&fixture.store, 14);
    let database = Connection::open(&fixture.store).unwrap();
    let order = r#"{"fleet":"shop","agent":"coder","account":{"vendor":"sample",
        "config_dir":"/home/me/.sample"},"folder":"/code/shop","repository":null,"issue":null,
        "branch":null,"prompt":"fix it","parent":null,"priority":0,"verify":null,
        "mode":"headless","continues":null}"#;
    let progress = r#"{"message":null,"sessions":[],"has_new_conversation":false,
        "is_fresh_retry":false,"failed_verifies":0}"#;
    let sql = "INSERT INTO tasks (place, id, key, fleet, agent, session, state, detail, task_order,
                                  progress, attempts, created_at)
               VALUES (?1, ?2, ?3, 'shop', 'coder', ?4, 'queued', '{\"state\":\"queued\"}', ?5, ?6,
                       1, '2026-01-02T03:04:05.000000006Z')";
    for (place, key) in [(3, Some("nightly")), (5, None), (9, None)] {
        let id = format!("01890000-0000-7000-8000-00000000010{place}");
        let session = key.map(|_| OLD_SESSION_ID);
        let values = (place, id, key, session, order, progress);
        assert_eq!(database.execute(sql, values).unwrap(), 1);
    }
    drop(database);
    let store = segue_store::open(&fixture.store).await.unwrap();
    let old = store.tasks(&TaskQuery::open()).await.unwrap();
    let facts = |it: &PlacedTask| (it.place, it.task.key.is_some(), it.task.session.is_some());
    let known: Vec<_> = old.iter().map(facts).collect();
    assert_eq!(known, [(3, true, true), (5, false, false), (9, false, false)]);

    let new = |task: &PlacedTask, number: u8| {
        let id = format!("01890000-0000-7000-8000-00000000020{number}").parse().unwrap();
        commit([Change::AddTask(Box::new(Task { id, ..task.task.clone() }))])
    };
    assert_conflict(store.commit(new(&old[0], 1)).await, &["nightly"]);
    store.commit(new(&old[1], 2)).await.unwrap();
    let last = store.tasks(&TaskQuery::open()).await.unwrap().pop().unwrap();
    assert_eq!(facts(&last), (10, false, false));
}

/// Adds an open launch to a database of version 8.
fn old_launch(path: &Path) -> LaunchId {
    let id = "01890000-0000-7000-8000-000000000002";
    let sql = "INSERT INTO launches VALUES (?1, ?2, 1, 'fresh', '2026-01-02T03:04:05.000000006Z', \
               NULL, NULL, NULL, NULL, NULL, NULL, '/bin/sample', '/code/shop', '[]', '[]', 'hi')";
    let database = Connection::open(path).unwrap();
    assert_eq!(database.execute(sql, [id, OLD_SESSION_ID]).unwrap(), 1);
    let bind = format!(
        "INSERT INTO claims (vendor, vendor_session, session)
         SELECT vendor, 'one', id FROM sessions WHERE id = '{OLD_SESSION_ID}';
         INSERT INTO bindings (session, launch, vendor_session, evidence, at)
         VALUES ('{OLD_SESSION_ID}', '{id}', 'one', 'registry', '2026-01-02T03:04:05.000000006Z');"
    );
    database.execute_batch(&bind).unwrap();
    id.parse().unwrap()
}

#[tokio::test]
async fn newest_version_is_opened_without_a_backup() {
    let fixture = StoreFixture::new();
    database_of_version(&fixture.store, newest_version());
    drop(segue_store::open(&fixture.store).await.unwrap());
    assert_eq!(fixture.contents().len(), 1);
}

#[tokio::test]
async fn database_is_copied_before_a_migration() {
    let fixture = StoreFixture::new();
    database_of_version(&fixture.store, 1);
    drop(segue_store::open(&fixture.store).await.unwrap());
    let names: Vec<_> = fixture.contents().into_keys().collect();
    let backup = format!("segue.db.before-1-to-{}", newest_version());
    assert_eq!(names, ["segue.db", &backup]);

    let backup = fixture.folder().join(backup);
    assert_eq!(fs::metadata(&backup).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(version(&backup), 1);
    let sessions: u32 = Connection::open(&backup)
        .unwrap()
        .query_row("SELECT count(*) FROM sessions WHERE name = 'coder'", [], |row| row.get(0))
        .unwrap();
    assert_eq!(sessions, 1);
    // The copy is a valid store: at the original path it is migrated like the first one.
    fs::remove_file(&fixture.store).unwrap();
    fs::rename(&backup, &fixture.store).unwrap();
    let store = segue_store::open(&fixture.store).await.unwrap();
    assert_eq!(store.sessions(&SessionQuery::default()).await.unwrap().len(), 1);
}

#[tokio::test]
async fn migration_does_not_overwrite_an_earlier_backup() {
    let fixture = StoreFixture::new();
    database_of_version(&fixture.store, 1);
    let backup = fixture.beside(&format!(".before-1-to-{}", newest_version()));
    fs::write(&backup, "precious").unwrap();
    drop(segue_store::open(&fixture.store).await.unwrap());
    assert_eq!(fs::read_to_string(&backup).unwrap(), "precious");
    let second = fixture.beside(&format!(".before-1-to-{}.2", newest_version()));
    assert_eq!(version(&second), 1);
}

#[tokio::test]
async fn backup_contains_the_log_of_a_killed_writer() {
    let fixture = StoreFixture::new();
    database_of_version(&fixture.store, 1);
    let writer = Connection::open(&fixture.store).unwrap();
    writer.execute("UPDATE sessions SET name = 'late'", []).unwrap();
    let copy = fixture.killed_copy();
    let store = segue_store::open(&copy.store).await.unwrap();
    assert_eq!(
        store.sessions(&SessionQuery::default()).await.unwrap()[0].session.name.as_str(),
        "late"
    );
    let backup = copy.beside(&format!(".before-1-to-{}", newest_version()));
    let name: String = Connection::open(backup)
        .unwrap()
        .query_row("SELECT name FROM sessions", [], |row| row.get(0))
        .unwrap();
    assert_eq!(name, "late");
}

#[tokio::test]
async fn concurrent_opens_of_an_older_store_make_one_backup() {
    let fixture = StoreFixture::new();
    database_of_version(&fixture.store, 1);
    let tasks: Vec<_> = (0..8)
        .map(|_| {
            let path = fixture.store.clone();
            tokio::spawn(async move { drop(segue_store::open(&path).await.unwrap()) })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(fixture.contents().len(), 2, "{:?}", fixture.contents().keys());
}

fn version(path: &Path) -> u32 {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
    let connection = Connection::open_with_flags(path, flags).unwrap();
    connection.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap()
}
