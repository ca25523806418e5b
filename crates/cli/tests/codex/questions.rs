//! Questions that Codex asks: shown as what they are, answered only by a person's command.

use std::process::Command;

use segue_testkit::isolated;

use crate::Scenery;

fn wait_waiting(scenery: &Scenery, reason: &str) {
    scenery.wait_session("coder", |session| {
        session["status"] == "waiting" && session["status_detail"] == reason
    });
}

#[test]
fn a_command_beyond_the_sandbox_waits_for_a_permission_that_can_be_given() {
    isolated(|| {
        let scenery = Scenery::new();
        let message = "ALPHA [[ask: touch made]]";
        scenery.world.ok(["run", "-d", "--name", "coder", "--vendor", "codex", message]);
        wait_waiting(&scenery, "permission");
        assert!(!scenery.world.project().join("made").exists());
        scenery.world.ok(["answer", "coder", "yes"]);
        scenery.wait_idle("coder");
        assert!(scenery.world.project().join("made").exists());
    });
}

#[test]
fn a_folder_that_nobody_trusts_waits_for_trust() {
    isolated(|| {
        let mut scenery = Scenery::new();
        let project = scenery.world.project();
        let made = Command::new("git").args(["init", "--quiet"]).arg(&project).output().unwrap();
        assert!(made.status.success(), "{made:?}");
        scenery.home.distrust(&project);
        scenery.start("coder", "remember ALPHA");
        wait_waiting(&scenery, "trust");
        assert_eq!(scenery.model.exchanges().len(), 0);
        scenery.world.ok(["answer", "coder", "yes"]);
        scenery.model.wait_answered("remember ALPHA");
        scenery.wait_idle("coder");
    });
}
