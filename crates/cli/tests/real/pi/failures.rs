//! Failed turns: the exit status is 6 although Pi itself exits with 0.

use segue_testkit::isolated;
use segue_testkit::scene::event_texts;
use serde_json::json;

use super::scene;

#[test]
fn retries_of_pi_are_reported_as_one_failure_at_their_end() {
    isolated(|| {
        let scene = scene();
        let quick = json!({"enabled": true, "maxRetries": 2, "baseDelayMs": 50});
        scene.home.change(|settings| settings["retry"] = quick);
        scene.start("coder", "ALPHA [[status: 500]]");
        let events = |kind: &str| event_texts(&scene.world, "coder", kind);
        scene.wait_session("coder", |session| {
            session["status"] == "idle" && !events("turn_failed").is_empty()
        });
        assert_eq!(events("turn_failed").len(), 1, "{:?}", events("turn_failed"));
        assert!(events("turn_failed")[0].contains("the service failed"));
        assert!(scene.model.exchanges().len() >= 3, "{:?}", scene.model.exchanges());
        let next = scene.ask("coder", "are you there?");
        assert_eq!(next.user_texts(), ["ALPHA [[status: 500]]", "are you there?"]);
    });
}

#[test]
fn missing_api_key_is_reported_as_a_failed_turn() {
    isolated(|| {
        let scene = scene();
        std::fs::remove_file(scene.home.folder().join("models.json")).unwrap();
        let turn = scene.headless("alone", "hello");
        assert_eq!(turn.status, 6, "{turn:#?}");
        assert!(turn.stderr.contains("No API key found"), "{turn:#?}");
        scene.start("coder", "hello");
        let events = || event_texts(&scene.world, "coder", "turn_failed");
        scene.wait_session("coder", |session| session["status"] == "idle" && !events().is_empty());
        assert!(events()[0].contains("No API key found"), "{:?}", events());
    });
}
