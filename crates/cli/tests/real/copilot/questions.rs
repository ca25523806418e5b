//! Questions that Copilot asks, and interrupted turns.

use segue_testkit::isolated;

use super::scene;
use crate::waits_for;

/// A tool call outside the project. Copilot first asks about the path, and the answer that it
/// preselects there is not the plain yes.
const LIST_OUTSIDE: &str = "[[tool: ls /etc]]";

#[test]
fn trust_and_permission_questions_are_answered_and_a_turn_is_interrupted() {
    isolated(|| {
        let scene = scene();
        let wait_asking = |kind: &str| {
            scene.wait_session("coder", |session| waits_for(session, kind));
        };
        scene.home.distrust(&scene.world.project());
        scene.world.ok(["run", "-d", "--name", "coder", "--vendor", "copilot", "the word"]);
        wait_asking("trust");
        assert_eq!(scene.model.exchanges().len(), 0);
        scene.world.ok(["answer", "coder", "yes"]);
        scene.model.wait_answered("the word");

        for answer in ["yes", "no"] {
            scene.wait_idle("coder");
            scene.world.ok(["send", "coder", LIST_OUTSIDE]);
            // Copilot asks again: a plain yes allows one tool call, not all later ones.
            wait_asking("permission");
            scene.world.ok(["answer", "coder", answer]);
        }
        scene.wait_idle("coder");

        scene.world.ok(["send", "coder", "slowly [[hold: door]]"]);
        scene.model.wait_held("door");
        scene.world.ok(["send", "coder", "--interrupt", "--wait", "stop, this first"]);
        let request = scene.model.wait_answered("stop, this first");
        assert_eq!(request.user_texts().last(), Some(&"stop, this first"));
        assert!(request.mentions("slowly"), "{request:#?}");
    });
}
