//! A conversation in the format of its next vendor.

use std::path::PathBuf;

use segue_core::flows::handoff::{
    HandoffOptions, HandoffPlan, NativeContent, TargetSession, WrittenConversation,
};
use segue_core::model::{HandoffForm, Role, Turn};
use segue_core::ports::NewFile;
use segue_core::{Error, Kind};
use segue_fakes::{FakeConversion, FakeVendor, Storage};

use super::{
    carry_out, converting, plan, plan_from, plan_with, rewrite, talked, talked_beside, write,
};
use crate::scene::FlowScene;

async fn begin(scene: &FlowScene) -> (HandoffPlan, TargetSession) {
    let plan = plan(scene).await;
    let target = plan.target_session(&scene.ports).await.unwrap();
    (plan, target)
}

async fn written(scene: &FlowScene) -> WrittenConversation {
    let (plan, target) = begin(scene).await;
    write(scene, &plan, &target).0
}

async fn failure(scene: &FlowScene) -> Error {
    let (plan, target) = begin(scene).await;
    let content = plan.native_content(&scene.ports).unwrap().unwrap();
    plan.write(&scene.ports, &target, &content).unwrap_err()
}

/// Returns the files of the vendor `other`.
fn files(scene: &FlowScene) -> Vec<PathBuf> {
    scene.world.disk.files_below("/home/other")
}

fn with_marker() -> FakeConversion {
    let (path, contents) = ("/home/other/marker".into(), "/work".to_owned());
    FakeConversion { extra_files: vec![NewFile { path, contents }], ..FakeConversion::default() }
}

#[tokio::test]
async fn new_conversation_is_written_whole_under_its_new_id() {
    let scene = talked_beside(converting(with_marker())).await;
    let (plan, target) = begin(&scene).await;
    let (written, summary) = write(&scene, &plan, &target);
    assert_eq!(written.path, PathBuf::from(format!("/home/other/{}.txt", target.conversation)));
    let lines = "title: default/fox-other\nuser@0: remember amber\nagent@0: noted\nend: 2\n";
    assert_eq!(scene.world.disk.text(&written.path).as_deref(), Some(lines));
    assert_eq!(scene.world.disk.text("/home/other/marker").as_deref(), Some("/work"));
    assert_eq!(written.extra_files, [PathBuf::from("/home/other/marker")]);
    assert_eq!((written.turns, written.characters, written.grown), (2, 19, None));
    assert_eq!((summary.form, summary.left_out), (HandoffForm::Native, Some(0)));
}

#[tokio::test]
async fn document_to_import_is_written_beside_the_launch_folders() {
    let conversion = FakeConversion { is_import: true, ..FakeConversion::default() };
    let scene = talked_beside(converting(conversion)).await;
    let (plan, target) = begin(&scene).await;
    let (written, _) = write(&scene, &plan, &target);
    assert_eq!(written.path, scene.ports.folders.import(target.session.id));
    assert!(written.is_import && written.grown.is_none() && files(&scene).is_empty());
    // A document that an interrupted attempt has left is replaced.
    write(&scene, &plan, &target);
}

#[tokio::test]
async fn earlier_transcript_is_extended_on_a_line_of_its_own() {
    let scene = talked().await;
    let there = carry_out(&scene, &plan(&scene).await).await;
    let path = super::source_of(&scene, &there).await.conversation.unwrap().transcript;
    scene.world.disk.append(&path, "user@20: and now\nagent@25: done\n");
    scene.world.disk.append(scene.transcript(), "agent@1: cut o");
    let before = scene.world.disk.read(scene.transcript()).unwrap().len() as u64;
    let back = plan_from(&scene, &there, "tool").await;
    let target = back.target_session(&scene.ports).await.unwrap();
    let (written, _) = write(&scene, &back, &target);
    assert_eq!(written.path, scene.transcript());
    let text = scene.world.disk.text(scene.transcript()).unwrap();
    assert!(text.contains("cut o\nuser@20: and now\nagent@25: done\n"), "{text}");
    assert_eq!(written.grown, Some((before, text.len() as u64)));
}

#[tokio::test]
async fn vendor_that_takes_over_nothing_writes_nothing() {
    let reading = FakeVendor { conversion: None, ..FakeVendor::taking_over("other") };
    let scene = talked_beside(reading).await;
    let (plan, target) = begin(&scene).await;
    let excerpt = plan_with(&scene, budget(1_000)).await.native_content(&scene.ports).unwrap();
    for content in [excerpt.unwrap(), NativeContent::AllTurns] {
        assert!(plan.write(&scene.ports, &target, &content).unwrap().is_none(), "{content:?}");
    }
    assert!(files(&scene).is_empty());
}

