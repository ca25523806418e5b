//! Commits: atomic, on disk when they return, and applied one after the other.

use std::collections::BTreeSet;
use std::sync::Arc;

use segue_core::Kind;
use segue_core::model::{Evidence, Session, Status};
use segue_core::ports::{Change, Commit, SessionQuery, SessionSummary, Store};

use super::{Backend, Samples, assert_conflict, commit, events};

pub async fn a_conflict_in_one_change_rolls_back_the_whole_commit(backend: &impl Backend) {
    let (store, samples) = (backend.open().await, Samples::default());
    let first = samples.stored_session(&*store, "shop", "coder").await;
    let second = samples.session("shop", "second");
    let launch = samples.launch(second.id, 1);
    let changes = vec![
        Change::SetStatus { session: first.id, status: Status::Working, at: samples.time() },
        Change::CreateSession(Box::new(second.clone())),
        Change::CreateLaunch(Box::new(launch)),
        Change::AddBinding(samples.binding(second.id, "id-2", Evidence::Preset)),
        Change::CreateSession(Box::new(samples.session("shop", "coder"))),
        Change::CreateSession(Box::new(samples.session("shop", "third"))),
    ];
    let facts = vec![samples.event(Some(second.id), "never happened")];
    assert_conflict(store.commit(Commit { changes, events: facts }).await, &["`coder`", "`shop`"]);

    assert_only_this_is_stored(&*store, &first).await;
    assert_only_this_is_stored(&*backend.open().await, &first).await;
}

async fn assert_only_this_is_stored(store: &dyn Store, session: &Session) {
    let summary = SessionSummary {
        session: session.clone(),
        binding: None,
        open: None,
        launches: 0,
        queued_messages: 0,
        usage: None,
        worktree: None,
    };
    assert_eq!(store.sessions(&SessionQuery::default()).await.unwrap(), [summary]);
    assert_eq!(store.open_launches(&[]).await.unwrap(), []);
    assert_eq!(events(store).await, [""; 0]);
}

pub async fn later_changes_of_a_commit_can_refer_to_earlier_ones(backend: &impl Backend) {
    let (store, samples) = (backend.open().await, Samples::default());
    let session = samples.session("shop", "coder");
    let launch = samples.launch(session.id, 1);
    let mut binding = samples.binding(session.id, "id-1", Evidence::Preset);
    binding.launch = Some(launch.id);
    let changes = vec![
        Change::CreateSession(Box::new(session.clone())),
        Change::CreateLaunch(Box::new(launch.clone())),
        Change::AddBinding(binding.clone()),
        Change::SetStatus { session: session.id, status: Status::Idle, at: samples.time() },
    ];
    let facts = vec![samples.event(Some(session.id), "created"), samples.event(None, "bound")];
    store.commit(Commit { changes, events: facts }).await.unwrap();

    let status = store.session(session.id).await.unwrap().map(|session| session.status);
    assert_eq!(status, Some(Status::Idle));
    assert_eq!(store.launches(session.id).await.unwrap(), [launch]);
    assert_eq!(store.bindings(session.id).await.unwrap(), [binding]);
    assert_eq!(events(&*store).await, ["created", "bound"]);
}

/// The store is only dropped, without an explicit close or sync, because a killed process does
/// neither.
pub async fn committed_data_survives_reopening_the_store(backend: &impl Backend) {
    let samples = Samples::default();
    let store = backend.open().await;
    let session = samples.stored_session(&*store, "shop", "coder").await;
    let launch = samples.stored_launch(&*store, session.id, 1).await;
    let binding = samples.binding(session.id, "id-1", Evidence::Hook);
    let changes = vec![Change::AddBinding(binding.clone())];
    let last = Commit { changes, events: vec![samples.event(Some(session.id), "kept")] };
    store.commit(last).await.unwrap();
    drop(store);

    let store = backend.open().await;
    assert_eq!(store.session(session.id).await.unwrap(), Some(session.clone()));
    assert_eq!(store.launches(session.id).await.unwrap(), [launch]);
    assert_eq!(store.bindings(session.id).await.unwrap(), [binding]);
    assert_eq!(events(&*store).await, ["kept"]);
}

pub async fn two_open_handles_of_a_store_see_each_others_commits(backend: &impl Backend) {
    let (one, other) = (backend.open().await, backend.open().await);
    let samples = Samples::default();
    let session = samples.stored_session(&*one, "shop", "coder").await;
    assert_eq!(other.session(session.id).await.unwrap(), Some(session.clone()));

    let status =
        Change::SetStatus { session: session.id, status: Status::Lost, at: samples.time() };
    other.commit(commit([status])).await.unwrap();
    let seen = one.session(session.id).await.unwrap().map(|session| session.status);
    assert_eq!(seen, Some(Status::Lost));
}

pub async fn fifty_concurrent_commits_are_all_stored(backend: &impl Backend) {
    let (store, samples) = (backend.open().await, Arc::new(Samples::default()));
    let tasks: Vec<_> = (0..50)
        .map(|number| {
            let (store, samples) = (Arc::clone(&store), Arc::clone(&samples));
            tokio::spawn(async move {
                let session = samples.session("shop", &format!("coder-{number}"));
                let facts = vec![samples.event(Some(session.id), &format!("made {number}"))];
                let changes = vec![Change::CreateSession(Box::new(session))];
                store.commit(Commit { changes, events: facts }).await.unwrap()
            })
        })
        .collect();
    let mut numbers = BTreeSet::new();
    for task in tasks {
        numbers.insert(task.await.unwrap());
    }
    assert_eq!(numbers.len(), 50, "two commits got one number: {numbers:?}");

    drop(store);
    let store = backend.open().await;
    let sessions = store.sessions(&SessionQuery::default()).await.unwrap();
    let names: BTreeSet<_> = sessions.iter().map(|found| found.session.name.to_string()).collect();
    assert_eq!(names, (0..50).map(|number| format!("coder-{number}")).collect());
    let texts: BTreeSet<_> = events(&*store).await.into_iter().collect();
    assert_eq!(texts, (0..50).map(|number| format!("made {number}")).collect());
}

pub async fn of_concurrent_commits_with_the_same_session_name_one_succeeds(backend: &impl Backend) {
    let stores = [backend.open().await, backend.open().await];
    let samples = Samples::default();
    let tasks: Vec<_> = (0..20)
        .map(|number| {
            let store = Arc::clone(&stores[number % 2]);
            let wanted = Change::CreateSession(Box::new(samples.session("shop", "coder")));
            tokio::spawn(async move { store.commit(commit([wanted])).await })
        })
        .collect();
    let mut winners = 0;
    for task in tasks {
        match task.await.unwrap() {
            Ok(_) => winners += 1,
            Err(error) => assert_eq!(error.kind, Kind::Conflict, "{error:?}"),
        }
    }
    assert_eq!(winners, 1);
    assert_eq!(stores[0].sessions(&SessionQuery::default()).await.unwrap().len(), 1);
}

pub async fn an_empty_commit_changes_nothing(backend: &impl Backend) {
    let (store, samples) = (backend.open().await, Samples::default());
    assert_eq!(store.commit(Commit::default()).await.unwrap(), 0);
    let facts = vec![samples.event(None, "one")];
    let one = store.commit(Commit { changes: Vec::new(), events: facts }).await.unwrap();
    assert_eq!(store.commit(Commit::default()).await.unwrap(), one);
    assert_eq!(events(&*store).await, ["one"]);
}
