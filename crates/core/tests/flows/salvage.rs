//! The data of a damaged store come into a new one.

use std::time::Duration;

use segue_core::Kind;
use segue_core::api::Finding;
use segue_core::flows::{SessionState, salvage};
use segue_core::model::{
    AgentName, EventPayload, Exit, Fleet, FleetName, Handoff, HandoffForm, LaunchEnd, Message,
    MessageId, MessageState, NewEvent, RequestId, RequestKey, RequestRecord, RequestStep, Session,
    SessionId, Timer, Trust,
};
use segue_core::ports::{EventQuery, MessageQuery, Ports, Salvaged, SalvagedSession};
use segue_fakes::{FakeWorld, samples};
use uuid::Uuid;

use crate::scene::FlowScene;

fn fleet(name: &str, folder: &str) -> Fleet {
    Fleet { name: FleetName::parse(name).unwrap(), folder: Some(folder.into()) }
}

/// Returns the session of a scene as a damaged store has it.
fn salvaged(scene: &FlowScene) -> SalvagedSession {
    let SessionState { session, launches, bindings, .. } = scene.state.clone();
    SalvagedSession { session, launches, bindings }
}

fn alone(session: Session) -> SalvagedSession {
    SalvagedSession { session, launches: Vec::new(), bindings: Vec::new() }
}

fn message(number: u128, session: SessionId, text: &str, state: MessageState) -> Message {
    let at = samples::start();
    let id = MessageId::new(Uuid::from_u128(number));
    Message {
        id,
        session,
        text: text.to_owned(),
        state,
        is_command: false,
        sender: None,
        created_at: at,
        updated_at: at,
    }
}

fn handoff(from: &Session, to: &Session) -> Handoff {
    Handoff {
        from: from.id,
        to: to.id,
        from_conversation: None,
        to_conversation: None,
        form: HandoffForm::Native,
        turns_carried: 1,
        turns_left_out: None,
        at: samples::start(),
    }
}

fn event(session: SessionId, payload: EventPayload) -> NewEvent {
    NewEvent { at: samples::start(), session: Some(session), launch: None, payload }
}

async fn restore(ports: &Ports, salvaged: Salvaged) -> Vec<Finding> {
    salvage::restore(ports, salvaged).await.unwrap()
}

fn texts(findings: &[Finding]) -> Vec<&str> {
    findings.iter().map(|it| it.what.as_str()).collect()
}

#[tokio::test]
async fn everything_that_was_read_is_in_the_new_store() {
    let mut scene = FlowScene::new();
    scene.talk().await;
    scene.end(Exit::Signal(9)).await;
    let (own, other) = (scene.state.session.clone(), samples::session(2, "owl"));
    let (world, shop) = (FakeWorld::new(), fleet("shop", "/shop"));
    let coder = AgentName::parse("coder").unwrap();
    let trust = Trust { folder: "/shop".into(), claims: "d".to_owned(), at: samples::start() };
    let every = Duration::from_secs(60);
    let timers = vec![Timer { every, prompt: "go on".to_owned(), interrupt: false }];
    let key = RequestKey { caller: None, id: RequestId::new(Uuid::from_u128(5)) };
    let request = RequestRecord { key, step: RequestStep::Begun, at: samples::start() };
    let created = EventPayload::SessionCreated { address: own.address() };
    let ports = world.ports();
    let findings = restore(
        &ports,
        Salvaged {
            fleets: vec![shop.clone()],
            sessions: vec![salvaged(&scene), alone(other.clone())],
            counts: vec![(shop.name.clone(), coder.clone(), 3)],
            trusts: vec![trust.clone()],
            timers: vec![(own.id, timers.clone())],
            handoffs: vec![handoff(&own, &other)],
            messages: vec![message(1, own.id, "done", MessageState::Delivered)],
            requests: vec![request],
            events: vec![event(own.id, created); 501],
            ..Salvaged::default()
        },
    );
    assert_eq!(findings.await, []);
    let state = SessionState::load(&ports, own.id).await.unwrap();
    assert_eq!((state.session, state.launches), (own.clone(), scene.state.launches.clone()));
    assert_eq!(state.bindings, scene.state.bindings);
    let store = &ports.store;
    assert_eq!(store.fleet(&shop.name).await.unwrap(), Some(shop.clone()));
    assert_eq!(store.counts(&shop.name).await.unwrap().get(&coder), Some(&3));
    assert_eq!(store.trust("/shop".as_ref()).await.unwrap(), Some(trust));
    assert_eq!(store.timers(own.id).await.unwrap(), timers);
    assert_eq!(store.handoffs(own.id).await.unwrap().len(), 1);
    assert_eq!(store.messages(&MessageQuery::default()).await.unwrap().len(), 1);
    assert_eq!(store.request(key).await.unwrap(), [RequestStep::Begun]);
    let all = EventQuery { limit: 1_000, ..EventQuery::default() };
    assert_eq!(store.events(&all).await.unwrap().len(), 501);
}

#[tokio::test]
async fn session_that_its_launch_folders_have_given_back_stays_as_it_is() {
    let mut scene = FlowScene::new();
    scene.talk().await;
    let before = SessionState::load(&scene.ports, scene.state.session.id).await.unwrap();
    let mut stale = salvaged(&scene);
    stale.launches.clear();
    stale.session.name = segue_core::model::SessionName::parse("stale").unwrap();
    let sessions = vec![stale];
    let findings = restore(&scene.ports, Salvaged { sessions, ..Salvaged::default() }).await;
    assert_eq!(findings, []);
    let after = SessionState::load(&scene.ports, scene.state.session.id).await.unwrap();
    assert_eq!((after.session, after.launches), (before.session, before.launches));
}

