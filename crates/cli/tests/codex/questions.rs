//! Questions that Codex asks: the status shows the kind of question, and only a person's command
//! answers it.

use std::process::Command;

use segue_testkit::isolated;

use crate::{CodexScene, scenery};

fn wait_waiting(scenery: &CodexScene, reason: &str) {
    scenery.wait_session("coder", |session| {
        session["status"] == "waiting" && session["status_detail"] == reason
    });
}

#[test]
fn command_beyond_the_sandbox_waits_for_permission_and_runs_after_yes() {
    isolated(|| {
        let scenery = scenery();
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
fn untrusted_folder_waits_for_trust_and_starts_after_yes() {
    isolated(|| {
        let mut scenery = scenery();
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
