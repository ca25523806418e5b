//! The question whether the folder is trusted, before the first turn.

use segue_testkit::isolated;

use super::scene;
use crate::waits_for;

#[test]
fn untrusted_folder_fails_a_headless_turn_and_makes_an_interactive_agent_wait() {
    isolated(|| {
        let scene = scene();
        scene.home.distrust(&scene.world.project());
        let turn = scene.headless("turn", "remember ALPHA");
        assert_eq!(turn.status, 6, "{turn:#?}");
        assert!(turn.stderr.contains("trusted directory"), "{turn:#?}");
        assert_eq!(scene.model.exchanges().len(), 0);
        let started = scene.run(&["-d", "--name", "coder"]);
        assert_eq!(started.status, 0, "{started:#?}");
        scene.wait_session("coder", |session| waits_for(session, "trust"));
        scene.world.ok(["answer", "coder", "yes"]);
        scene.wait_idle("coder");
        scene.assert_carries("coder", &[], "remember ALPHA");
    });
}
