//! The transcript that Segue prepares, and folders with long names.

use segue_testkit::{CommandOutcome, isolated};
use serde_json::Value;

use super::scene;

/// Pi has no argument for an id. The id is in the transcript that Pi is asked to resume.
#[test]
fn pi_writes_only_to_the_transcript_that_segue_prepared() {
    isolated(|| {
        let scene = scene();
        let turn = scene.headless("coder", "remember ALPHA");
        assert_eq!(turn.status, 0, "{turn:#?}");
        let session = scene.world.session("coder");
        let all = scene.transcripts();
        assert_eq!(all, [scene.transcript(&session)]);
        let written = std::fs::read_to_string(&all[0]).unwrap();
        let first: Value = serde_json::from_str(written.lines().next().unwrap()).unwrap();
        assert_eq!(first["id"], session["vendor_session_id"]);
        assert_eq!(first["cwd"], scene.world.project().to_str().unwrap());
        scene.assert_carries("coder", &["remember ALPHA"], "which word?");
        assert_eq!(scene.transcripts(), all);
    });
}

/// Without Segue, Pi ends at once in such a folder.
#[test]
fn folder_with_a_name_too_long_for_pi_works_through_segue() {
    isolated(|| {
        let scene = scene();
        let long = scene.world.project().join("x".repeat(150)).join("ü".repeat(60));
        std::fs::create_dir_all(&long).unwrap();
        let run = ["run", "-d", "--vendor", "pi", "--name", "coder", "remember ALPHA"];
        let started = CommandOutcome::of(scene.world.command(run).current_dir(&long));
        assert_eq!(started.status, 0, "{started:#?}");
        scene.model.wait_answered("remember ALPHA");
        scene.wait_idle("coder");
        scene.wait_has_content("coder");
        scene.world.kill_everything();
        scene.world.resume(["coder"]).assert_back("coder", "resumed");
        scene.assert_carries("coder", &["remember ALPHA"], "which word?");
    });
}
