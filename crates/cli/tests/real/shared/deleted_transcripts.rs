//! Deleted transcripts.

use std::fs;

use segue_testkit::launches;
use segue_testkit::vendor_scene::PinnedVendor;

use crate::scene;

fn transcript_deleted_while_nothing_runs_is_restored<V: PinnedVendor>() {
    let scene = scene::<V>();
    let session = scene.start_and_wait("coder", "remember ALPHA");
    scene.world.kill_everything();
    fs::remove_file(scene.transcript(&session)).unwrap();
    scene.world.resume(["coder"]).assert_back("coder", "restored");
    scene.assert_carries("coder", &["remember ALPHA"], "which word?");
}

test_each!(transcript_deleted_while_nothing_runs_is_restored: claude, codex);

fn resume_is_refused_if_no_copy_of_the_conversation_is_left<V: PinnedVendor>() {
    let scene = scene::<V>();
    let session = scene.start_and_wait("coder", "remember ALPHA");
    scene.world.kill_everything();
    fs::remove_file(scene.transcript(&session)).unwrap();
    launches::remove_copies(&scene.world, &session);
    let requests = scene.model.exchanges().len();
    let refused = scene.world.segue(["resume", "coder"]);
    assert_eq!(refused.status, 8, "{refused:#?}");
    assert!(refused.stdout.contains("--fresh"), "{refused:#?}");
    assert_eq!(scene.model.exchanges().len(), requests);
}

test_each!(resume_is_refused_if_no_copy_of_the_conversation_is_left: claude, codex, copilot, pi);
