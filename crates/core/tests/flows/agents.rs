//! An agent of a project: its sessions, and the conversation that it continues.

use segue_core::api::{AdoptCandidate, Outcome};
use segue_core::flows::agent::{AgentPlan, CurrentSession};
use segue_core::flows::look::SelectionMode;
use segue_core::flows::resume::RequestedStart;
use segue_core::model::{
    AgentName, Fleet, FleetName, How, MachineId, Session, SessionName, SessionNames, Status,
    VendorId,
};
use segue_core::ports::Change;
use segue_core::{Error, Kind};
use segue_fakes::{FakeVendor, samples};
use uuid::Uuid;

use crate::stored::Stored;

fn in_bulk() -> RequestedStart {
    RequestedStart { selection: SelectionMode::InBulk, is_fresh: false, with_stopped: false }
}

fn by_name() -> RequestedStart {
    RequestedStart { selection: SelectionMode::ByName, ..in_bulk() }
}

/// Plans to bring up the agent `coder` of a project in the sample folder.
fn plan(stored: &Stored, agents: &[&str], requested: RequestedStart) -> AgentPlan {
    let project = samples::project(agents);
    let agent = (&project, &project.agents[0]);
    AgentPlan::new(&stored.ports, agent, &samples::environment(), requested).unwrap()
}

/// A session of the agent `coder`.
fn coder(number: u128, name: &str, status: Status) -> Session {
    Session {
        fleet: FleetName::parse("shop").unwrap(),
        agent: Some(AgentName::parse("coder").unwrap()),
        status,
        ..samples::session(number, name)
    }
}

#[tokio::test]
async fn sessions_of_the_agent_are_found_under_its_name_and_its_former_ones() {
    let stored = Stored::new();
    let plan = plan(&stored, &["coder"], in_bulk());
    let none = plan.sessions(&stored.ports).await.unwrap();
    assert!(none.current.is_none() && none.to_continue.is_empty());
    let other = Session { vendor: VendorId::new("other"), ..coder(1, "coder", Status::Idle) };
    let other = stored.add_session(other).await;
    stored.bind(&other, "one").await;
    let found = plan.sessions(&stored.ports).await.unwrap();
    assert_eq!((found.of_other_vendor, found.to_continue), (Some(other.clone()), vec![other.id]));
    let name = SessionName::parse("coder-other").unwrap();
    let renamed = SessionNames { name, up_name: None };
    stored.commit(vec![Change::RenameSession { session: other.id, names: renamed }]).await;
    let own = stored.add_session(coder(2, "coder", Status::Idle)).await;
    let found = plan.sessions(&stored.ports).await.unwrap();
    assert_eq!(found.current.map(|it| it.session.id), Some(own.id));
    assert_eq!(found.to_continue, [other.id]);
    stored.world.calls.fail("store.sessions", 2);
    plan.sessions(&stored.ports).await.unwrap_err();
}

#[tokio::test]
async fn session_that_was_ended_on_purpose_is_left_alone_or_refused_if_it_is_named() {
    let table = [
        (Status::Interrupted, in_bulk(), "brought back"),
        (Status::Idle, in_bulk(), "brought back"),
        (Status::Ended(How::Stopped), in_bulk(), "left alone"),
        (Status::Ended(How::Stopped), by_name(), "brought back"),
        (
            Status::Ended(How::Stopped),
            RequestedStart { with_stopped: true, ..in_bulk() },
            "brought back",
        ),
    ];
    for (status, requested, expected) in table {
        let stored = Stored::new();
        let own = stored.add_session(coder(1, "coder", status)).await;
        let own = stored.summary(&own).await;
        let plan = plan(&stored, &["coder"], requested);
        let found = match plan.current(&stored.ports, &own).await.unwrap() {
            CurrentSession::BroughtBack => "brought back",
            CurrentSession::LeftAlone(_) => "left alone",
            CurrentSession::Refused(_) => "refused",
            CurrentSession::OnOtherMachine(_) => "on another machine",
        };
        assert_eq!(found, expected, "{status:?} {requested:?}");
    }
}

