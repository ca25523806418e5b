//! Commands on several sessions: resume, stop and up.

use segue_core::Kind;
use segue_core::api::{ResumeRequest, Selection, StopOutcome, StopRequest, UpRequest};
use segue_core::flows::{resume, select, stop, up};
use segue_core::model::{
    AgentName, Exit, Fleet, How, MachineId, Principal, RequestId, RequestKey, Session, Status,
};
use segue_core::rules::bringing_back::LeftAloneReason;
use segue_fakes::samples;
use uuid::Uuid;

use crate::stored::{Stored, caller};

async fn resume(stored: &Stored, selection: Selection, stopped: bool) -> resume::ResumePlan {
    let request =
        ResumeRequest { caller: caller(), selection, fresh: Vec::new(), plan: false, stopped };
    resume::plan(&stored.world.ports(), &Principal::User, &request).await.unwrap()
}

fn named(names: &[&str]) -> Selection {
    Selection::Named(names.iter().map(|name| (*name).to_owned()).collect())
}

fn names(plan: &resume::ResumePlan) -> Vec<&str> {
    plan.sessions.iter().map(|it| it.summary.session.name.as_str()).collect()
}

#[tokio::test]
async fn resume_brings_back_what_was_interrupted_and_leaves_deliberate_ends_alone() {
    let stored = Stored::new();
    stored.add(1, "runs", Status::Idle).await;
    stored.add(2, "killed", Status::Interrupted).await;
    stored.add(3, "crashed", Status::Ended(How::Crashed(Exit::Signal(9)))).await;
    stored.add(4, "stopped", Status::Ended(How::Stopped)).await;
    stored.add(5, "quit", Status::Ended(How::Quit)).await;
    let plan = resume(&stored, Selection::All, false).await;
    assert_eq!(names(&plan), ["runs", "killed", "crashed"]);
    let left: Vec<_> = plan.left_alone.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(left, ["stopped", "quit"]);
    assert_eq!(plan.not_running().len(), 2);
    let due: Vec<_> = plan.sessions.iter().filter(|it| it.is_due()).collect();
    assert_eq!(due.len(), 2, "the one that runs is not started");
    let plan = resume(&stored, Selection::All, true).await;
    assert_eq!(names(&plan), ["runs", "killed", "crashed", "stopped", "quit"]);
}

#[tokio::test]
async fn named_session_is_resumed_although_it_was_stopped() {
    let stored = Stored::new();
    stored.add(1, "stopped", Status::Ended(How::Stopped)).await;
    let plan = resume(&stored, named(&["stopped"]), false).await;
    assert_eq!((names(&plan), plan.to_start()), (vec!["stopped"], 1));
}

#[tokio::test]
async fn session_that_was_handed_over_is_refused_with_its_successor() {
    let stored = Stored::new();
    let from = stored.add(1, "old", Status::Ended(How::Stopped)).await;
    let to = stored.add(2, "new", Status::Idle).await;
    stored.hand_over(&from, &to, 0).await;
    let plan = resume(&stored, named(&["old"]), false).await;
    let exclusion = plan.sessions[0].exclusion.as_ref().unwrap();
    assert_eq!(exclusion.why, LeftAloneReason::HandedOver);
    let outcome = resume::refused_outcome(&plan.sessions[0].summary, exclusion);
    assert!(outcome.note.text.unwrap().contains("default/new"));
    assert_eq!(plan.to_start(), 0);
}

#[tokio::test]
async fn launch_of_another_machine_is_never_started_here() {
    let stored = Stored::new();
    let far = Session { status: Status::Idle, ..samples::session(1, "far") };
    stored.add_on(MachineId::new(Uuid::from_u128(77)), far).await;
    let plan = resume(&stored, named(&["far"]), false).await;
    assert_eq!(plan.sessions[0].exclusion.as_ref().unwrap().why, LeftAloneReason::OtherMachine);
    let planned = plan.without_other_machines();
    assert!(planned.sessions.is_empty());
    assert_eq!(planned.failed[0].error.kind, Kind::Conflict);
}

#[tokio::test]
async fn unknown_names_fail_beside_known_ones_and_alone() {
    let stored = Stored::new();
    stored.add(1, "fox", Status::Interrupted).await;
    let plan = resume(&stored, named(&["fox", "fax"]), false).await;
    assert_eq!(names(&plan), ["fox"]);
    assert_eq!(plan.failed[0].target, "fax");
    let hints = &plan.failed[0].error.hints;
    assert!(hints.iter().any(|it| it.contains("fox")), "{hints:?}");
    let cwd = samples::CWD.as_ref();
    let found = select::find(&stored.world.ports(), &Principal::User, "fax", cwd).await;
    assert_eq!(found.unwrap_err().kind, Kind::NotFound);
}

#[tokio::test]
async fn agent_selects_only_its_own_session_and_its_children() {
    let stored = Stored::new();
    let own = stored.add(1, "own", Status::Idle).await;
    stored.add(2, "other", Status::Idle).await;
    let child = Session { parent: Some(own.id), ..samples::session(3, "child") };
    stored.add_session(Session { status: Status::Idle, ..child }).await;
    let principal = Principal::Agent(Box::new(own));
    let ports = stored.world.ports();
    let to_stop = async |names: &[&str]| {
        let request = StopRequest { cwd: samples::CWD.into(), selection: named(names) };
        stop::to_stop(&ports, &principal, &request).await
    };
    let chosen = to_stop(&["child", "own"]).await.unwrap();
    assert_eq!(chosen.sessions.len(), 2);
    let error = to_stop(&["child", "other"]).await.unwrap_err();
    assert!(error.to_string().contains("neither its own nor its child"), "{error}");
}

