//! Questions that Copilot asks, and interrupted turns.

use segue_testkit::isolated;

use super::scenery;

/// A tool call outside the project. Copilot first asks about the path, and the answer that it
/// preselects there is not the plain yes.
const LOOKS_OUTSIDE: &str = "[[tool: ls /etc]]";

#[test]
fn trust_and_permission_questions_are_answered_and_a_turn_is_interrupted() {
    isolated(|| {
        let scenery = scenery();
        let waits = |reason: &str| {
            scenery.wait_session("coder", |session| {
                session["status"] == "waiting" && session["status_detail"] == reason
            });
        };
        scenery.home.distrust(&scenery.world.project());
        scenery.world.ok(["run", "-d", "--name", "coder", "--vendor", "copilot", "the word"]);
        waits("trust");
        assert_eq!(scenery.model.exchanges().len(), 0);
        scenery.world.ok(["answer", "coder", "yes"]);
        scenery.model.wait_answered("the word");

        for answer in ["yes", "no"] {
            scenery.wait_idle("coder");
            scenery.world.ok(["send", "coder", LOOKS_OUTSIDE]);
            // Copilot asks again: a plain yes allows one tool call, not all later ones.
            waits("permission");
            scenery.world.ok(["answer", "coder", answer]);
        }
        scenery.wait_idle("coder");

        scenery.world.ok(["send", "coder", "slowly [[hold: door]]"]);
        scenery.model.wait_held("door");
        scenery.world.ok(["send", "coder", "--interrupt", "--wait", "stop, this first"]);
        let heard = scenery.model.wait_answered("stop, this first");
        assert_eq!(heard.user_texts().last(), Some(&"stop, this first"));
        assert!(heard.mentions("slowly"), "{heard:#?}");
    });
}
