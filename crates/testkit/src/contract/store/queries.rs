//! Lists of sessions that meet conditions, the places of sessions, and waiting for events.

use std::time::Duration;

use segue_core::model::{
    AgentName, Evidence, Exit, FleetName, How, MessageState, Session, SessionId, SessionName,
    Status, StatusKind, VendorId, VendorSessionId, WaitingFor,
};
use segue_core::ports::{
    Change, Place, SessionActivity, SessionPage, SessionQuery, Store, VendorPlace,
};

use super::{Backend, Samples, commit};

async fn names(store: &dyn Store, query: &SessionQuery) -> Vec<String> {
    let sessions = store.sessions(query).await.unwrap();
    assert_eq!(store.count_sessions(query).await.unwrap() as usize, sessions.len(), "{query:?}");
    sessions.iter().map(|it| it.session.name.to_string()).collect()
}

async fn store_all(store: &dyn Store, sessions: &[&Session]) {
    let changes = sessions.iter().map(|it| Change::CreateSession(Box::new((*it).clone())));
    store.commit(commit(changes.collect::<Vec<_>>())).await.unwrap();
}

pub async fn a_query_returns_the_sessions_that_meet_all_of_its_conditions(backend: &impl Backend) {
    let (store, samples) = (backend.open().await, Samples::default());
    let coder = Session {
        agent: Some(AgentName::parse("coder").unwrap()),
        ..samples.session("shop", "coder")
    };
    let child = Session { parent: Some(coder.id), ..samples.session("shop", "child") };
    let other = Session {
        vendor: VendorId::new("other"),
        cwd: "/code/bank".into(),
        config_dir: "/home/me/.other".into(),
        ..samples.session("bank", "coder")
    };
    store_all(&*store, &[&coder, &child, &other]).await;
    let bound = samples.binding(child.id, "one", Evidence::Preset);
    let rebound = samples.binding(child.id, "two", Evidence::Preset);
    let changes = [Change::AddBinding(bound), Change::AddBinding(rebound)];
    store.commit(commit(changes)).await.unwrap();
    let fleet = |name: &str| FleetName::parse(name).unwrap();
    let name = |name: &str| SessionName::parse(name).unwrap();
    let default = SessionQuery::default;
    let earlier = VendorSessionId::new("one");
    let table: [(SessionQuery, &[&str]); 13] = [
        (default(), &["coder", "child", "coder"]),
        (SessionQuery::id(child.id), &["child"]),
        (SessionQuery::ids(vec![other.id, coder.id]), &["coder", "coder"]),
        (SessionQuery::ids(Vec::new()), &[]),
        (SessionQuery::fleet(&fleet("shop")), &["coder", "child"]),
        (SessionQuery::address(&fleet("shop"), &name("coder")), &["coder"]),
        (SessionQuery { name: Some(name("coder")), ..default() }, &["coder", "coder"]),
        (SessionQuery { vendor: Some(other.vendor.clone()), ..default() }, &["coder"]),
        (SessionQuery { cwd: Some(coder.cwd.clone()), ..default() }, &["coder", "child"]),
        (SessionQuery { config_dir: Some(other.config_dir.clone()), ..default() }, &["coder"]),
        (SessionQuery { reachable_from: Some(coder.id), ..default() }, &["coder", "child"]),
        (SessionQuery { has_agent: true, ..default() }, &["coder"]),
        (SessionQuery::vendor_session(&child.vendor, &earlier), &["child"]),
    ];
    for (query, expected) in table {
        assert_eq!(names(&*store, &query).await, expected, "{query:?}");
    }
}

pub async fn a_query_for_activity_leaves_out_sessions_that_rest(backend: &impl Backend) {
    let (store, samples) = (backend.open().await, Samples::default());
    let with = |name: &str, status: Status, headless: bool| Session {
        status,
        headless,
        ..samples.session("shop", name)
    };
    let quit = with("quit", Status::Ended(How::Quit), false);
    let stopped = with("stopped", Status::Ended(How::Stopped), false);
    let turn_over = with("turn-over", Status::Idle, true);
    let open = with("open", Status::Ended(How::Quit), false);
    let crashed = with("crashed", Status::Ended(How::Crashed(Exit::Signal(9))), false);
    let idle = with("idle", Status::Idle, false);
    let settled = with("settled", Status::Working, true);
    store_all(&*store, &[&quit, &stopped, &turn_over, &open, &crashed, &idle, &settled]).await;
    let at = samples.time();
    let status = Status::Idle;
    let message = super::messages::message(&samples, stopped.id, "queued");
    let changes = [
        Change::CreateLaunch(Box::new(samples.launch(open.id, 1))),
        Change::AddMessage(Box::new(message.clone())),
        Change::SetStatus { session: settled.id, status, at },
    ];
    store.commit(commit(changes)).await.unwrap();
    let activity = SessionQuery::activity;
    assert_eq!(names(&*store, &activity(SessionActivity::Open)).await, ["open"]);
    let unsettled = activity(SessionActivity::Unsettled);
    assert_eq!(names(&*store, &unsettled).await, ["stopped", "open", "crashed", "idle"]);
    let since = activity(SessionActivity::UnsettledOrChangedSince(at));
    assert_eq!(names(&*store, &since).await, ["stopped", "open", "crashed", "idle", "settled"]);
    let state = MessageState::Cancelled;
    let change = Change::SetMessage { message: message.id, state, at };
    store.commit(commit([change])).await.unwrap();
    assert_eq!(names(&*store, &unsettled).await, ["open", "crashed", "idle"]);
}