#[tokio::test]
async fn repeated_stop_reports_what_its_first_attempt_stopped() {
    let stored = Stored::new();
    let session = stored.add(1, "fox", Status::Idle).await;
    let ports = stored.world.ports();
    let key = Some(RequestKey { caller: None, id: RequestId::new(Uuid::from_u128(5)) });
    let request = StopRequest { cwd: samples::CWD.into(), selection: Selection::All };
    let chosen = stop::to_stop(&ports, &Principal::User, &request).await.unwrap();
    let first = stop::record(&ports, key, &chosen.sessions).await.unwrap();
    assert!(first.before.is_empty() && first.unrecorded.is_none());
    let again = stop::record(&ports, key, &chosen.sessions).await.unwrap();
    let report = stop::report(vec![stop::stopped(&session, false)], Vec::new(), &again.before);
    assert_eq!(report.unwrap().stopped[0].outcome, StopOutcome::Stopped);
}

#[tokio::test]
async fn stop_that_cannot_be_recorded_is_reported_and_is_no_error() {
    let stored = Stored::new();
    stored.add(1, "fox", Status::Idle).await;
    let ports = stored.world.ports();
    let key = Some(RequestKey { caller: None, id: RequestId::new(Uuid::from_u128(5)) });
    let request = StopRequest { cwd: samples::CWD.into(), selection: Selection::All };
    let chosen = stop::to_stop(&ports, &Principal::User, &request).await.unwrap();
    stored.world.calls.fail("store.commit", 1);
    let steps = stop::record(&ports, key, &chosen.sessions).await.unwrap();
    assert!(steps.unrecorded.is_some());
}

fn up_request(agents: &[&str]) -> UpRequest {
    UpRequest {
        caller: caller(),
        agents: agents.iter().map(|name| (*name).to_owned()).collect(),
        fleet: None,
        fresh: Vec::new(),
        stopped: false,
    }
}

#[tokio::test]
async fn up_brings_all_agents_up_in_the_order_of_the_file_or_the_named_ones() {
    let stored = Stored::new();
    let ports = stored.world.ports();
    stored.trust_project(&["writer", "coder"]).await;
    let drafts = async |agents: &[&str]| {
        let plan = up::plan(&ports, &Principal::User, &up_request(agents)).await.unwrap();
        let names = plan.agents.iter().map(|it| it.draft.name.to_string());
        names.collect::<Vec<_>>()
    };
    assert_eq!(drafts(&[]).await, ["writer", "coder"]);
    assert_eq!(drafts(&["coder"]).await, ["coder"]);
    let unknown = up::plan(&ports, &Principal::User, &up_request(&["codr"])).await.unwrap_err();
    assert!(unknown.hints.iter().any(|it| it.contains("coder")), "{unknown:?}");
}

#[tokio::test]
async fn up_needs_a_trusted_project_and_a_user() {
    let stored = Stored::new();
    let ports = stored.world.ports();
    let none = up::plan(&ports, &Principal::User, &up_request(&[])).await.unwrap_err();
    assert!(none.hints.iter().any(|it| it.contains("segue init")), "{none:?}");
    stored.world.projects.write(samples::project(&["coder"]));
    let untrusted = up::plan(&ports, &Principal::User, &up_request(&[])).await.unwrap_err();
    assert!(untrusted.hints.iter().any(|it| it.contains("segue trust")), "{untrusted:?}");
    stored.trust_project(&["coder"]).await;
    let agent = Principal::Agent(Box::new(samples::session(1, "fox")));
    up::plan(&ports, &agent, &up_request(&[])).await.unwrap_err();
}

#[tokio::test]
async fn running_session_of_an_agent_that_left_the_file_is_surplus() {
    let stored = Stored::new();
    let ports = stored.world.ports();
    stored.trust_project(&["coder"]).await;
    let plan = up::plan(&ports, &Principal::User, &up_request(&[])).await.unwrap();
    let fleet = samples::project(&["coder"]).fleet;
    let known = Fleet { name: fleet.clone(), folder: Some(samples::CWD.into()) };
    assert_eq!(ports.store.fleet(&fleet).await.unwrap(), Some(known));
    let former = Session {
        fleet,
        agent: Some(AgentName::parse("former").unwrap()),
        status: Status::Idle,
        ..samples::session(9, "former")
    };
    stored.add_session(former).await;
    let surplus = plan.surplus(&ports).await.unwrap();
    assert_eq!(surplus.len(), 1);
    assert_eq!(surplus[0].stop, "segue stop shop/former");
}

#[tokio::test]
async fn up_of_named_agents_has_no_surplus_and_a_fresh_one_must_be_known() {
    let stored = Stored::new();
    let ports = stored.world.ports();
    stored.trust_project(&["writer", "coder"]).await;
    let plan = up::plan(&ports, &Principal::User, &up_request(&["coder"])).await.unwrap();
    assert!(plan.surplus(&ports).await.unwrap().is_empty());
    let fresh = |name: &str| UpRequest { fresh: vec![name.to_owned()], ..up_request(&[]) };
    let plan = up::plan(&ports, &Principal::User, &fresh("coder")).await.unwrap();
    let is_fresh: Vec<bool> = plan.agents.iter().map(|it| it.requested.is_fresh).collect();
    assert_eq!(is_fresh, [false, true]);
    up::plan(&ports, &Principal::User, &fresh("nobody")).await.unwrap_err();
}
