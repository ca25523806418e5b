//! A repeated request finds what its first attempt has recorded.

use segue_core::Kind;
use segue_core::api::{AgentOutcome, Outcome, OutcomeNote, SessionRef};
use segue_core::flows::handoff::{HandoffOptions, RecordedHandoff};
use segue_core::model::{Exit, HandoffForm, LaunchEnd, RequestId, RequestKey, Session};
use segue_core::ports::{Change, Commit};
use uuid::Uuid;

use super::{carry_out, plan_with, talked};
use crate::scene::FlowScene;

fn key(number: u128) -> Option<RequestKey> {
    Some(RequestKey { caller: None, id: RequestId::new(Uuid::from_u128(number)) })
}

async fn handed_over() -> (FlowScene, Session) {
    let scene = talked().await;
    let options = HandoffOptions { request: key(5), ..HandoffOptions::default() };
    let session = carry_out(&scene, &plan_with(&scene, options).await).await;
    (scene, session)
}

async fn remove(scene: &FlowScene, session: &Session) {
    scene.world.holders.kill(scene.launch());
    let end = LaunchEnd { exit: Exit::Signal(9), is_requested: false, at: scene.ports.clock.now() };
    let ended = Change::EndLaunch { launch: scene.launch(), end };
    let commit = Commit { changes: vec![ended, Change::RemoveSession(session.id)], events: vec![] };
    scene.ports.store.commit(commit).await.unwrap();
}

fn outcome(session: &Session) -> AgentOutcome {
    AgentOutcome {
        of: SessionRef::of(session),
        vendor: session.vendor.clone(),
        outcome: Outcome::Resumed,
        vendor_session_id: None,
        note: OutcomeNote::new("it goes on"),
        dialog: None,
        lost: false,
    }
}

#[tokio::test]
async fn repeated_request_reports_the_handoff_of_its_first_attempt() {
    let (scene, session) = handed_over().await;
    let recorded = RecordedHandoff::find(&scene.ports, key(5)).await.unwrap().unwrap();
    assert_eq!(recorded.session.id, session.id);
    let report = recorded.report(outcome(&session));
    assert_eq!((report.from.as_str(), report.to.as_str()), ("default/fox", "default/fox-other"));
    assert_eq!((report.mode, report.turns_carried), (HandoffForm::Native.into(), 2));
    assert_eq!((report.chars, report.note.text.as_deref()), (19, Some("it goes on")));
}

#[tokio::test]
async fn request_that_has_recorded_nothing_finds_nothing() {
    let (scene, _) = handed_over().await;
    for key in [None, key(6)] {
        assert!(RecordedHandoff::find(&scene.ports, key).await.unwrap().is_none());
    }
}

#[tokio::test]
async fn session_that_was_removed_since_is_an_error_that_says_which() {
    let (scene, session) = handed_over().await;
    remove(&scene, &session).await;
    let error = RecordedHandoff::find(&scene.ports, key(5)).await.unwrap_err();
    assert_eq!(error.kind, Kind::NotFound);
    assert!(error.message.contains(&session.id.to_string()), "{error}");
    let (scene, session) = handed_over().await;
    remove(&scene, &scene.state.session).await;
    let error = RecordedHandoff::find(&scene.ports, key(5)).await.unwrap_err();
    assert_eq!(error.kind, Kind::NotFound);
    let expected = format!("the conversation went on as `{}`", session.address());
    assert!(error.message.starts_with(&expected), "{error}");
    assert!(error.hints[0].contains("segue resume default/fox-other"), "{error:?}");
}

#[tokio::test]
async fn store_that_fails_is_an_error() {
    for call in ["store.request", "store.session", "store.handoffs_of"] {
        let (scene, _) = handed_over().await;
        scene.world.calls.fail(call, 1);
        assert!(RecordedHandoff::find(&scene.ports, key(5)).await.is_err(), "{call}");
    }
}
