//! Turns that fail in ways of Copilot alone.

use std::process::Command;

use segue_testkit::isolated;
use segue_testkit::scene::{process, told_events};

use super::scenery;

#[test]
fn missing_login_fails_a_headless_turn_and_makes_an_interactive_agent_wait() {
    isolated(|| {
        let mut scenery = scenery();
        for name in ["PROVIDER_BASE_URL", "PROVIDER_API_KEY", "MODEL", "OFFLINE"] {
            scenery.world.unset(&format!("COPILOT_{name}"));
        }
        let turn = scenery.headless("turn", "remember ALPHA");
        assert_eq!(turn.status, 6, "{turn:#?}");
        assert!(turn.stderr.contains("the account was refused"), "{turn:#?}");
        assert_eq!(told_events(&scenery.world, "turn", "turn_failed").len(), 1);
        scenery.start("coder", "remember ALPHA");
        scenery.wait_session("coder", |session| {
            session["status"] == "waiting" && session["status_detail"] == "question"
        });
    });
}

#[test]
fn terminated_headless_turn_fails_although_the_vendor_exits_with_0() {
    isolated(|| {
        let scenery = scenery();
        let message = "ALPHA [[hold: door]]";
        let words = ["run", "--vendor", "copilot", "--headless", "--name", "coder", message];
        let mut run = scenery.world.start(words);
        scenery.model.wait_held("door");
        let session = scenery.wait_session("coder", |session| session["pid"].is_u64());
        let pid = process(&session, "pid").to_string();
        assert!(Command::new("kill").arg(pid).status().unwrap().success());
        assert!(!run.wait().unwrap().success());
        let events = scenery.world.ok(["log", "coder"]);
        assert!(events.contains("exit status 0"), "{events}");
    });
}
