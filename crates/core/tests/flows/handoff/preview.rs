//! A dry run shows what the target would get, and changes nothing.

use segue_core::api::{DryRun, HandoffReport};
use segue_core::flows::handoff::{HandoffOptions, preview};
use segue_core::model::HandoffForm;
use segue_core::rules::handoff::{HandoffMethod, HandoffMode};
use segue_fakes::FakeVendor;

use super::{plan_with, rewrite, talked, talked_beside, write};
use crate::scene::FlowScene;

const NATIVE: HandoffMethod = HandoffMethod::Native { else_digest: true };

async fn shown(scene: &FlowScene, method: HandoffMethod, dry_run: DryRun) -> HandoffReport {
    let plan = plan_with(scene, HandoffOptions::default()).await;
    let target = plan.target_session(&scene.ports).await.unwrap();
    scene.world.calls.take();
    let report = preview(&scene.ports, &plan, &target, (method, dry_run)).unwrap();
    let calls = scene.world.calls.take();
    let writes = ["store.commit", "files.begin", "files.create", "files.remove"];
    assert!(!calls.iter().any(|call| writes.contains(call)), "{calls:?}");
    report
}

fn texts(report: &HandoffReport) -> Vec<&str> {
    report.turns.iter().map(|turn| turn.text.as_str()).collect()
}

#[tokio::test]
async fn native_preview_has_the_turns_and_raw_has_the_very_file() {
    let scene = talked().await;
    let report = shown(&scene, NATIVE, DryRun::Turns).await;
    assert_eq!(texts(&report), ["remember amber", "noted"]);
    assert_eq!((report.mode, report.content), (HandoffForm::Native.into(), None));
    assert_eq!(report.of.session, None, "the session does not exist");
    let raw = shown(&scene, NATIVE, DryRun::Raw).await;
    let plan = plan_with(&scene, HandoffOptions::default()).await;
    let target = plan.target_session(&scene.ports).await.unwrap();
    let (written, _) = write(&scene, &plan, &target);
    assert_eq!(raw.content, scene.world.disk.text(written.path));
}

#[tokio::test]
async fn digest_preview_has_the_turns_and_the_message() {
    let scene = talked().await;
    let report = shown(&scene, HandoffMethod::Digest, DryRun::Turns).await;
    let content = report.content.as_deref().unwrap();
    assert!(content.contains("remember amber"), "{content}");
    assert_eq!(report.chars, content.chars().count() as u64);
    assert_eq!(texts(&report), ["remember amber", "noted"]);
    assert_eq!(report.mode, HandoffForm::Digest.into());
}

#[tokio::test]
async fn conversation_without_messages_is_shown_as_plain() {
    let scene = talked().await;
    let report = shown(&scene, HandoffMethod::Plain, DryRun::Turns).await;
    assert_eq!((report.mode, report.turns_carried), (HandoffForm::Plain.into(), 0));
    rewrite(&scene, &[("call 1", "{}"), ("result 1", "x")]);
    for method in [HandoffMethod::Digest, NATIVE] {
        let report = shown(&scene, method, DryRun::Turns).await;
        assert_eq!((report.mode, report.content), (HandoffForm::Plain.into(), None), "{method:?}");
    }
}

#[tokio::test]
async fn session_without_a_conversation_is_shown_as_plain() {
    let scene = talked().await;
    let mut plan = plan_with(&scene, HandoffOptions::default()).await;
    plan.source.conversation = None;
    let target = plan.target_session(&scene.ports).await.unwrap();
    let report = preview(&scene.ports, &plan, &target, (NATIVE, DryRun::Raw)).unwrap();
    assert_eq!((report.mode, report.chars), (HandoffForm::Plain.into(), 0));
}

#[tokio::test]
async fn removed_secrets_are_counted_by_kind() {
    let scene = talked().await;
    rewrite(&scene, &[("user", "API_TOKEN=q7Xb2LmZ9vTr4KpW")]);
    for method in [HandoffMethod::Digest, NATIVE] {
        let report = shown(&scene, method, DryRun::Raw).await;
        assert_eq!(report.redacted.values().sum::<u64>(), 1, "{method:?}: {:?}", report.redacted);
        let content = report.content.unwrap();
        assert!(content.contains("API_TOKEN=[redacted]"), "{content}");
    }
}

#[tokio::test]
async fn raw_preview_for_a_vendor_that_takes_over_nothing_has_no_content() {
    let reading = FakeVendor { conversion: None, ..FakeVendor::taking_over("other") };
    let scene = talked_beside(reading).await;
    let options = HandoffOptions {
        budget: Some(1_000),
        mode: HandoffMode::Auto,
        ..HandoffOptions::default()
    };
    let plan = plan_with(&scene, options).await;
    let target = plan.target_session(&scene.ports).await.unwrap();
    let report = preview(&scene.ports, &plan, &target, (NATIVE, DryRun::Raw)).unwrap();
    assert_eq!((report.content, report.turns.len()), (None, 2));
}

#[tokio::test]
async fn conversation_that_cannot_be_read_is_an_error() {
    let scene = talked().await;
    for method in [HandoffMethod::Digest, NATIVE] {
        let plan = plan_with(&scene, HandoffOptions::default()).await;
        let target = plan.target_session(&scene.ports).await.unwrap();
        scene.world.calls.fail("files.read", 1);
        preview(&scene.ports, &plan, &target, (method, DryRun::Turns)).unwrap_err();
    }
}
