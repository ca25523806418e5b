//! Questions that Codex asks: the status shows the kind of question, and only a person's command
//! answers it.

use std::process::Command;

use segue_testkit::isolated;

use super::{CodexScene, scene};

fn wait_waiting(scene: &CodexScene, reason: &str) {
    scene.wait_session("coder", |session| {
        session["status"] == "waiting" && session["status_detail"] == reason
    });
}

#[test]
fn command_beyond_the_sandbox_waits_for_permission_and_runs_after_yes() {
    isolated(|| {
        let scene = scene();
        let message = "ALPHA [[ask: touch made]]";
        scene.world.ok(["run", "-d", "--name", "coder", "--vendor", "codex", message]);
        wait_waiting(&scene, "permission");
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
        let project = scene.world.project();
        let made = Command::new("git").args(["init", "--quiet"]).arg(&project).output().unwrap();
        assert!(made.status.success(), "{made:?}");
        scene.home.distrust(&project);
        scene.start("coder", "remember ALPHA");
        wait_waiting(&scene, "trust");
        assert_eq!(scene.model.exchanges().len(), 0);
        scene.world.ok(["answer", "coder", "yes"]);
        scene.model.wait_answered("remember ALPHA");
        scene.wait_idle("coder");
    });
}
