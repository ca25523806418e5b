//! Session, binding, step and request are recorded in one commit.

use segue_core::Kind;
use segue_core::api::OutcomeNote;
use segue_core::flows::SessionState;
use segue_core::flows::handoff::{HandoffOptions, HandoffPlan, TargetSession, TransferSummary};
use segue_core::model::{
    Evidence, HandoffForm, How, RequestId, RequestKey, RequestStep, Session, Status,
};
use uuid::Uuid;

use super::{carry_out, plan, plan_from, plan_with, source_of, talked, write};
use crate::scene::FlowScene;

fn key() -> RequestKey {
    RequestKey { caller: None, id: RequestId::new(Uuid::from_u128(5)) }
}

async fn asked(scene: &FlowScene) -> (HandoffPlan, TargetSession) {
    let options = HandoffOptions { request: Some(key()), ..HandoffOptions::default() };
    let plan = plan_with(scene, options).await;
    let target = plan.target_session(&scene.ports).await.unwrap();
    (plan, target)
}

async fn load(scene: &FlowScene, session: &Session) -> SessionState {
    SessionState::load(&scene.ports, session.id).await.unwrap()
}

#[tokio::test]
async fn native_handoff_binds_the_new_session_to_the_written_conversation() {
    let scene = talked().await;
    let (plan, mut target) = asked(&scene).await;
    let (_, summary) = write(&scene, &plan, &target);
    scene.world.calls.take();
    plan.record(&scene.ports, &mut target, &summary).await.unwrap();
    assert_eq!(scene.world.calls.count("store.commit"), 1);
    assert!(target.is_recorded);
    let state = load(&scene, &target.session).await;
    assert_eq!(state.vendor_session(), Some(&target.conversation));
    assert_eq!(state.bound().unwrap().evidence, Evidence::Import);
    assert!(state.session.has_content, "a missing transcript must count as a loss");
    assert_eq!(state.session.status, Status::Ended(How::NeverStarted));
    let [step] = &scene.ports.store.handoffs(target.session.id).await.unwrap()[..] else {
        panic!()
    };
    assert_eq!((step.from, step.to), (scene.state.session.id, target.session.id));
    assert_eq!(step.from_conversation, Some(scene.id()));
    assert_eq!(step.to_conversation, Some(target.conversation.clone()));
    assert_eq!((step.form, step.turns_carried), (HandoffForm::Native, 2));
    let (session, characters) = (target.session.id, 19);
    let steps = scene.ports.store.request(key()).await.unwrap();
    assert_eq!(steps, [RequestStep::Carried { session, characters }]);
    for id in [scene.state.session.id, target.session.id] {
        let log = scene.world.store.event_texts(id);
        let is_step = |it: &&String| it.starts_with("handed_over: default/fox → default/fox-other");
        assert_eq!(log.iter().filter(is_step).count(), 1, "{log:?}");
    }
}

#[tokio::test]
async fn digest_is_recorded_without_a_binding() {
    let scene = talked().await;
    let (plan, mut target) = asked(&scene).await;
    let summary = TransferSummary::empty(HandoffForm::Digest);
    plan.record(&scene.ports, &mut target, &summary).await.unwrap();
    let state = load(&scene, &target.session).await;
    assert!(state.bound().is_none() && !state.session.has_content);
    let steps = scene.ports.store.handoffs(target.session.id).await.unwrap();
    assert_eq!(steps[0].to_conversation, None, "its vendor has not chosen an id yet");
}

#[tokio::test]
async fn headless_session_rests_until_its_next_message() {
    let mut scene = talked().await;
    scene.state.session.headless = true;
    let (plan, mut target) = asked(&scene).await;
    let (_, summary) = write(&scene, &plan, &target);
    plan.record(&scene.ports, &mut target, &summary).await.unwrap();
    assert_eq!(load(&scene, &target.session).await.session.status, Status::Idle);
}

#[tokio::test]
async fn handoff_to_an_earlier_session_records_only_the_step() {
    let scene = talked().await;
    let there = carry_out(&scene, &plan(&scene).await).await;
    let path = source_of(&scene, &there).await.conversation.unwrap().transcript;
    scene.world.disk.append(path, "user@20: and now\n");
    let back = plan_from(&scene, &there, "tool").await;
    let before = load(&scene, &scene.state.session).await;
    carry_out(&scene, &back).await;
    let after = load(&scene, &scene.state.session).await;
    assert_eq!((after.session, after.bindings), (before.session, before.bindings));
    let steps = scene.ports.store.handoffs(there.id).await.unwrap();
    assert_eq!(steps.len(), 2);
    assert_eq!(steps[1].to_conversation, Some(scene.id()), "also if it was a digest");
}

#[tokio::test]
async fn commit_that_fails_records_nothing() {
    let scene = talked().await;
    let (plan, mut target) = asked(&scene).await;
    let (_, summary) = write(&scene, &plan, &target);
    scene.world.calls.fail("store.commit", 1);
    plan.record(&scene.ports, &mut target, &summary).await.unwrap_err();
    assert!(!target.is_recorded);
    assert_eq!(scene.ports.store.session(target.session.id).await.unwrap(), None);
    assert!(scene.ports.store.handoffs(scene.state.session.id).await.unwrap().is_empty());
    assert!(scene.ports.store.request(key()).await.unwrap().is_empty());
}

#[tokio::test]
async fn second_handoff_to_the_same_name_is_a_conflict_and_records_nothing() {
    let scene = talked().await;
    let (first, second) = (plan(&scene).await, plan(&scene).await);
    let mut target = second.target_session(&scene.ports).await.unwrap();
    carry_out(&scene, &first).await;
    let (_, summary) = write(&scene, &second, &target);
    let error = second.record(&scene.ports, &mut target, &summary).await.unwrap_err();
    assert_eq!(error.kind, Kind::Conflict);
    assert_eq!(scene.ports.store.handoffs(scene.state.session.id).await.unwrap().len(), 1);
}

#[tokio::test]
async fn request_is_recorded_with_the_first_step_only() {
    let scene = talked().await;
    let (plan, mut target) = asked(&scene).await;
    let native = TransferSummary::empty(HandoffForm::Native);
    plan.record(&scene.ports, &mut target, &native).await.unwrap();
    // The target did not go on, and gets a digest instead.
    let digest = TransferSummary::empty(HandoffForm::Digest);
    plan.record(&scene.ports, &mut target, &digest).await.unwrap();
    assert_eq!(scene.ports.store.request(key()).await.unwrap().len(), 1);
    assert_eq!(scene.ports.store.handoffs(target.session.id).await.unwrap().len(), 2);
}

#[tokio::test]
async fn report_names_an_unrecorded_session_without_its_id_and_counts_waiting_messages() {
    let scene = talked().await;
    let (mut plan, mut target) = asked(&scene).await;
    let summary = TransferSummary::empty(HandoffForm::Plain);
    let before = plan.report(&target, &summary, OutcomeNote::default());
    assert_eq!((before.of.session, before.note.text), (None, None));
    plan.source.queued = 2;
    plan.record(&scene.ports, &mut target, &summary).await.unwrap();
    let after = plan.report(&target, &summary, OutcomeNote::new("it asks"));
    assert_eq!(after.of.session, Some(target.session.id));
    assert_eq!(after.note.text.as_deref(), Some("it asks; 2 messages wait for default/fox"));
    assert_eq!((after.from.as_str(), after.to.as_str()), ("default/fox", "default/fox-other"));
}
