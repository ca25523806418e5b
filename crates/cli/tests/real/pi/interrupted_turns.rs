//! A kill in the middle of the first turn of a conversation that Pi started itself.

use segue_testkit::isolated;

use super::{begin_another, scene};

/// Pi writes no transcript of a conversation that it started itself until its first answer.
#[test]
fn killed_first_turn_without_a_transcript_is_sent_again_once() {
    isolated(|| {
        let scene = scene();
        let before = scene.start_and_wait("coder", "remember ALPHA");
        begin_another(&scene, "coder", &before);
        let mut send = scene.world.start(["send", "coder", "BETA [[hold: door]]"]);
        scene.model.wait_held("door");
        assert_eq!(scene.transcripts(), [scene.transcript(&before)]);
        scene.world.kill_everything();
        send.wait().unwrap();
        scene.model.release("door");

        scene.world.resume(["--all"]).assert_back("coder", "started");
        let again = scene.model.wait_answered("BETA");
        assert_eq!(again.user_texts(), ["BETA [[hold: door]]"]);
        scene.assert_carries("coder", &["BETA [[hold: door]]"], "and now?");
        assert_eq!(scene.model.conversations().len(), 4, "{:#?}", scene.model.exchanges());
    });
}