pub async fn pages_of_a_list_have_every_session_once(backend: &impl Backend) {
    let (store, samples) = (backend.open().await, Samples::default());
    let sessions: Vec<Session> =
        (0..5).map(|number| samples.session("shop", &format!("s{number}"))).collect();
    store_all(&*store, &sessions.iter().collect::<Vec<_>>()).await;
    let (mut page, mut seen) = (SessionPage { after: None, size: 2 }, Vec::new());
    loop {
        let query = SessionQuery { page: Some(page), ..SessionQuery::default() };
        let part = store.sessions(&query).await.unwrap();
        let Some(last) = part.last() else { break };
        assert!(part.len() <= 2);
        page.after = Some((last.session.created_at, last.session.id));
        seen.extend(part.into_iter().map(|it| it.session.id));
    }
    assert_eq!(seen, sessions.iter().map(|it| it.id).collect::<Vec<SessionId>>());
}

pub async fn sessions_are_counted_by_status(backend: &impl Backend) {
    let (store, samples) = (backend.open().await, Samples::default());
    let waiting = |reason| Status::Waiting(reason);
    let statuses = [
        Status::Idle,
        waiting(WaitingFor::Trust),
        waiting(WaitingFor::Permission),
        Status::Ended(How::Stopped),
    ];
    let session = |(number, status): (usize, &Status)| Session {
        status: *status,
        ..samples.session("shop", &format!("s{number}"))
    };
    let sessions: Vec<Session> = statuses.iter().enumerate().map(session).collect();
    store_all(&*store, &sessions.iter().collect::<Vec<_>>()).await;
    let counted = store.count_statuses().await.unwrap();
    let count = |kind: StatusKind| -> u64 {
        counted.iter().filter(|(it, _)| *it == kind).map(|(_, count)| count).sum()
    };
    let counts = [StatusKind::Idle, StatusKind::Waiting, StatusKind::Ended, StatusKind::Lost];
    assert_eq!(counts.map(count), [1, 2, 1, 0], "{counted:?}");
}

pub async fn resting_places_are_listed_newest_first_until_their_sessions_run_or_are_removed(
    backend: &impl Backend,
) {
    let (store, samples) = (backend.open().await, Samples::default());
    let place = |cwd: &str| Place { config_dir: "/home/me/.sample".into(), cwd: cwd.into() };
    let vendor = VendorId::new("sample");
    let in_place =
        |cwd: &str, name: &str| Session { cwd: cwd.into(), ..samples.session("shop", name) };
    let (one, two) = (in_place("/code/one", "one"), in_place("/code/two", "two"));
    let again = in_place("/code/one", "again");
    store_all(&*store, &[&one, &two, &again]).await;
    let of = |cwd: &str| VendorPlace { vendor: vendor.clone(), place: place(cwd) };
    assert_eq!(store.resting_places(9).await.unwrap(), [of("/code/one"), of("/code/two")]);
    assert_eq!(store.resting_places(1).await.unwrap(), [of("/code/one")]);
    let launch = Change::CreateLaunch(Box::new(samples.launch(two.id, 1)));
    store.commit(commit([launch])).await.unwrap();
    for (removed, left) in [(one.id, 1), (again.id, 0)] {
        store.commit(commit([Change::RemoveSession(removed)])).await.unwrap();
        assert_eq!(store.resting_places(9).await.unwrap().len(), left);
    }
}

pub async fn vendors_and_config_dirs_of_sessions_are_listed_once(backend: &impl Backend) {
    let (store, samples) = (backend.open().await, Samples::default());
    let (one, two) = (samples.session("shop", "one"), samples.session("shop", "two"));
    store_all(&*store, &[&one, &two]).await;
    assert_eq!(store.vendor_ids().await.unwrap(), std::slice::from_ref(&one.vendor));
    assert_eq!(store.config_dirs(&one.vendor).await.unwrap(), [one.config_dir]);
}

pub async fn models_of_a_vendor_are_listed_once_the_newest_first(backend: &impl Backend) {
    let (store, samples) = (backend.open().await, Samples::default());
    let with = |name: &str, model: Option<&str>| Session {
        model: model.map(str::to_owned),
        ..samples.session("shop", name)
    };
    let sessions = [
        with("one", Some("large")),
        with("two", Some("small")),
        with("three", Some("large")),
        with("four", None),
    ];
    let other = Session { vendor: VendorId::new("other"), ..with("five", Some("foreign")) };
    store_all(&*store, &sessions.iter().chain([&other]).collect::<Vec<_>>()).await;
    let vendor = &sessions[0].vendor;
    assert_eq!(store.models(vendor, 9).await.unwrap(), ["large", "small"]);
    assert_eq!(store.models(vendor, 1).await.unwrap(), ["large"]);
}

pub async fn waiting_for_events_ends_with_the_commit_that_adds_one(backend: &impl Backend) {
    let (store, samples) = (backend.open().await, Samples::default());
    let added = |text: &str| segue_core::ports::Commit {
        changes: Vec::new(),
        events: vec![samples.event(None, text)],
    };
    let first = store.commit(added("first")).await.unwrap();
    assert_eq!(store.wait_for_events(first - 1).await.unwrap(), first);
    let waiting = store.wait_for_events(first);
    let too_early = tokio::time::timeout(Duration::ZERO, waiting).await;
    assert!(too_early.is_err(), "{too_early:?}");
    let (waited, second) =
        tokio::join!(store.wait_for_events(first), store.commit(added("second")));
    assert_eq!(waited.unwrap(), second.unwrap());
    // A store that is opened again knows the events from before.
    drop(store);
    let again = backend.open().await;
    assert_eq!(again.wait_for_events(first).await.unwrap(), first + 1);
}
