//! Failed turns: the exit status is 6 although Pi itself exits with 0.

use segue_testkit::isolated;
use segue_testkit::scene::told_events;
use serde_json::json;

use crate::scenery;

#[test]
fn retries_of_pi_are_reported_as_one_failure_at_their_end() {
    isolated(|| {
        let scenery = scenery();
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
        let scenery = scenery();
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
