//! Sessions as users and scripts see them, and the file of a fleet.

use segue_core::flows::{SessionState, messages, view};
use segue_core::model::{AgentName, Exit, FleetName, How, Session, Status, WaitingFor};
use segue_core::ports::{Change, Commit};
use segue_fakes::samples;

use crate::scene::FlowScene;
use crate::stored::Stored;

#[tokio::test]
async fn running_session_shows_its_processes_and_an_ended_one_has_none() {
    let mut scene = FlowScene::new();
    scene.talk().await;
    let shown = view::session(&view::summary(&scene.state));
    assert_eq!(shown.vendor_session_id, Some(scene.id()));
    assert!(shown.pid.is_some() && shown.holder_pid.is_some());
    assert_eq!((shown.launches, shown.queued_messages), (1, 0));
    scene.end(Exit::Code(0)).await;
    let shown = view::session(&view::summary(&scene.state));
    assert_eq!((shown.pid, shown.holder_pid), (None, None));
}

#[tokio::test]
async fn summary_of_the_state_in_memory_is_the_one_of_the_store() {
    let mut scene = FlowScene::new();
    scene.talk().await;
    let recorded_with = (None, Commit::default());
    messages::add(&scene.ports, &mut scene.state, "hi".to_owned(), recorded_with).await.unwrap();
    let query = segue_core::ports::SessionQuery::id(scene.state.session.id);
    let stored = scene.ports.store.sessions(&query).await.unwrap().remove(0);
    assert_eq!(view::summary(&scene.state), stored);
    let message = view::message(&scene.state.session, &scene.state.outbox[0]);
    assert_eq!((message.text.as_str(), message.of.session), ("hi", Some(scene.state.session.id)));
}

#[test]
fn only_a_session_that_nobody_ended_on_purpose_comes_back_unnamed() {
    let table = [
        (Status::Interrupted, true),
        (Status::Ended(How::Crashed(Exit::Code(1))), true),
        (Status::Ended(How::NeverStarted), true),
        (Status::Lost, true),
        (Status::Ended(How::Stopped), false),
        (Status::Ended(How::Quit), false),
        (Status::Ended(How::TurnFailed), false),
    ];
    for (status, expected) in table {
        let session = Session { status, ..samples::session(1, "fox") };
        let mut shown = view::session(&view::summary(&SessionState::new(session)));
        assert_eq!(shown.comes_back, expected, "{status:?}");
        view::add_successor(&mut shown, &samples::session(2, "owl"));
        assert!(!shown.comes_back, "{status:?} goes on elsewhere");
    }
}

#[test]
fn missing_variables_are_named_up_to_a_limit() {
    let status = Status::Waiting(WaitingFor::Environment);
    let waiting = Session { status, ..samples::session(1, "fox") };
    let names: Vec<String> = (1..=7).map(|number| format!("V{number}")).collect();
    let table: [(&[String], &str); 3] =
        [(&[], ""), (&names[..1], ": V1"), (&names, ": V1, V2, V3, V4, V5, 2 more")];
    for (missing, end) in table {
        let mut shown = view::session(&view::summary(&SessionState::new(waiting.clone())));
        let before = shown.status_detail.clone().unwrap();
        view::add_missing_variables(&mut shown, missing);
        assert_eq!(shown.status_detail, Some(format!("{before}{end}")));
        assert_eq!(shown.missing_variables, missing);
    }
    let idle = Session { status: Status::Idle, ..waiting };
    let mut shown = view::session(&view::summary(&SessionState::new(idle)));
    view::add_missing_variables(&mut shown, &names);
    assert_eq!(shown.status_detail, None);
}

#[test]
fn handed_over_session_names_its_successor_after_its_own_detail() {
    let successor = samples::session(2, "owl");
    let stopped = Status::Ended(How::Stopped);
    for (status, begins) in [(Status::Idle, ""), (stopped, "stopped; ")] {
        let session = Session { status, ..samples::session(1, "fox") };
        let mut shown = view::session(&view::summary(&SessionState::new(session)));
        view::add_successor(&mut shown, &successor);
        assert_eq!(shown.goes_on_as.as_deref(), Some("default/owl"));
        let detail = shown.status_detail.unwrap();
        assert_eq!(detail, format!("{begins}goes on as default/owl"));
    }
}

fn fleet() -> FleetName {
    FleetName::parse("default").unwrap()
}

async fn written(stored: &Stored) -> Vec<String> {
    view::write_fleet(&stored.ports, &fleet()).await.unwrap();
    let record = stored.ports.folders.read_fleet(&fleet()).unwrap();
    let agents = record.map(|it| it.agents).unwrap_or_default();
    agents.iter().map(|it| it.name.to_string()).collect()
}

#[tokio::test]
async fn file_of_a_fleet_has_its_agents_and_its_unsettled_sessions() {
    let stored = Stored::new();
    assert_eq!(written(&stored).await, Vec::<String>::new());
    let ended = Status::Ended(How::Quit);
    let agent = Some(AgentName::parse("coder").unwrap());
    stored.add(1, "runs", Status::Idle).await;
    stored.add(2, "over", ended).await;
    stored.add_session(Session { agent, status: ended, ..samples::session(3, "coder") }).await;
    assert_eq!(written(&stored).await, ["runs", "coder"]);
    assert_eq!(stored.world.calls.count("folders.write_fleet"), 1);
    stored.world.clock.advance(jiff::SignedDuration::from_secs(5));
    written(&stored).await;
    assert_eq!(stored.world.calls.count("folders.write_fleet"), 1, "nothing has changed");
}

#[tokio::test]
async fn file_of_a_fleet_is_removed_with_its_last_session() {
    let stored = Stored::new();
    let session = stored.add(1, "fox", Status::Interrupted).await;
    assert_eq!(written(&stored).await, ["fox"]);
    stored.commit(vec![Change::RemoveSession(session.id)]).await;
    assert_eq!(written(&stored).await, Vec::<String>::new());
    assert_eq!(stored.ports.folders.read_fleet(&fleet()).unwrap(), None);
}

#[tokio::test]
async fn fleet_that_cannot_be_read_or_written_is_an_error() {
    let calls = ["store.fleet", "store.sessions", "store.counts", "folders.read_fleet"];
    for call in calls.into_iter().chain(["folders.write_fleet"]) {
        let stored = Stored::new();
        stored.add(1, "fox", Status::Idle).await;
        stored.world.calls.fail(call, 1);
        assert!(view::write_fleet(&stored.ports, &fleet()).await.is_err(), "{call}");
    }
}
