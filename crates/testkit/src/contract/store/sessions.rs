//! Sessions: every field is stored, and invalid changes are refused.

use std::collections::BTreeMap;

use segue_core::Kind;
use segue_core::model::{
    AgentName, Binding, Evidence, Exit, How, Permission, Restart, Session, SessionId,
    SessionSettings, Status, WaitingFor,
};
use segue_core::ports::{
    Change, Commit, EventQuery, OpenLaunch, SessionQuery, SessionSummary, Store,
};
use uuid::Uuid;

use super::{Backend, Samples, assert_conflict, assert_refused, commit, events};

pub async fn every_field_of_a_session_is_read_back_unchanged(backend: &impl Backend) {
    let (store, samples) = (backend.open().await, Samples::default());
    let plain = samples.stored_session(&*store, "shop", "plain").await;
    let full = Session {
        agent: Some(AgentName::parse("coder").unwrap()),
        model: Some("größer".to_owned()),
        permission: Permission::Auto,
        instructions: Some("line one\nline \"two\"\0\u{1b}[31m".to_owned()),
        headless: true,
        restart: Restart::Never,
        archive: false,
        mcp: true,
        args: vec!["--flag".to_owned(), String::new(), "a 'b' \"c\"".to_owned()],
        env: BTreeMap::from([("EXAMPLE".to_owned(), "1=2".to_owned())]),
        parent: Some(plain.id),
        status: Status::Ended(How::Crashed(Exit::Signal(9))),
        has_content: true,
        updated_at: samples.time(),
        ..samples.session("shop", "full")
    };
    store.commit(commit([Change::CreateSession(Box::new(full.clone()))])).await.unwrap();
    for session in [plain, full] {
        assert_eq!(store.session(session.id).await.unwrap(), Some(session));
    }
}

pub async fn session_names_are_unique_per_fleet_and_case_sensitive(backend: &impl Backend) {
    let (store, samples) = (backend.open().await, Samples::default());
    let first = samples.stored_session(&*store, "shop", "coder").await;
    let again = Change::CreateSession(Box::new(samples.session("shop", "coder")));
    assert_conflict(store.commit(commit([again])).await, &["`coder`", "`shop`", "taken"]);
    samples.stored_session(&*store, "bank", "coder").await;
    samples.stored_session(&*store, "shop", "Coder").await;
    assert_eq!(store.session(first.id).await.unwrap(), Some(first));
    assert_eq!(store.sessions(&SessionQuery::default()).await.unwrap().len(), 3);
}

pub async fn a_second_session_with_the_same_id_is_a_conflict(backend: &impl Backend) {
    let (store, samples) = (backend.open().await, Samples::default());
    let first = samples.stored_session(&*store, "shop", "coder").await;
    let twin = Session { id: first.id, ..samples.session("shop", "twin") };
    let result = store.commit(commit([Change::CreateSession(Box::new(twin))])).await;
    assert_conflict(result, &[&first.id.to_string(), "`shop/coder`"]);
    assert_eq!(store.session(first.id).await.unwrap(), Some(first));
}

pub async fn every_kind_of_status_is_read_back_unchanged(backend: &impl Backend) {
    let (store, samples) = (backend.open().await, Samples::default());
    let created = samples.stored_session(&*store, "shop", "coder").await;
    let shapes = [
        Status::Working,
        Status::Waiting(WaitingFor::Permission),
        Status::Idle,
        Status::Ended(How::Quit),
        Status::Ended(How::Crashed(Exit::Code(-1))),
        Status::Ended(How::Crashed(Exit::Unknown)),
        Status::Interrupted,
        Status::Lost,
        Status::Starting,
    ];
    for status in shapes {
        let at = samples.time();
        let change = Change::SetStatus { session: created.id, status, at };
        store.commit(commit([change])).await.unwrap();
        let expected = Session { status, updated_at: at, ..created.clone() };
        assert_eq!(store.session(created.id).await.unwrap(), Some(expected));
    }
}

