//! Failed turns: the error message names the cause, and the exit status is 6 although Pi itself
//! exits with 0.

use segue_testkit::isolated;
use segue_testkit::scene::told_events;
use serde_json::json;

use crate::Scenery;

#[test]
fn failed_headless_turn_exits_with_6_and_names_the_cause() {
    isolated(|| {
        let scenery = Scenery::new();
        // Each retry would wait twice as long as the one before.
        scenery.home.change(|settings| settings["retry"] = json!({"enabled": false}));
        for (number, (message, told)) in [
            ("[[status: 400]]", "the request was refused"),
            ("[[status: 401]]", "the account was refused"),
            ("[[limit: 2030-01-01T10:00:00Z]]", "usage limit"),
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
        scenery.model.refuse();
        let turn = scenery.headless("refused", "remember ALPHA");
        assert_eq!(turn.status, 6, "{turn:#?}");
        assert!(turn.stderr.contains("the service cannot be reached"), "{turn:#?}");
        scenery.model.accept();
        let next = scenery.ask("refused", "are you there?");
        assert_eq!(next.user_texts().first(), Some(&"remember ALPHA"));
    });
}

#[test]
fn retries_of_pi_are_reported_as_one_failure_at_their_end() {
    isolated(|| {
        let scenery = Scenery::new();
        let quick = json!({"enabled": true, "maxRetries": 2, "baseDelayMs": 50});
        scenery.home.change(|settings| settings["retry"] = quick);
        scenery.start("coder", "ALPHA [[status: 500]]");
        let events = |kind: &str| told_events(&scenery.world, "coder", kind);
        scenery.wait_session("coder", |session| {
            session["status"] == "idle" && !events("turn_failed").is_empty()
        });
        assert_eq!(events("turn_failed").len(), 1, "{:?}", events("turn_failed"));
        assert!(events("turn_failed")[0].contains("the service failed"));
        assert!(scenery.model.exchanges().len() >= 3, "{:?}", scenery.model.exchanges());
        let next = scenery.ask("coder", "are you there?");
        assert_eq!(next.user_texts(), ["ALPHA [[status: 500]]", "are you there?"]);
    });
}

#[test]
fn missing_api_key_is_reported_as_a_failed_turn() {
    isolated(|| {
        let scenery = Scenery::new();
        std::fs::remove_file(scenery.home.folder().join("models.json")).unwrap();
        let turn = scenery.headless("alone", "hello");
        assert_eq!(turn.status, 6, "{turn:#?}");
        assert!(turn.stderr.contains("No API key found"), "{turn:#?}");
        scenery.start("coder", "hello");
        let events = || told_events(&scenery.world, "coder", "turn_failed");
        scenery
            .wait_session("coder", |session| session["status"] == "idle" && !events().is_empty());
        assert!(events()[0].contains("No API key found"), "{:?}", events());
    });
}
