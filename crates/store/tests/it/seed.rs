//! Tests with several processes and connections: no update is lost, and no id is shared.

use std::collections::BTreeSet;

use segue_core::Kind;
use segue_core::model::{Evidence, SessionId, Status};
use segue_core::ports::{Change, Commit, SessionQuery};
use segue_testkit::contract::store::{Samples, assert_conflict, commit, events};

use crate::children::{StoreProcess, named_store, print_line, read_line};
use crate::fixture::StoreFixture;

#[tokio::test]
async fn assigned_vendor_session_id_never_changes_its_session() {
    let (fixture, samples) = (StoreFixture::new(), Samples::default());
    let store = segue_store::open(&fixture.store).await.unwrap();
    let session = samples.stored_session(&*store, "shop", "coder").await;
    let thief = samples.stored_session(&*store, "shop", "thief").await;
    let first = samples.binding(session.id, "id-1", Evidence::Preset);
    store.commit(commit([Change::AddBinding(first.clone())])).await.unwrap();

    let stolen = samples.binding(thief.id, "id-1", Evidence::Adopted);
    assert_conflict(store.commit(commit([Change::AddBinding(stolen)])).await, &["id-1"]);
    let next = samples.binding(session.id, "id-2", Evidence::Hook);
    store.commit(commit([Change::AddBinding(next.clone())])).await.unwrap();
    drop(store);

    let other = rusqlite::Connection::open(&fixture.store).unwrap();
    for sql in ["UPDATE bindings SET vendor_session = 'id-9'", "UPDATE sessions SET id = 'x'"] {
        assert!(other.execute(sql, []).is_err(), "{sql}");
    }
    drop(other);
    let store = segue_store::open(&fixture.store).await.unwrap();
    assert_eq!(store.session(session.id).await.unwrap(), Some(session.clone()));
    assert_eq!(store.bindings(session.id).await.unwrap(), [first, next]);
    assert!(store.bindings(thief.id).await.unwrap().is_empty());
}

const ROUNDS: usize = 25;

#[tokio::test]
async fn two_processes_lose_no_update_and_share_no_id() {
    let (fixture, samples) = (StoreFixture::new(), Samples::default());
    let mut processes =
        [1, 2].map(|_| StoreProcess::start("seed::one_of_two_writing_processes", &fixture.store));
    for process in &mut processes {
        process.wait_for_line("ready");
    }
    for (process, name) in processes.iter_mut().zip(["left", "right"]) {
        process.send_line(name);
    }
    let wins: usize = processes
        .iter_mut()
        .map(|process| process.wait_for_line("won").parse::<usize>().unwrap())
        .sum();
    processes.into_iter().for_each(StoreProcess::finish);

    assert_eq!(wins, ROUNDS, "each name and each vendor's id has one winner");
    let store = segue_store::open(&fixture.store).await.unwrap();
    let sessions = store.sessions(&SessionQuery::default()).await.unwrap();
    assert_eq!(sessions.len(), ROUNDS + 2 * ROUNDS);
    let bindings = sessions.iter().filter_map(|found| found.binding.as_ref());
    let ids: BTreeSet<_> = bindings.map(|binding| binding.vendor_session.as_str()).collect();
    assert_eq!(ids.len(), ROUNDS);
    let found: BTreeSet<_> = events(&*store).await.into_iter().collect();
    let expected = ["left", "right"].map(|name| (0..ROUNDS).map(move |n| format!("{name} {n}")));
    assert_eq!(found, expected.into_iter().flatten().collect());
    samples.stored_session(&*store, "shop", "afterwards").await;
}

/// Requests the same names and vendor session ids as the other process, and adds its own sessions
/// and events.
#[tokio::test]
#[ignore = "a process that another test starts"]
async fn one_of_two_writing_processes() {
    let Some(path) = named_store() else { return };
    let (store, samples) = (segue_store::open(&path).await.unwrap(), Samples::default());
    print_line("ready");
    let me = read_line();
    let mut won = 0;
    for number in 0..ROUNDS {
        let wanted = samples.session("shop", &format!("wanted-{number}"));
        let id = samples.binding(wanted.id, &format!("id-{number}"), Evidence::Preset);
        let changes = [Change::CreateSession(Box::new(wanted)), Change::AddBinding(id)];
        match store.commit(commit(changes)).await {
            Ok(_) => won += 1,
            Err(error) => assert_eq!(error.kind, Kind::Conflict, "{error:?}"),
        }
        let own = samples.session("shop", &format!("{me}-{number}"));
        let events = vec![samples.event(Some(own.id), &format!("{me} {number}"))];
        let changes = vec![Change::CreateSession(Box::new(own))];
        store.commit(Commit { changes, events }).await.unwrap();
    }
    print_line(&format!("won {won}"));
}

#[tokio::test]
async fn status_is_on_disk_when_its_commit_returns() {
    for _ in 0..5 {
        let fixture = StoreFixture::new();
        let mut process =
            StoreProcess::start("seed::process_that_commits_and_waits", &fixture.store);
        let id: SessionId = process.wait_for_line("committed").parse().unwrap();
        process.kill();
        let store = segue_store::open(&fixture.store).await.unwrap();
        let status = store.session(id).await.unwrap().map(|session| session.status);
        assert_eq!(status, Some(Status::Working));
        assert_eq!(events(&*store).await, ["works"]);
    }
}

#[tokio::test]
#[ignore = "a process that another test starts"]
async fn process_that_commits_and_waits() {
    let Some(path) = named_store() else { return };
    let (store, samples) = (segue_store::open(&path).await.unwrap(), Samples::default());
    let session = samples.stored_session(&*store, "shop", "coder").await.id;
    let changes = vec![Change::SetStatus { session, status: Status::Working, at: samples.time() }];
    let events = vec![samples.event(Some(session), "works")];
    store.commit(Commit { changes, events }).await.unwrap();
    print_line(&format!("committed {session}"));
    read_line();
}
