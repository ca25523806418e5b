//! Sessions whose conversations continue in other sessions, and resuming several sessions.

use segue_core::Kind;
use segue_core::api::{
    OutcomeNote, PlannedDecision, PlannedOutcome, ResumeRequest, Selection, SessionRef,
};
use segue_core::flows::bringing_back::{self, BringBackDecider};
use segue_core::flows::resume::{self, ResumePlan};
use segue_core::model::{AgentName, FleetName, How, Principal, Session, Status};
use segue_core::ports::Change;
use segue_core::rules::bringing_back::UserSelection;
use segue_fakes::samples;

use crate::stored::{Stored, caller};

async fn plan(stored: &Stored, request: ResumeRequest) -> segue_core::Result<ResumePlan> {
    resume::plan(&stored.ports, &Principal::User, &request).await
}

fn request(selection: Selection, fresh: &[&str]) -> ResumeRequest {
    let fresh = fresh.iter().map(|name| (*name).to_owned()).collect();
    ResumeRequest { caller: caller(), selection, fresh, plan: false, stopped: false }
}

fn names(plan: &ResumePlan) -> Vec<&str> {
    plan.sessions.iter().map(|it| it.summary.session.name.as_str()).collect()
}

/// A session that was handed over to another one.
async fn handed_over() -> (Stored, Session, Session) {
    let stored = Stored::new();
    let old = stored.add(1, "old", Status::Ended(How::Stopped)).await;
    let new = stored.add(2, "new", Status::Idle).await;
    stored.hand_over(&old, &new, 10).await;
    (stored, old, new)
}

#[tokio::test]
async fn successors_of_many_sessions_are_those_of_each() {
    let (stored, old, new) = handed_over().await;
    let alone = stored.add(3, "alone", Status::Interrupted).await;
    let mut sessions = Vec::new();
    for session in [&old, &new, &alone] {
        sessions.push(stored.summary(session).await);
    }
    let all = bringing_back::successors(&stored.ports, &sessions).await.unwrap();
    assert_eq!(all.into_iter().collect::<Vec<_>>(), [(old.id, new.clone())]);
    for (summary, expected) in sessions.iter().zip([Some(new.id), None, None]) {
        let found = bringing_back::successor(&stored.ports, summary).await.unwrap();
        assert_eq!(found.map(|it| it.id), expected);
    }
    for call in ["store.handoffs_of", "store.launches", "store.session"] {
        stored.world.calls.fail(call, 1);
        let found = bringing_back::successors(&stored.ports, &sessions).await;
        assert!(found.is_err(), "{call}");
    }
}

#[tokio::test]
async fn conversation_that_came_back_has_no_successor() {
    let (stored, old, new) = handed_over().await;
    stored.hand_over(&new, &old, 20).await;
    let summary = stored.summary(&old).await;
    assert_eq!(bringing_back::successor(&stored.ports, &summary).await.unwrap(), None);
    bringing_back::refuse_handed_over(&stored.ports, &summary, "attach").await.unwrap();
}

#[tokio::test]
async fn command_on_a_session_that_was_handed_over_names_the_next_one() {
    let (stored, old, _) = handed_over().await;
    let summary = stored.summary(&old).await;
    let refused = bringing_back::refuse_handed_over(&stored.ports, &summary, "attach").await;
    let error = refused.unwrap_err();
    assert_eq!(
        (error.kind, error.hints),
        (Kind::Conflict, vec!["run `segue attach default/new`".to_owned()])
    );
}

#[tokio::test]
async fn reason_and_refusal_name_the_successor_if_there_is_one() {
    let (stored, old, _) = handed_over().await;
    let selection = UserSelection { by_name: false, with_stopped: false };
    let stopped = stored.add(3, "stopped", Status::Ended(How::Stopped)).await;
    let decider = BringBackDecider::new(&stored.ports).await.unwrap();
    let exclusion = async |session: &Session| {
        let summary = stored.summary(session).await;
        decider.exclusion(&summary, selection).await.unwrap().unwrap()
    };
    let old_one = exclusion(&old).await;
    assert_eq!(old_one.reason(), "its conversation goes on as `default/new`");
    assert_eq!(old_one.error(&old).hints.len(), 3);
    let stopped_one = exclusion(&stopped).await;
    assert_eq!(stopped_one.reason(), "stopped");
    assert!(stopped_one.error(&stopped).hints.is_empty());
}

