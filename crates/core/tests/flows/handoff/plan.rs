//! What is decided before the old agent is ended.

use segue_core::Kind;
use segue_core::flows::handoff::{HandoffOptions, HandoffPlan, NativeContent};
use segue_core::rules::handoff::{HandoffMethod, HandoffMode};
use segue_fakes::{FakeConversion, FakeVendor, Storage, samples};

use super::{converting, plan, plan_with, rewrite, source, talked, talked_beside, target, write};

fn mode(mode: HandoffMode) -> HandoffOptions {
    HandoffOptions { mode, ..HandoffOptions::default() }
}

#[tokio::test]
async fn method_depends_on_the_wish_the_vendor_and_the_content() {
    let native = FakeVendor::taking_over("other");
    let reading = FakeVendor { conversion: None, ..native.clone() };
    let table = [
        (&native, HandoffMode::Auto, true, HandoffMethod::Native { else_digest: true }),
        (&native, HandoffMode::Native, true, HandoffMethod::Native { else_digest: false }),
        (&native, HandoffMode::Digest, true, HandoffMethod::Digest),
        (&native, HandoffMode::Auto, false, HandoffMethod::Plain),
        (&reading, HandoffMode::Auto, true, HandoffMethod::Digest),
    ];
    for (vendor, wanted, has_content, expected) in table {
        let scene = talked_beside(vendor.clone()).await;
        if !has_content {
            rewrite(&scene, &[("call 1", "{}")]);
        }
        let plan = plan_with(&scene, mode(wanted)).await;
        let target = plan.target_session(&scene.ports).await.unwrap();
        assert_eq!(plan.method(&scene.ports, &target).unwrap(), expected, "{wanted:?}");
        plan.check(&scene.ports).await.unwrap();
    }
}

#[tokio::test]
async fn impossible_handoff_is_rejected_before_anything_is_written() {
    let reading = FakeVendor { conversion: None, ..FakeVendor::taking_over("other") };
    let refusal = Some("its ids are UUIDs");
    let refusing = converting(FakeConversion { refusal, ..FakeConversion::default() });
    let taken = HandoffOptions { name: Some("fox".to_owned()), ..HandoffOptions::default() };
    let table = [
        (reading, mode(HandoffMode::Native), Kind::Usage),
        (refusing, mode(HandoffMode::Auto), Kind::Vendor),
        (FakeVendor::taking_over("other"), taken, Kind::Conflict),
    ];
    for (vendor, options, expected) in table {
        let scene = talked_beside(vendor).await;
        let plan = plan_with(&scene, options).await;
        scene.world.calls.take();
        let error = plan.check(&scene.ports).await.unwrap_err();
        assert_eq!(error.kind, expected, "{error}");
        let calls = scene.world.calls.take();
        let is_write = |call: &&str| matches!(*call, "store.commit" | "files.begin");
        assert!(!calls.iter().any(is_write), "{calls:?}");
    }
}

#[tokio::test]
async fn target_is_asked_to_go_on_if_the_turn_was_cut_off() {
    let scene = talked().await;
    assert_eq!(plan(&scene).await.first_message(), None);
    scene.say("user", "and now");
    let message = plan(&scene).await.first_message().unwrap();
    assert!(message.contains("carried over from Tool in the middle of a turn"), "{message}");
    let mut empty = source(&scene).await;
    empty.conversation = None;
    let plan = HandoffPlan::to_new_session(empty, target(&scene, "other"));
    assert_eq!(plan.first_message(), None);
    assert!(plan.native_content(&scene.ports).unwrap().is_none(), "there is nothing to write");
    let target = plan.target_session(&scene.ports).await.unwrap();
    let written = plan.write(&scene.ports, &target, &NativeContent::AllTurns);
    assert!(written.unwrap().is_none());
}

#[tokio::test]
async fn history_is_confirmed_only_by_the_vendors_own_transcript() {
    let scene = talked().await;
    let plan = plan(&scene).await;
    let target = plan.target_session(&scene.ports).await.unwrap();
    assert!(!plan.has_history(&scene.ports, &target).unwrap(), "nothing is written yet");
    let (written, _) = write(&scene, &plan, &target);
    assert!(plan.has_history(&scene.ports, &target).unwrap());
    scene.world.disk.write(&written.path, "agent: hello\n");
    assert!(!plan.has_history(&scene.ports, &target).unwrap(), "it began anew");
    scene.world.calls.fail("files.facts", 1);
    plan.has_history(&scene.ports, &target).unwrap_err();
}

#[tokio::test]
async fn vendor_whose_transcripts_cannot_be_read_never_confirms() {
    let storage = Storage::Unreadable;
    let scene = talked_beside(FakeVendor { storage, ..FakeVendor::taking_over("other") }).await;
    let plan = plan(&scene).await;
    let target = plan.target_session(&scene.ports).await.unwrap();
    assert!(!plan.has_history(&scene.ports, &target).unwrap());
}

#[tokio::test]
async fn plan_names_the_sessions_that_take_part() {
    let scene = talked().await;
    let plan = plan(&scene).await;
    let names: Vec<_> = plan.sessions().map(|it| it.name.to_string()).collect();
    assert_eq!(names, ["fox"]);
    assert_eq!(plan.source.session.cwd.to_str(), Some(samples::CWD));
}
