//! Questions that Codex asks: the status shows the kind of question, and only a person's command
//! answers it.

use segue_testkit::isolated;

use super::scene;
use crate::{git_init, waits_for};

#[test]
fn command_beyond_the_sandbox_waits_for_permission_and_runs_after_yes() {
    isolated(|| {
        let scene = scene();
        let message = "ALPHA [[ask: touch made]]";
        scene.world.ok(["run", "-d", "--name", "coder", "--vendor", "codex", message]);
        scene.wait_session("coder", |session| waits_for(session, "permission"));
        assert!(!scene.world.project().join("made").exists());
        scene.world.ok(["answer", "coder", "yes"]);
        scene.wait_idle("coder");
        assert!(scene.world.project().join("made").exists());
    });
}

#[test]
fn untrusted_folder_waits_for_trust_and_starts_after_yes() {
    isolated(|| {
        let mut scene = scene();
        git_init(&scene.world);
        scene.home.distrust(&scene.world.project());
        scene.start("coder", "remember ALPHA");
        scene.wait_session("coder", |session| waits_for(session, "trust"));
        assert_eq!(scene.model.exchanges().len(), 0);
        scene.world.ok(["answer", "coder", "yes"]);
        scene.model.wait_answered("remember ALPHA");
        scene.wait_idle("coder");
    });
}
