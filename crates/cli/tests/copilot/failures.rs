//! Failed turns: the error message names the cause, and the exit status is 6.

use std::process::Command;

use segue_testkit::isolated;
use segue_testkit::scene::{process, told_events};

use crate::Scenery;

/// The name of a session, the message that makes its turn fail, and the expected error.
const FAILURES: [(&str, &str, &str); 5] = [
    ("request", "[[status: 400]]", "the request was refused"),
    ("account", "[[status: 401]]", "the account was refused"),
    ("limit", "[[status: 429]]", "usage limit"),
    ("service", "[[status: 500]]", "the service failed"),
    ("stream", "[[cut]]", "the answer broke off"),
];

fn fails(scenery: &Scenery, (name, message, told): (&str, &str, &str)) {
    let turn = scenery.headless(name, message);
    assert_eq!(turn.status, 6, "{message}: {turn:#?}");
    assert!(turn.stderr.contains(told), "{message}: {turn:#?}");
    let events = told_events(&scenery.world, name, "turn_failed");
    assert_eq!(events.len(), 1, "{events:?}");
}

#[test]
fn failed_headless_turn_exits_with_6_and_names_the_cause() {
    isolated(|| {
        let scenery = &Scenery::new();
        // In parallel, because Copilot waits long between its own retries.
        std::thread::scope(|all| {
            for failure in FAILURES {
                all.spawn(move || fails(scenery, failure));
            }
        });
    });
}

#[test]
fn missing_login_fails_a_headless_turn_and_makes_an_interactive_agent_wait() {
    isolated(|| {
        let mut scenery = Scenery::new();
        for name in ["PROVIDER_BASE_URL", "PROVIDER_API_KEY", "MODEL", "OFFLINE"] {
            scenery.world.unset(&format!("COPILOT_{name}"));
        }
        fails(&scenery, ("turn", "remember ALPHA", "the account was refused"));
        scenery.start("coder", "remember ALPHA");
        scenery.wait_session("coder", |session| {
            session["status"] == "waiting" && session["status_detail"] == "question"
        });
    });
}

#[test]
fn refused_connection_is_reported_and_the_next_turn_continues_the_conversation() {
    isolated(|| {
        let scenery = Scenery::new();
        scenery.model.refuse();
        let turn = scenery.headless("coder", "remember ALPHA");
        assert_eq!(turn.status, 6, "{turn:#?}");
        assert!(turn.stderr.contains("the service cannot be reached"), "{turn:#?}");
        scenery.model.accept();
        scenery.world.ok(["send", "coder", "are you there?"]);
        let next = scenery.model.wait_answered("are you there?");
        assert_eq!(next.user_texts().first(), Some(&"remember ALPHA"));
    });
}

#[test]
fn failed_interactive_turn_is_recorded_and_the_agent_goes_on() {
    isolated(|| {
        let scenery = Scenery::new();
        scenery.start("coder", "ALPHA [[status: 401]]");
        let events = |kind: &str| told_events(&scenery.world, "coder", kind);
        scenery.wait_session("coder", |session| {
            session["status"] == "idle" && !events("turn_failed").is_empty()
        });
        assert_eq!(events("turn_failed").len(), 1, "{:?}", events("turn_failed"));
        assert!(events("turn_failed")[0].contains("the account was refused"));
        let next = scenery.ask("coder", "are you there?");
        assert_eq!(next.user_texts().len(), 2);
    });
}

#[test]
fn terminated_headless_turn_fails_although_the_vendor_exits_with_0() {
    isolated(|| {
        let scenery = Scenery::new();
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
