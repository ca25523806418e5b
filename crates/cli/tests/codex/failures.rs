//! Failed turns: the error message names the cause, and the exit status is 6.

use segue_testkit::isolated;
use segue_testkit::scene::told_events;

use crate::Scenery;

#[test]
fn failed_headless_turn_exits_with_6_and_names_the_cause() {
    isolated(|| {
        let scenery = Scenery::new();
        for (number, (message, told)) in [
            ("[[status: 400]]", "the request was refused"),
            ("[[status: 401]]", "the account was refused"),
            ("[[status: 429]]", "usage limit"),
            ("[[limit: 2030-01-01T10:00:00Z]]", "usage limit"),
            ("[[status: 500]]", "the service failed"),
            ("[[cut]]", "the answer broke off"),
        ]
        .into_iter()
        .enumerate()
        {
            let name = format!("turn-{number}");
            let turn = scenery.headless(&name, message);
            assert_eq!(turn.status, 6, "{message}: {turn:#?}");
            assert!(turn.stderr.contains(told), "{message}: {turn:#?}");
            let events = told_events(&scenery.world, &name, "turn_failed");
            assert_eq!(events.len(), 1, "{events:?}");
        }
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
