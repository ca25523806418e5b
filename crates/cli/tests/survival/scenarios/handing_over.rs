//! Conversations are handed over.

use segue_testkit::world::CommandOutcome;
use segue_testkit::{World, conversation};
use serde_json::Value;

use super::{MESSAGE, NAME, Scenario, wait_at_rest, with_session};

pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "handoff",
        prepare: with_session,
        act: |world| world.segue(["handoff", NAME, "--to", "demo", "--json"]),
        settle: wait_at_rest,
        check: handoff_was_true,
        repeat: hand_over_again,
        ..Scenario::PLAIN
    },
    Scenario {
        name: "handoff-digest",
        prepare: with_session,
        act: |world| world.segue(["handoff", NAME, "--to", "demo", "--mode", "digest", "--json"]),
        settle: wait_at_rest,
        check: handoff_was_true,
        repeat: hand_over_again,
        ..Scenario::PLAIN
    },
    Scenario {
        name: "handoff-back",
        prepare: with_handed_over_session,
        act: |world| world.segue(["handoff", NEXT, "--to", "demo", "--json"]),
        settle: wait_at_rest,
        check: handoff_was_true,
        repeat: hand_back_again,
        ..Scenario::PLAIN
    },
];

/// The name of the session that continues the conversation after a handoff.
const NEXT: &str = "alpha-demo";

/// Creates a session whose conversation was handed over, and has a message since then.
fn with_handed_over_session(world: &World) {
    with_session(world);
    world.ok(["handoff", NAME, "--to", "demo"]);
    conversation::ask(world, &world.session(NEXT), MESSAGE);
    wait_at_rest(world);
}

fn handoff_was_true(world: &World, outcome: &CommandOutcome) {
    if outcome.status == 0 {
        let report: Value = serde_json::from_str(&outcome.stdout).unwrap();
        let name = report["to"].as_str().unwrap().split('/').next_back().unwrap();
        assert_eq!(world.session(name)["id"], report["session"], "{report:#}");
    }
}

fn hand_over_again(world: &World) {
    if world.sessions().len() == 1 {
        let again = world.segue(["handoff", NAME, "--to", "demo", "--json"]);
        assert_eq!(again.status, 0, "{again:#?}");
    }
}

/// Repeats the handoff back. The message must still be in the conversation only once.
fn hand_back_again(world: &World) {
    let again = world.segue(["handoff", NEXT, "--to", "demo", "--json"]);
    assert_eq!(again.status, 0, "{again:#?}");
    let id = world.session(NAME)["vendor_session_id"].as_str().unwrap().to_owned();
    let received = conversation::user_messages(&conversation::transcript(world, &id).unwrap());
    assert_eq!(received.iter().filter(|text| *text == MESSAGE).count(), 1, "{received:?}");
}