pub async fn has_content_of_one_session_stays_set_after_a_status_change(backend: &impl Backend) {
    let (store, samples) = (backend.open().await, Samples::default());
    let silent = samples.stored_session(&*store, "shop", "silent").await;
    let created = samples.stored_session(&*store, "shop", "coder").await;
    let has_content = || Change::MarkHasContent { session: created.id };
    let at = samples.time();
    let later = Change::SetStatus { session: created.id, status: Status::Starting, at };
    store.commit(commit([has_content(), has_content(), later])).await.unwrap();
    let expected = Session { has_content: true, updated_at: at, ..created.clone() };
    assert_eq!(store.session(created.id).await.unwrap(), Some(expected));
    assert_eq!(store.session(silent.id).await.unwrap(), Some(silent));
}

pub async fn configure_replaces_every_setting_of_one_session(backend: &impl Backend) {
    let (store, samples) = (backend.open().await, Samples::default());
    let created = samples.stored_session(&*store, "shop", "coder").await;
    let other = samples.stored_session(&*store, "shop", "other").await;
    let settings = SessionSettings {
        description: None,
        model: Some("large".to_owned()),
        permission: Permission::Ask,
        instructions: Some("be brief".to_owned()),
        restart: Restart::Never,
        archive: false,
        mcp: true,
        args: vec!["--flag".to_owned()],
        env: BTreeMap::from([("EXAMPLE".to_owned(), "1".to_owned())]),
    };
    let time = samples.time();
    for (settings, changed_at) in [(settings, Some(time)), (created.settings(), None)] {
        let change = Change::Configure {
            session: created.id,
            settings: Box::new(settings.clone()),
            changed_at,
        };
        store.commit(commit([change])).await.unwrap();
        let mut expected = created.clone();
        expected.configure(settings);
        expected.settings_changed_at = Some(time);
        assert_eq!(store.session(created.id).await.unwrap(), Some(expected));
    }
    assert_eq!(store.session(other.id).await.unwrap(), Some(other));
}

pub async fn binding_another_conversation_resets_has_content(backend: &impl Backend) {
    let (store, samples) = (backend.open().await, Samples::default());
    let session = samples.stored_session(&*store, "shop", "coder").await.id;
    let other = samples.stored_session(&*store, "shop", "other").await.id;
    let bind = |id, evidence| Change::AddBinding(samples.binding(session, id, evidence));
    let has_content = |session| Change::MarkHasContent { session };
    let steps = [
        (vec![bind("id-1", Evidence::Preset)], false),
        (vec![has_content(session), has_content(other)], true),
        (vec![bind("id-1", Evidence::Hook)], true),
        (vec![bind("id-2", Evidence::Hook)], false),
        (vec![has_content(session)], true),
        (vec![bind("id-1", Evidence::Hook)], false),
    ];
    for (number, (changes, expected)) in steps.into_iter().enumerate() {
        store.commit(commit(changes)).await.unwrap();
        let found = store.session(session).await.unwrap().map(|session| session.has_content);
        assert_eq!(found, Some(expected), "step {number}");
    }
    let untouched = store.session(other).await.unwrap().map(|session| session.has_content);
    assert_eq!(untouched, Some(true));
}

pub async fn sessions_are_listed_oldest_first_with_binding_and_launches(backend: &impl Backend) {
    let (store, samples) = (backend.open().await, Samples::default());
    let (old, young) = (samples.session("shop", "old"), samples.session("bank", "young"));
    // The newer session is stored first, to check that the list is sorted by time of creation.
    for session in [&young, &old] {
        let change = Change::CreateSession(Box::new(session.clone()));
        store.commit(commit([change])).await.unwrap();
    }
    let ended = samples.stored_launch(&*store, old.id, 1).await;
    let end = Change::EndLaunch { launch: ended.id, end: samples.end(Exit::Code(0)) };
    store.commit(commit([end])).await.unwrap();
    let open = samples.stored_launch(&*store, old.id, 2).await;
    let (holder, agent) = (Some(samples.process(10)), Some(samples.process(11)));
    let newest = samples.binding(old.id, "id-2", Evidence::Stream);
    store
        .commit(commit([
            Change::SetProcesses { launch: open.id, holder: holder.clone(), agent: agent.clone() },
            Change::AddBinding(samples.binding(old.id, "id-1", Evidence::Preset)),
            Change::AddBinding(newest.clone()),
        ]))
        .await
        .unwrap();
    let open =
        Some(OpenLaunch { id: open.id, machine: None, created_at: open.created_at, holder, agent });
    let first = SessionSummary {
        session: old,
        binding: Some(newest),
        open,
        launches: 2,
        queued_messages: 0,
        usage: None,
        worktree: None,
    };
    let second = SessionSummary {
        session: young,
        binding: None,
        open: None,
        launches: 0,
        queued_messages: 0,
        usage: None,
        worktree: None,
    };
    assert_eq!(store.sessions(&SessionQuery::default()).await.unwrap(), [first, second]);
}

