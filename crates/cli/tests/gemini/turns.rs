//! Failed turns, and questions before the first turn.

use segue_testkit::isolated;
use segue_testkit::scene::told_events;

use crate::Place;

#[test]
fn failed_interactive_turn_is_recorded_and_the_agent_goes_on() {
    isolated(|| {
        let place = Place::new();
        // Gemini records the failure in a file of its own, beside the transcript that it resumed.
        place.start("coder", "ALPHA [[status: 401]]");
        let events = |kind: &str| told_events(&place.world, "coder", kind);
        place.wait_session("coder", |session| {
            session["status"] == "idle" && !events("turn_failed").is_empty()
        });
        assert!(events("turn_failed")[0].contains("the account was refused"));
        let next = place.ask("coder", "are you there?");
        assert_eq!(next.newest(), "are you there?");
    });
}

#[test]
fn untrusted_folder_fails_a_headless_turn_and_makes_an_interactive_agent_wait() {
    isolated(|| {
        let place = Place::new();
        place.home.distrust(&place.world.project());
        let turn = place.headless("turn", "remember ALPHA");
        assert_eq!(turn.status, 6, "{turn:#?}");
        assert!(turn.stderr.contains("trusted directory"), "{turn:#?}");
        assert_eq!(place.model.exchanges().len(), 0);
        let started = place.run(&["-d", "--name", "coder"]);
        assert_eq!(started.status, 0, "{started:#?}");
        place.wait_session("coder", |session| {
            session["status"] == "waiting" && session["status_detail"] == "trust"
        });
        place.world.ok(["answer", "coder", "yes"]);
        place.wait_idle("coder");
        place.assert_carries("coder", &[], "remember ALPHA");
    });
}
