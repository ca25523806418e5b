//! A failed turn in the middle of a conversation, and the usage limit of a subscription.

use segue_testkit::isolated;
use segue_testkit::scene::event_texts;
use segue_testkit::vendors::subscribe_claude;

use super::scene;

#[test]
fn failed_interactive_turn_is_recorded_and_the_agent_goes_on() {
    isolated(|| {
        let scene = scene();
        scene.start_and_wait("coder", "remember ALPHA");
        scene.world.ok(["send", "coder", "[[status: 500]]"]);
        scene.wait_session("coder", |_| {
            let failures = event_texts(&scene.world, "coder", "turn_failed");
            failures.iter().any(|text| text.contains("the service failed"))
        });
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