pub async fn removing_a_session_keeps_only_its_events(backend: &impl Backend) {
    let (store, samples) = (backend.open().await, Samples::default());
    let gone = session_with_history(&*store, &samples, "gone").await;
    let stays = session_with_history(&*store, &samples, "stays").await;
    store.commit(commit([Change::RemoveSession(gone)])).await.unwrap();

    assert_eq!(store.session(gone).await.unwrap(), None);
    assert_eq!(history(&*store, gone).await, (0, 0, 1));
    assert_eq!(history(&*store, stays).await, (1, 1, 1));
    assert_eq!(events(&*store).await, ["gone", "stays"]);
    samples.stored_session(&*store, "shop", "gone").await;
}

/// Stores a session with one ended launch, one binding that belongs to this launch, and one event.
async fn session_with_history(store: &dyn Store, samples: &Samples, name: &str) -> SessionId {
    let session = samples.stored_session(store, "shop", name).await.id;
    let launch = samples.stored_launch(store, session, 1).await.id;
    let line = samples.binding(session, &format!("id-{name}"), Evidence::Preset);
    let changes = vec![
        Change::AddBinding(Binding { launch: Some(launch), ..line }),
        Change::EndLaunch { launch, end: samples.end(Exit::Unknown) },
    ];
    let events = vec![samples.event(Some(session), name)];
    store.commit(Commit { changes, events }).await.unwrap();
    session
}

/// Counts a session's launches, bindings and events.
async fn history(store: &dyn Store, session: SessionId) -> (usize, usize, usize) {
    let query = EventQuery { sessions: vec![session], limit: 10, ..EventQuery::default() };
    (
        store.launches(session).await.unwrap().len(),
        store.bindings(session).await.unwrap().len(),
        store.events(&query).await.unwrap().len(),
    )
}

pub async fn a_session_with_an_open_launch_cannot_be_removed(backend: &impl Backend) {
    let (store, samples) = (backend.open().await, Samples::default());
    let session = samples.stored_session(&*store, "shop", "coder").await;
    let launch = samples.stored_launch(&*store, session.id, 1).await;
    let remove = || commit([Change::RemoveSession(session.id)]);
    assert_conflict(store.commit(remove()).await, &["`shop/coder`", "launch"]);
    assert_eq!(store.launches(session.id).await.unwrap().len(), 1);
    let end = Change::EndLaunch { launch: launch.id, end: samples.end(Exit::Code(0)) };
    store.commit(commit([end])).await.unwrap();
    store.commit(remove()).await.unwrap();
}

pub async fn changes_to_an_unknown_session_fail_with_not_found(backend: &impl Backend) {
    let (store, samples) = (backend.open().await, Samples::default());
    let session = SessionId::new(Uuid::now_v7());
    let changes = [
        Change::SetStatus { session, status: Status::Idle, at: samples.time() },
        Change::MarkHasContent { session },
        Change::Configure {
            session,
            settings: Box::new(samples.session("shop", "x").settings()),
            changed_at: None,
        },
        Change::CreateLaunch(Box::new(samples.launch(session, 1))),
        Change::AddBinding(samples.binding(session, "id-1", Evidence::Hook)),
        Change::RemoveSession(session),
    ];
    for change in changes {
        let result = store.commit(commit([change])).await;
        assert_refused(result, Kind::NotFound, &[&session.to_string()]);
    }
    assert_eq!(store.session(session).await.unwrap(), None);
    assert!(store.launches(session).await.unwrap().is_empty());
    assert!(store.bindings(session).await.unwrap().is_empty());
}