#[tokio::test]
async fn what_belongs_to_a_removed_or_unknown_session_is_left_out() {
    let (removed, unknown) = (samples::session(1, "fox"), samples::session(2, "owl"));
    let world = FakeWorld::new();
    let gone = EventPayload::SessionRemoved { address: removed.address() };
    let ports = world.ports();
    let findings = restore(
        &ports,
        Salvaged {
            sessions: vec![alone(removed.clone())],
            timers: vec![(unknown.id, Vec::new())],
            handoffs: vec![handoff(&removed, &unknown)],
            messages: vec![
                message(1, removed.id, "a", MessageState::Queued),
                message(2, unknown.id, "b", MessageState::Queued),
                message(3, unknown.id, "c", MessageState::Delivered),
            ],
            events: vec![event(removed.id, gone)],
            ..Salvaged::default()
        },
    );
    let findings = findings.await;
    let lost = format!("lost: message {}: its session", Uuid::from_u128(2));
    assert_eq!(findings.len(), 1, "only a message that was not delivered is lost: {findings:?}");
    assert!(findings[0].what.starts_with(&lost), "{findings:?}");
    assert_eq!(ports.store.session(removed.id).await.unwrap(), None);
}

#[tokio::test]
async fn row_that_contradicts_another_is_lost_alone() {
    let world = FakeWorld::new();
    let fleets = vec![fleet("shop", "/one"), fleet("shop", "/two"), fleet("blog", "/blog")];
    let sessions = vec![alone(samples::session(1, "fox")), alone(samples::session(2, "fox"))];
    let salvaged = Salvaged { fleets, sessions, ..Salvaged::default() };
    let findings = restore(&world.ports(), salvaged).await;
    let lost = texts(&findings);
    assert!(lost[0].starts_with("lost: fleets: the fleet name `shop`"), "{lost:?}");
    assert!(lost[1].starts_with("lost: session `default/fox`: "), "{lost:?}");
    assert_eq!(lost.len(), 2);
    let names = world.ports().store.fleet_names().await.unwrap();
    assert_eq!(names.len(), 2, "the others of the batch are there: {names:?}");
}

#[tokio::test]
async fn store_that_cannot_be_written_ends_the_restoration_with_an_error() {
    let salvaged = || Salvaged {
        fleets: vec![fleet("shop", "/one")],
        sessions: vec![alone(samples::session(1, "fox"))],
        ..Salvaged::default()
    };
    // A batch that fails is tried again, row by row.
    let world = FakeWorld::new();
    world.calls.fail("store.commit", 1);
    assert_eq!(restore(&world.ports(), salvaged()).await, []);
    // The second commit creates the session.
    let world = FakeWorld::new();
    world.calls.fail("store.commit", 2);
    let error = salvage::restore(&world.ports(), salvaged()).await.unwrap_err();
    assert_eq!(error.kind, Kind::Unavailable, "a full disk loses nothing: it is tried again");
    for call in ["store.session", "store.sessions"] {
        world.calls.fail(call, 1);
        assert!(salvage::restore(&world.ports(), salvaged()).await.is_err(), "{call}");
    }
}

#[tokio::test]
async fn message_that_may_have_been_typed_since_becomes_uncertain() {
    let table = [
        ("no launch", "new", "queued"),
        ("alive", "new", "queued"),
        ("alive", "remember amber", "uncertain"),
        ("dead", "new", "queued"),
        ("dead", "remember amber", "uncertain"),
        ("ended", "new", "queued"),
    ];
    for (process, text, expected) in table {
        let mut scene = FlowScene::new();
        scene.talk().await;
        let launch = scene.launch();
        let end = LaunchEnd { exit: Exit::Code(0), is_requested: false, at: samples::start() };
        match process {
            "dead" => scene.world.holders.kill(launch),
            "ended" => scene.world.holders.end_agent(launch, end),
            _ => {}
        }
        let other = alone(samples::session(2, "owl"));
        let session =
            if process == "no launch" { other.session.id } else { scene.state.session.id };
        let messages = vec![message(1, session, text, MessageState::Queued)];
        let sessions = vec![other];
        let salvaged = Salvaged { sessions, messages, ..Salvaged::default() };
        let findings = restore(&scene.ports, salvaged.clone()).await;
        let stored = scene.ports.store.messages(&MessageQuery::default()).await.unwrap();
        assert_eq!(stored[0].state.word(), expected, "{process} {text}");
        assert_eq!(findings.len(), usize::from(expected == "uncertain"), "{findings:?}");
        restore(&scene.ports, salvaged).await;
        let again = scene.ports.store.messages(&MessageQuery::default()).await.unwrap();
        assert_eq!(again.len(), 1, "it is known by now");
    }
}

#[tokio::test]
async fn report_says_what_came_from_the_backup_and_what_could_not_be_read() {
    let salvaged = Salvaged {
        unreadable: vec!["messages"],
        from_backup: vec!["sessions", "launches"],
        ..Salvaged::default()
    };
    let findings = restore(&FakeWorld::new().ports(), salvaged).await;
    assert_eq!(
        texts(&findings),
        ["taken from the backup: sessions, launches", "not all of these could be read: messages",]
    );
    assert!(findings.iter().all(|it| !it.curable));
}
