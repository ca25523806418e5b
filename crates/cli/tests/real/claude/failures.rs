//! Failed turns in the middle of a conversation, and of a subscription.

use segue_testkit::isolated;
use segue_testkit::scene::told_events;
use segue_testkit::vendors::subscribe_claude;

use super::scene;

#[test]
fn failed_interactive_turn_is_recorded_and_the_agent_goes_on() {
    isolated(|| {
        let scene = scene();
        scene.told("coder", "remember ALPHA");
        scene.world.ok(["send", "coder", "[[status: 500]]"]);
        let is_told = |_: &serde_json::Value| {
            let told = told_events(&scene.world, "coder", "turn_failed");
            told.iter().any(|text| text.contains("the service failed"))
        };
        scene.wait_session("coder", is_told);
        scene.wait_idle("coder");
        let next = scene.ask("coder", "and now?");
        assert_eq!(next.user_texts()[0], "remember ALPHA");
    });
}

#[test]
fn usage_limit_error_names_the_end_of_the_limit() {
    isolated(|| {
        let mut scene = scene();
        subscribe_claude(&mut scene.world);
        let run = scene.headless("coder", "[[limit: 2030-01-01T10:00:00Z]]");
        assert_eq!(run.status, 6, "{run:#?}");
        assert!(run.stderr.contains("usage limit"), "{run:#?}");
        assert!(run.stderr.contains("2030-01-01T10:00:00Z"), "{run:#?}");
        let run = scene.headless("busy", "[[status: 429]]");
        assert!(run.stderr.contains("the service failed"), "{run:#?}");
    });
}