fn budget(budget: usize) -> HandoffOptions {
    HandoffOptions { budget: Some(budget), ..HandoffOptions::default() }
}

#[tokio::test]
async fn long_conversation_that_fits_is_converted_as_a_stream() {
    let scene = talked().await;
    scene.world.files.pretend_length(scene.transcript(), 9 << 20);
    let plan = plan_with(&scene, budget(10 << 20)).await;
    let target = plan.target_session(&scene.ports).await.unwrap();
    let content = plan.native_content(&scene.ports).unwrap().unwrap();
    assert_eq!(content, NativeContent::AllTurns);
    let (written, summary) = plan.write(&scene.ports, &target, &content).unwrap().unwrap();
    let text = scene.world.disk.text(&written.path).unwrap();
    assert!(text.ends_with("user@0: remember amber\nagent@0: noted\nend: 2\n"), "{text}");
    assert_eq!((summary.turns, summary.left_out), (2, Some(0)));
    let plan = plan_with(&scene, budget(1_000)).await;
    let content = plan.native_content(&scene.ports).unwrap().unwrap();
    assert!(matches!(content, NativeContent::Excerpt(_)), "it does not fit");
}

#[tokio::test]
async fn secret_that_only_a_later_turn_identifies_is_removed_from_a_stream_too() {
    let scene = talked().await;
    rewrite(
        &scene,
        &[("user", "what is q7Xb2LmZ9vTr4KpW?"), ("agent", "API_TOKEN=q7Xb2LmZ9vTr4KpW")],
    );
    let (plan, target) = begin(&scene).await;
    let written = plan.write(&scene.ports, &target, &NativeContent::AllTurns).unwrap().unwrap();
    let text = scene.world.disk.text(written.0.path).unwrap();
    assert!(text.contains("what is [redacted]?") && !text.contains("q7Xb2LmZ"), "{text}");
    assert_eq!(written.1.removed.total(), 2);
}

#[tokio::test]
async fn stream_that_cannot_be_read_or_written_leaves_no_file() {
    let table = [
        // The first message is read first, then the turns, twice.
        ("files.read", 1),
        ("files.read", 2),
        ("files.read", 3),
        ("files.write", 1),
        ("files.finish", 1),
    ];
    for (call, nth) in table {
        let scene = talked().await;
        let (plan, target) = begin(&scene).await;
        scene.world.calls.fail(call, nth);
        plan.write(&scene.ports, &target, &NativeContent::AllTurns).unwrap_err();
        assert!(files(&scene).is_empty(), "{call} {nth}");
    }
}

#[tokio::test]
async fn turn_that_fills_the_buffer_is_written_at_once_and_its_failure_ends_the_stream() {
    let scene = talked().await;
    let long = "word ".repeat(60_000);
    rewrite(&scene, &[("user", "hi"), ("agent", &long), ("user", "more")]);
    let (plan, target) = begin(&scene).await;
    scene.world.calls.take();
    plan.write(&scene.ports, &target, &NativeContent::AllTurns).unwrap();
    assert_eq!(scene.world.calls.count("files.write"), 2, "the long turn, and the rest");
    let (plan, target) = begin(&scene).await;
    scene.world.calls.fail("files.write", 1);
    let error = plan.write(&scene.ports, &target, &NativeContent::AllTurns).unwrap_err();
    assert!(error.message.starts_with("cannot write the conversation"), "{error}");
    assert_eq!(files(&scene).len(), 1, "that of the first attempt");
}

#[tokio::test]
async fn write_that_fails_at_any_step_leaves_no_file() {
    for call in ["files.begin", "files.write", "files.create", "files.finish"] {
        let scene = talked_beside(converting(with_marker())).await;
        scene.world.calls.fail(call, 1);
        let error = failure(&scene).await;
        assert_eq!(error.kind, Kind::Vendor, "{call}");
        assert!(error.message.starts_with("cannot write the conversation to `"), "{error}");
        assert_eq!(files(&scene), Vec::<PathBuf>::new(), "{call}");
    }
}

