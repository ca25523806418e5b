//! Changing how many agents of a kind run.

use segue_core::api::ScaleRequest;
use segue_core::flows::scale::{self, ScalePlan};
use segue_core::model::{AgentName, FleetName, Principal, Session, Status};
use segue_core::{Kind, Result};
use segue_fakes::samples;

use crate::stored::{Stored, caller};

fn request(agent: &str, count: u32) -> ScaleRequest {
    ScaleRequest { caller: caller(), agent: agent.to_owned(), count, fleet: None }
}

async fn plan(stored: &Stored, request: &ScaleRequest) -> Result<ScalePlan> {
    scale::plan(&stored.ports, &Principal::User, request).await
}

/// Stores a running session of an agent of the project.
async fn run(stored: &Stored, number: u128, agent: &str) {
    let session = Session {
        fleet: FleetName::parse("shop").unwrap(),
        agent: Some(AgentName::parse(agent).unwrap()),
        status: Status::Idle,
        ..samples::session(number, agent)
    };
    stored.add_session(session).await;
}

fn started(plan: &ScalePlan) -> Vec<&str> {
    plan.agents.iter().map(|it| it.draft.name.as_str()).collect()
}

fn stopped(plan: &ScalePlan) -> Vec<&str> {
    plan.to_stop.iter().map(|it| it.name.as_str()).collect()
}

async fn count(stored: &Stored, agent: &str) -> Option<u32> {
    let counts = stored.ports.store.counts(&FleetName::parse("shop").unwrap()).await.unwrap();
    counts.get(&AgentName::parse(agent).unwrap()).copied()
}

#[tokio::test]
async fn more_agents_are_brought_up_and_the_number_is_recorded() {
    let stored = Stored::new();
    stored.trust_project(&["coder", "writer"]).await;
    let plan = plan(&stored, &request("coder", 3)).await.unwrap();
    assert_eq!(started(&plan), ["coder-1", "coder-2", "coder-3"], "the writer is left alone");
    assert_eq!(stopped(&plan), Vec::<&str>::new());
    assert_eq!((plan.fleet.as_str(), count(&stored, "coder").await), ("shop", Some(3)));
}

#[tokio::test]
async fn agents_above_the_number_are_stopped() {
    for (number, up, down) in [
        (1, vec!["coder-1"], vec!["coder-2", "coder-3"]),
        (0, vec![], vec!["coder-1", "coder-2", "coder-3"]),
    ] {
        let stored = Stored::new();
        stored.trust_project(&["coder", "writer"]).await;
        for (id, agent) in (1..).zip(["coder-1", "coder-2", "coder-3", "writer"]) {
            run(&stored, id, agent).await;
        }
        stored.add(9, "coder-9", Status::Idle).await;
        let plan = plan(&stored, &request("coder", number)).await.unwrap();
        assert_eq!((started(&plan), stopped(&plan)), (up, down), "{number}");
    }
}

#[tokio::test]
async fn request_that_is_not_allowed_records_nothing() {
    let stored = Stored::new();
    let none = plan(&stored, &request("coder", 2)).await.unwrap_err();
    assert!(none.hints[0].contains("segue init"), "there is no project: {none:?}");
    stored.world.projects.write(samples::project(&["coder"]));
    let untrusted = plan(&stored, &request("coder", 2)).await.unwrap_err();
    assert!(untrusted.hints.iter().any(|it| it.contains("segue trust")), "{untrusted:?}");
    stored.trust_project(&["coder"]).await;
    assert_eq!(plan(&stored, &request("coder", 101)).await.unwrap_err().kind, Kind::Config);
    plan(&stored, &request("nobody", 2)).await.unwrap_err();
    let fleet = ScaleRequest { fleet: Some("a/b".to_owned()), ..request("coder", 2) };
    plan(&stored, &fleet).await.unwrap_err();
    let agent = Principal::Agent(Box::new(samples::session(1, "fox")));
    scale::plan(&stored.ports, &agent, &request("coder", 2)).await.unwrap_err();
    assert_eq!(count(&stored, "coder").await, None);
}

#[tokio::test]
async fn fleet_of_another_name_has_numbers_of_its_own() {
    let stored = Stored::new();
    stored.trust_project(&["coder"]).await;
    let second = ScaleRequest { fleet: Some("second".to_owned()), ..request("coder", 2) };
    assert_eq!(plan(&stored, &second).await.unwrap().fleet.as_str(), "second");
    assert_eq!(count(&stored, "coder").await, None);
}

#[tokio::test]
async fn store_that_fails_plans_nothing() {
    // The first commit records the fleet, the second one the number.
    for (call, nth) in [("store.commit", 1), ("store.commit", 2), ("store.sessions", 2)] {
        let stored = Stored::new();
        stored.trust_project(&["coder"]).await;
        stored.world.calls.fail(call, nth);
        plan(&stored, &request("coder", 2)).await.unwrap_err();
        let again = plan(&stored, &request("coder", 2)).await.unwrap();
        assert_eq!(started(&again).len(), 2, "{call} {nth}: it can be repeated");
    }
}
