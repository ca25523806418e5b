//! Failed turns: the error message names the cause, and the exit status is 6.

use segue_testkit::scene::event_texts;
use segue_testkit::vendor_scene::{PinnedVendor, VendorScene};

use super::facts::{FailingTurns, KeepsFailedTurn};
use crate::scene;

fn assert_turn_fails<V: PinnedVendor>(
    scene: &VendorScene<V>,
    name: &str,
    (message, cause): (&str, &str),
) {
    let turn = scene.headless(name, message);
    assert_eq!(turn.status, 6, "{message}: {turn:#?}");
    assert!(turn.stderr.contains(cause), "{message}: {turn:#?}");
    let events = event_texts(&scene.world, name, "turn_failed");
    assert_eq!(events.len(), 1, "{events:?}");
}

fn failed_headless_turn_exits_with_6_and_names_the_cause<V: FailingTurns + Sync>() {
    let scene = &scene::<V>();
    scene.home.disable_retries();
    for (number, group) in V::FAILING.chunks(V::CONCURRENT_TURNS).enumerate() {
        std::thread::scope(|all| {
            for (place, failing) in group.iter().enumerate() {
                let name = format!("turn-{number}-{place}");
                all.spawn(move || assert_turn_fails(scene, &name, *failing));
            }
        });
    }
}

test_each!(failed_headless_turn_exits_with_6_and_names_the_cause: claude, codex, copilot, pi);

fn refused_connection_is_reported_and_the_next_turn_continues<V: PinnedVendor>() {
    let scene = scene::<V>();
    scene.home.disable_retries();
    scene.model.refuse();
    assert_turn_fails(&scene, "coder", ("remember ALPHA", "the service cannot be reached"));
    scene.model.accept();
    let next = scene.ask("coder", "are you there?");
    assert_eq!(next.user_texts().first(), Some(&"remember ALPHA"));
}

test_each!(refused_connection_is_reported_and_the_next_turn_continues: claude, codex, copilot, pi);

/// Gemini records the failure in a file of its own, beside the transcript that it resumed.
fn failed_interactive_turn_is_recorded_and_the_agent_goes_on<V: KeepsFailedTurn>() {
    let scene = scene::<V>();
    scene.start("coder", "ALPHA [[status: 401]]");
    let events = || event_texts(&scene.world, "coder", "turn_failed");
    scene.wait_session("coder", |session| session["status"] == "idle" && !events().is_empty());
    assert_eq!(events().len(), 1, "{:?}", events());
    assert!(events()[0].contains("the account was refused"), "{:?}", events());
    let next = scene.ask("coder", "are you there?");
    assert_eq!(next.newest(), "are you there?");
    if V::SENDS_FAILED_MESSAGE {
        assert_eq!(next.user_texts().len(), 2, "{:?}", next.user_texts());
    }
}

test_each!(failed_interactive_turn_is_recorded_and_the_agent_goes_on: codex, copilot, gemini);
