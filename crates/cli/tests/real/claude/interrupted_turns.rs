//! A kill before the transcript exists.

use segue_testkit::conversation::records;
use segue_testkit::isolated;
use serde_json::Value;

use super::scene;

#[test]
fn kill_before_the_transcript_exists_sends_the_first_message_again_once() {
    isolated(|| {
        let scene = scene();
        scene.start("coder", "remember ALPHA");
        scene.world.kill_everything();
        assert!(scene.transcripts().is_empty(), "Claude Code wrote the transcript before the kill");
        let id = scene.world.session("coder")["vendor_session_id"].clone();
        let report = scene.world.resume(["coder"]);
        report.assert_back("coder", "started");
        let session = scene.wait_first_turn("coder", "remember ALPHA");
        assert_eq!(session["vendor_session_id"], id);
        assert_eq!(scene.model.conversations().len(), 1);
        let is_user_message = |it: &&Value| it["type"] == "user" && it["isMeta"] != true;
        let records = records(&scene.transcript(&session));
        assert_eq!(records.iter().filter(is_user_message).count(), 1);
    });
}