#[tokio::test]
async fn session_of_a_new_conversation_joins_the_selection_once() {
    let stored = Stored::new();
    stored.add(1, "fox", Status::Interrupted).await;
    stored.add(2, "owl", Status::Ended(How::Stopped)).await;
    let fox = || Selection::Named(vec!["fox".to_owned()]);
    let plan_of = async |fresh: &[&str]| plan(&stored, request(fox(), fresh)).await;
    let both = plan_of(&["owl"]).await.unwrap();
    assert_eq!(names(&both), ["fox", "owl"]);
    assert_eq!(both.sessions.iter().map(|it| it.is_fresh).collect::<Vec<_>>(), [false, true]);
    assert_eq!(names(&plan_of(&["fox"]).await.unwrap()), ["fox"]);
    assert_eq!(plan_of(&["fo"]).await.unwrap_err().kind, Kind::NotFound, "a whole name is needed");
}

#[tokio::test]
async fn headless_session_between_turns_is_skipped_without_a_word() {
    let stored = Stored::new();
    let headless = Session { headless: true, ..samples::session(1, "fox") };
    stored.add_session(Session { status: Status::Ended(How::TurnFailed), ..headless }).await;
    let plan = plan(&stored, request(Selection::All, &[])).await.unwrap();
    assert!(plan.sessions.is_empty() && plan.left_alone.is_empty());
}

#[tokio::test]
async fn agents_above_their_number_are_left_out_unless_they_are_named() {
    let stored = Stored::new();
    let fleet = FleetName::parse("shop").unwrap();
    let name = |text: &str| AgentName::parse(text).unwrap();
    for (number, agent) in [(1, "coder-1"), (2, "coder-2"), (3, "writer")] {
        let session = samples::session(number, agent);
        let (fleet, agent) = (fleet.clone(), Some(name(agent)));
        stored.add_session(Session { fleet, agent, status: Status::Interrupted, ..session }).await;
    }
    stored.add(4, "coder-9", Status::Interrupted).await;
    let count = Change::SetCount { fleet, agent: name("coder"), count: 1 };
    stored.commit(vec![count]).await;
    let all = plan(&stored, request(Selection::All, &[])).await.unwrap();
    assert_eq!(names(&all), ["coder-1", "writer", "coder-9"]);
    let named = Selection::Named(vec!["coder-2".to_owned()]);
    assert_eq!(names(&plan(&stored, request(named, &[])).await.unwrap()), ["coder-2"]);
    stored.world.calls.fail("store.counts", 1);
    plan(&stored, request(Selection::All, &[])).await.unwrap_err();
}

#[tokio::test]
async fn plan_of_a_session_says_what_the_request_decides() {
    let (stored, _, _) = handed_over().await;
    stored.add(3, "due", Status::Interrupted).await;
    let words = ["old", "due"].map(str::to_owned).to_vec();
    let plan = plan(&stored, request(Selection::Named(words), &["new"])).await.unwrap();
    let decided = |at: usize| {
        let session = &plan.sessions[at].summary.session;
        let planned = PlannedOutcome {
            of: SessionRef::of(session),
            vendor: session.vendor.clone(),
            decision: PlannedDecision::Resume,
            vendor_session_id: None,
            note: OutcomeNote::new("resume"),
        };
        plan.sessions[at].planned(planned)
    };
    assert_eq!(names(&plan), ["old", "due", "new"]);
    assert_eq!(decided(0).decision, PlannedDecision::Refuse);
    let note = OutcomeNote::new("its conversation goes on as `default/new`");
    assert_eq!(decided(0).note, note);
    assert_eq!(
        (decided(1).decision, decided(1).note),
        (PlannedDecision::Resume, OutcomeNote::new("resume"))
    );
    assert_eq!(decided(2).decision, PlannedDecision::Fresh);
}