#[tokio::test]
async fn extension_that_fails_at_any_step_leaves_the_transcript_as_it_was() {
    for call in ["files.begin", "files.copy", "files.write", "files.finish"] {
        let scene = talked().await;
        let there = carry_out(&scene, &plan(&scene).await).await;
        let path = super::source_of(&scene, &there).await.conversation.unwrap().transcript;
        scene.world.disk.append(&path, "user@20: and now\n");
        let before = scene.world.disk.text(scene.transcript());
        let back = plan_from(&scene, &there, "tool").await;
        let target = back.target_session(&scene.ports).await.unwrap();
        let content = back.native_content(&scene.ports).unwrap().unwrap();
        scene.world.calls.fail(call, 1);
        back.write(&scene.ports, &target, &content).unwrap_err();
        assert_eq!(scene.world.disk.text(scene.transcript()), before, "{call}");
    }
}

#[tokio::test]
async fn transcript_that_exists_under_the_new_id_is_never_replaced() {
    let scene = talked_beside(converting(with_marker())).await;
    let (plan, target) = begin(&scene).await;
    let path = format!("/home/other/{}.txt", target.conversation);
    scene.world.disk.write(&path, "user: mine\n");
    let content = plan.native_content(&scene.ports).unwrap().unwrap();
    plan.write(&scene.ports, &target, &content).unwrap_err();
    assert_eq!(scene.world.disk.text(&path).as_deref(), Some("user: mine\n"));
    assert_eq!(files(&scene), [PathBuf::from(path)], "the marker is gone again");
}

/// What a careless vendor makes of a turn.
type Edit = fn(Turn) -> Option<Turn>;

#[tokio::test]
async fn conversation_that_its_vendor_reads_otherwise_is_removed_again() {
    let other_role: Edit = |turn| Some(Turn { role: Role::ToolResult, ..turn });
    let table: [(&str, Edit); 4] = [
        ("no turn", |_| None),
        ("another text", |turn| Some(Turn { text: format!("{}!", turn.text), ..turn })),
        ("another role", other_role),
        ("only answers", |turn| (turn.role == Role::Assistant).then_some(turn)),
    ];
    for (what, written) in table {
        let conversion = FakeConversion { written, ..with_marker() };
        let scene = talked_beside(converting(conversion)).await;
        let error = failure(&scene).await;
        assert!(error.message.ends_with("differ from those that were written"), "{what}: {error}");
        assert_eq!(files(&scene), Vec::<PathBuf>::new(), "{what}");
    }
}

#[tokio::test]
async fn blanks_summaries_and_spaces_in_arguments_may_be_read_otherwise() {
    let table: [(&str, Edit); 3] = [
        ("blanks at the ends", |turn| Some(Turn { text: format!(" {} ", turn.text), ..turn })),
        ("a summary", |turn| match turn.role {
            Role::User => Some(Turn { role: Role::Summary, ..turn }),
            _ => Some(turn),
        }),
        ("spaces in arguments", |turn| match turn.role {
            Role::ToolCall => Some(Turn { text: turn.text.replace(':', " : "), ..turn }),
            _ => Some(turn),
        }),
    ];
    for (what, written) in table {
        let conversion = FakeConversion { written, ..FakeConversion::default() };
        let scene = talked_beside(converting(conversion)).await;
        let lines = [("user", "list"), ("call 1", r#"{"a":1}"#), ("result 1", "x"), ("agent", "y")];
        rewrite(&scene, &lines);
        assert_eq!(self::written(&scene).await.turns, 4, "{what}");
    }
}

#[tokio::test]
async fn only_the_newest_turns_are_read_back() {
    let lossy: Edit = |turn| (turn.text != "forgotten").then_some(turn);
    let conversion = FakeConversion { written: lossy, ..FakeConversion::default() };
    let scene = talked_beside(converting(conversion)).await;
    let mut lines = vec![("user", "forgotten")];
    lines.extend([("agent", "yes"); 20]);
    rewrite(&scene, &lines);
    assert_eq!(written(&scene).await.turns, 21);
    rewrite(&scene, &lines[..20]);
    assert!(failure(&scene).await.message.ends_with("that were written"));
}

#[tokio::test]
async fn conversation_that_cannot_be_read_back_is_removed_again() {
    let storage = Storage::Unreadable;
    let scene = talked_beside(FakeVendor { storage, ..converting(with_marker()) }).await;
    assert_eq!(failure(&scene).await.message, "Segue cannot read transcripts of `other`");
    assert!(files(&scene).is_empty());
    let scene = talked_beside(converting(with_marker())).await;
    let (plan, target) = begin(&scene).await;
    let content = plan.native_content(&scene.ports).unwrap().unwrap();
    scene.world.calls.fail("files.read", 1);
    plan.write(&scene.ports, &target, &content).unwrap_err();
    assert!(files(&scene).is_empty());
}
