//! A write is undone if the target does not go on with the conversation.

use segue_core::flows::handoff::{self, WrittenConversation};
use segue_core::model::Session;
use segue_core::ports::NewFile;
use segue_fakes::FakeConversion;

use super::{carry_out, converting, plan, plan_from, source_of, talked, talked_beside, write};
use crate::scene::FlowScene;

const MARKER: &str = "/home/other/marker";

/// A conversation that was written for `other`, with a marker beside it.
async fn new_one() -> (FlowScene, WrittenConversation) {
    let extra_files = vec![NewFile { path: MARKER.into(), contents: "/work".to_owned() }];
    let conversion = FakeConversion { extra_files, ..FakeConversion::default() };
    let scene = talked_beside(converting(conversion)).await;
    let written = written(&scene).await;
    (scene, written)
}

async fn written(scene: &FlowScene) -> WrittenConversation {
    let plan = plan(scene).await;
    let target = plan.target_session(&scene.ports).await.unwrap();
    write(scene, &plan, &target).0
}

/// A conversation that came back to `tool`, which has got the new turns. Returns the transcript as
/// it was before, too.
async fn extended() -> (FlowScene, WrittenConversation, String) {
    let scene = talked().await;
    let there: Session = carry_out(&scene, &plan(&scene).await).await;
    let path = source_of(&scene, &there).await.conversation.unwrap().transcript;
    scene.world.disk.append(path, "user@20: and now\n");
    let before = scene.world.disk.text(scene.transcript()).unwrap();
    let back = plan_from(&scene, &there, "tool").await;
    let target = back.target_session(&scene.ports).await.unwrap();
    let written = write(&scene, &back, &target).0;
    (scene, written, before)
}

#[tokio::test]
async fn new_transcript_is_removed_with_the_files_beside_it() {
    let (scene, written) = new_one().await;
    handoff::undo(&scene.ports, &written).unwrap();
    assert_eq!(scene.world.disk.files_below("/home/other").len(), 0);
    handoff::undo(&scene.ports, &written).unwrap();
}

#[tokio::test]
async fn file_beside_the_transcript_that_its_vendor_had_before_stays() {
    let (scene, first) = new_one().await;
    let second = written(&scene).await;
    assert_eq!((first.extra_files.len(), second.extra_files.len()), (1, 0));
    handoff::undo(&scene.ports, &second).unwrap();
    assert_eq!(scene.world.disk.text(MARKER).as_deref(), Some("/work"));
    assert!(scene.world.disk.read(&first.path).is_some());
    assert!(scene.world.disk.read(&second.path).is_none());
}

#[tokio::test]
async fn document_to_import_is_removed() {
    let conversion = FakeConversion { is_import: true, ..FakeConversion::default() };
    let scene = talked_beside(converting(conversion)).await;
    let written = written(&scene).await;
    handoff::undo(&scene.ports, &written).unwrap();
    assert_eq!(scene.world.disk.read(&written.path), None);
}

#[tokio::test]
async fn extended_transcript_gets_its_earlier_content_back() {
    let (scene, written, before) = extended().await;
    assert_ne!(scene.world.disk.text(scene.transcript()).as_ref(), Some(&before));
    handoff::undo(&scene.ports, &written).unwrap();
    assert_eq!(scene.world.disk.text(scene.transcript()), Some(before));
}

#[tokio::test]
async fn extended_transcript_that_its_vendor_has_changed_since_stays() {
    let (scene, written, _) = extended().await;
    scene.say("agent@30", "done");
    let now = scene.world.disk.text(scene.transcript());
    handoff::undo(&scene.ports, &written).unwrap();
    assert_eq!(scene.world.disk.text(scene.transcript()), now);
    scene.world.disk.remove(scene.transcript());
    handoff::undo(&scene.ports, &written).unwrap();
    assert_eq!(scene.world.disk.read(scene.transcript()), None, "nothing is made up");
}

#[tokio::test]
async fn undo_that_fails_is_reported_and_can_be_repeated() {
    for nth in [1, 2] {
        let (scene, written) = new_one().await;
        scene.world.calls.fail("files.remove", nth);
        handoff::undo(&scene.ports, &written).unwrap_err();
        handoff::undo(&scene.ports, &written).unwrap();
        assert_eq!(scene.world.disk.files_below("/home/other").len(), 0);
    }
    for call in ["files.begin", "files.copy", "files.finish"] {
        let (scene, written, before) = extended().await;
        let extended = scene.world.disk.text(scene.transcript());
        scene.world.calls.fail(call, 1);
        let error = handoff::undo(&scene.ports, &written).unwrap_err();
        assert!(error.message.starts_with("cannot write the conversation to"), "{error}");
        assert_eq!(scene.world.disk.text(scene.transcript()), extended, "{call}");
        handoff::undo(&scene.ports, &written).unwrap();
        assert_eq!(scene.world.disk.text(scene.transcript()), Some(before), "{call}");
    }
}