#[tokio::test]
async fn session_that_was_handed_over_or_runs_elsewhere_is_not_started() {
    let stored = Stored::new();
    let old = stored.add_session(coder(1, "coder", Status::Ended(How::Stopped))).await;
    let new = stored.add_session(coder(2, "next", Status::Idle)).await;
    stored.hand_over(&old, &new, 10).await;
    let old = stored.summary(&old).await;
    let named = plan(&stored, &["coder"], by_name()).current(&stored.ports, &old).await.unwrap();
    let CurrentSession::Refused(outcome) = named else { panic!("{named:?}") };
    assert!(outcome.note.text.unwrap().contains("shop/next"));
    let far = MachineId::new(Uuid::from_u128(77));
    let far = stored.add_on(far, coder(3, "far", Status::Idle)).await;
    let far = stored.summary(&far).await;
    let current = plan(&stored, &["coder"], by_name()).current(&stored.ports, &far).await.unwrap();
    assert!(matches!(current, CurrentSession::OnOtherMachine(_)), "{current:?}");
    stored.world.calls.fail("store.messages", 1);
    plan(&stored, &["coder"], by_name()).current(&stored.ports, &far).await.unwrap_err();
}

#[tokio::test]
async fn former_session_gets_a_free_name_unless_it_was_renamed_or_removed_meanwhile() {
    let stored = Stored::new();
    let plan = plan(&stored, &["coder"], in_bulk());
    let old = stored.add_session(coder(1, "coder", Status::Interrupted)).await;
    let name = plan.name_to_free(&stored.ports, &old).await.unwrap();
    assert_eq!(name.as_ref().map(SessionName::as_str), Some("coder-tool"));
    let renamed = SessionNames { name: name.unwrap(), up_name: None };
    stored.commit(vec![Change::RenameSession { session: old.id, names: renamed }]).await;
    assert_eq!(plan.name_to_free(&stored.ports, &old).await.unwrap(), None);
    stored.commit(vec![Change::RemoveSession(old.id)]).await;
    assert_eq!(plan.name_to_free(&stored.ports, &old).await.unwrap(), None);
}

#[tokio::test]
async fn conversations_of_the_folder_are_offered_only_if_they_can_be_of_this_agent_alone() {
    let stored = Stored::new();
    stored.write("one", &[("user", "hello")]);
    let found = async |plan: AgentPlan| plan.conversations(&stored.ports).await.unwrap().len();
    assert_eq!(found(plan(&stored, &["coder"], in_bulk())).await, 1);
    let fresh = RequestedStart { is_fresh: true, ..in_bulk() };
    assert_eq!(found(plan(&stored, &["coder"], fresh)).await, 0);
    let two = plan(&stored, &["coder", "writer"], in_bulk());
    assert_eq!(found(two).await, 0, "either agent could have begun it");
    stored.add_session(coder(1, "coder", Status::Idle)).await;
    let known = plan(&stored, &["coder"], in_bulk());
    assert_eq!(found(known).await, 0, "the vendor has a session in the folder");
}

async fn only(stored: &Stored, plan: &AgentPlan) -> AdoptCandidate {
    plan.conversations(&stored.ports).await.unwrap().remove(0)
}

#[tokio::test]
async fn only_conversation_is_adopted_unless_it_is_open_or_of_another_config_dir() {
    let stored = Stored::new();
    stored.write("one", &[("user", "hello")]);
    let plan = plan(&stored, &["coder"], in_bulk());
    let fleet = Fleet { name: plan.draft.fleet.clone(), folder: None };
    stored.commit(vec![Change::PutFleet(fleet)]).await;
    let one = only(&stored, &plan).await;
    let open = AdoptCandidate { open_in: Some(7), ..one.clone() };
    let moved = AdoptCandidate { config_dir: "/moved".into(), ..one.clone() };
    for other in [open, moved] {
        assert_eq!(plan.adopt(&stored.ports, &other).await.unwrap(), None);
    }
    stored.world.calls.fail("store.commit", 1);
    plan.adopt(&stored.ports, &one).await.unwrap_err();
    assert_eq!(plan.created_meanwhile(&stored.ports).await.unwrap(), None);
    let adopted = plan.adopt(&stored.ports, &one).await.unwrap();
    assert_eq!(adopted, Some(plan.draft.id));
    assert_eq!(plan.adopt(&stored.ports, &one).await.unwrap(), None, "another request has it");
    assert_eq!(plan.created_meanwhile(&stored.ports).await.unwrap(), adopted);
}

#[tokio::test]
async fn refused_account_is_reported_without_a_session() {
    let stored = Stored::with(FakeVendor::default());
    let plan = plan(&stored, &["coder"], in_bulk());
    let outcome = plan.refused_account(&Error::new(Kind::Vendor, "log in first"));
    assert_eq!((outcome.outcome, outcome.of.session), (Outcome::Refused, None));
    assert!(outcome.lost && outcome.note.text.unwrap().contains("log in first"));
}
