//! Transcripts or Segue's own files are deleted.

use std::fs;

use segue_testkit::scene::{assert_knows, start_with_word, text};
use segue_testkit::{CommandOutcome, conversation, launches};

use crate::world;

#[test]
fn deleted_transcripts_are_reported_and_the_session_is_kept() {
    let world = world();
    let before = start_with_word(&world, "coder", "fox");
    world.kill_everything();
    fs::remove_dir_all(world.home().join(".segue-demo")).unwrap();
    launches::remove_copies(&world, &before);
    let report = world.resume(["--all"]);
    report.assert_not_back("coder", "refused");
    assert!(report.note("coder").contains("is gone"), "{report:#?}");
    let report = world.resume(["--fresh", "coder"]);
    report.assert_not_back("coder", "fresh");
    let after = world.session("coder");
    for key in ["id", "name", "fleet", "cwd", "created_at"] {
        assert_eq!(after[key], before[key], "{key}");
    }
    assert_ne!(after["vendor_session_id"], before["vendor_session_id"]);
    let log = world.events("coder");
    let old = text(&before, "vendor_session_id");
    assert!(log.iter().any(|event| text(event, "text").contains(old)), "the old id is missing");
}

#[test]
fn deleted_store_is_rebuilt_and_its_conversations_can_be_resumed() {
    let world = world();
    let before = start_with_word(&world, "coder", "fox");
    world.kill_everything();
    fs::remove_dir_all(world.database().parent().unwrap()).unwrap();
    assert_eq!(world.segue(["ls"]).status, 7);
    world.ok(["doctor", "--fix"]);
    let report = world.resume(["--all"]);
    report.assert_back("coder", "resumed");
    assert_eq!(report.agent("coder")["session"], before["id"]);
    assert_knows(&world, "coder", "fox");
}

#[test]
fn deletion_of_all_segue_files_leaves_the_conversation_resumable() {
    let world = world();
    let before = start_with_word(&world, "coder", "fox");
    let old = text(&before, "vendor_session_id");
    world.kill_everything();
    fs::remove_dir_all(world.segue_home()).unwrap();
    assert_eq!(world.sessions(), Vec::<serde_json::Value>::new());
    let overview = world.json(["--json"]);
    assert_eq!(overview["unknown"][0]["vendor_session_id"], old, "{overview:#}");
    world.ok(["run", "-d", "--name", "coder", "remember the word owl"]);
    let new = world.session("coder");
    assert!(new["id"] != before["id"] && new["vendor_session_id"] != old);
    conversation::wait_turns(&world, &new, 1);
    let mut resume = world.command(["demo-agent", "--resume", old, "--print", "which word?"]);
    let outcome = CommandOutcome::of(&mut resume);
    assert!(outcome.stdout.contains("The word is fox."), "{outcome:#?}");
}
