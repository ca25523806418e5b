//! Turns that fail as only turns of Copilot fail.

use std::process::Command;

use segue_testkit::isolated;
use segue_testkit::scene::{event_texts, pid};

use super::scene;
use crate::waits_for;

#[test]
fn missing_login_fails_a_headless_turn_and_makes_an_interactive_agent_wait() {
    isolated(|| {
        let mut scene = scene();
        for name in ["PROVIDER_BASE_URL", "PROVIDER_API_KEY", "MODEL", "OFFLINE"] {
            scene.world.unset(&format!("COPILOT_{name}"));
        }
        let turn = scene.headless("turn", "remember ALPHA");
        assert_eq!(turn.status, 6, "{turn:#?}");
        assert!(turn.stderr.contains("the account was refused"), "{turn:#?}");
        assert_eq!(event_texts(&scene.world, "turn", "turn_failed").len(), 1);
        scene.start("coder", "remember ALPHA");
        scene.wait_session("coder", |session| waits_for(session, "question"));
    });
}

#[test]
fn terminated_headless_turn_fails_although_the_vendor_exits_with_0() {
    isolated(|| {
        let scene = scene();
        let message = "ALPHA [[hold: door]]";
        let run = ["run", "--vendor", "copilot", "--headless", "--name", "coder", message];
        let mut run = scene.world.start(run);
        scene.model.wait_held("door");
        let session = scene.wait_session("coder", |session| session["pid"].is_u64());
        let pid = pid(&session, "pid").to_string();
        assert!(Command::new("kill").arg(pid).status().unwrap().success());
        assert!(!run.wait().unwrap().success());
        let log = scene.world.ok(["log", "coder"]);
        assert!(log.contains("exit status 0"), "{log}");
    });
}
