//! A kill in the middle of the first turn of a conversation that Pi started itself.

use segue_testkit::isolated;

use crate::{begin_another, scenery};

/// Pi writes no transcript of a conversation that it started itself until its first answer.
#[test]
fn killed_first_turn_without_a_transcript_is_sent_again_once() {
    isolated(|| {
        let scenery = scenery();
        let before = scenery.told("coder", "remember ALPHA");
        begin_another(&scenery, "coder", &before);
        let mut send = scenery.world.start(["send", "coder", "BETA [[hold: door]]"]);
        scenery.model.wait_held("door");
        assert_eq!(scenery.transcripts(), [scenery.transcript(&before)]);
        scenery.world.kill_everything();
        send.wait().unwrap();
        scenery.model.release("door");

        scenery.world.resume(["--all"]).assert_back("coder", "started");
        let again = scenery.model.wait_answered("BETA");
        assert_eq!(again.user_texts(), ["BETA [[hold: door]]"]);
        scenery.assert_carries("coder", &["BETA [[hold: door]]"], "and now?");
        assert_eq!(scenery.model.conversations().len(), 4, "{:#?}", scenery.model.exchanges());
    });
}
