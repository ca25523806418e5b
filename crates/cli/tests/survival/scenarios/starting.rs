//! Agents are started, and restarted after a crash.

use segue_testkit::world::CommandOutcome;
use segue_testkit::{World, conversation};

use super::{
    NAME, Scenario, no_outcome, prompt, report_was_true, run_was_true, wait_all, wait_at_rest,
    wait_no_holder, with_project, with_session, word,
};

pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "run",
        act: |world| world.segue(["run", "-d", "--name", NAME, &prompt(NAME)]),
        settle: wait_at_rest,
        check: run_was_true,
        repeat: run_unless_there,
        ..Scenario::PLAIN
    },
    Scenario {
        name: "run-long",
        act: |world| world.segue(["run", "-d", "--name", NAME, &long_prompt()]),
        settle: wait_at_rest,
        check: run_was_true,
        repeat: run_unless_there,
        ..Scenario::PLAIN
    },
    Scenario {
        name: "run-headless",
        act: |world| world.segue(["run", "--headless", "--name", NAME, &prompt(NAME)]),
        settle: wait_no_holder,
        check: turn_was_true,
        repeat: run_headless_unless_there,
        ..Scenario::PLAIN
    },
    Scenario {
        name: "run-own-id",
        act: |world| world.segue(["run", "-d", "--name", NAME, &prompt(NAME), "--", "--own-id"]),
        settle: wait_at_rest,
        check: run_was_true,
        repeat: run_unless_there,
        ..Scenario::PLAIN
    },
    Scenario {
        name: "up",
        prepare: with_project,
        act: |world| world.segue(["up", "--json"]),
        settle: wait_at_rest,
        check: report_was_true,
        repeat: |world| {
            let again = world.segue(["up", "--json"]);
            assert_eq!(again.status, 0, "{again:#?}");
        },
        ..Scenario::PLAIN
    },
    Scenario {
        name: "crash",
        prepare: with_session,
        act: |world| {
            conversation::type_text(world, &world.session(NAME), "/crash\r");
            no_outcome()
        },
        settle: wait_restarted,
        ..Scenario::PLAIN
    },
];

/// Returns a prompt that is too long for an argument of an agent, but not for one of `segue`.
fn long_prompt() -> String {
    format!("{} {}", prompt(NAME), "and this ".repeat(12_000))
}

fn turn_was_true(world: &World, outcome: &CommandOutcome) {
    if outcome.status == 0 {
        assert_eq!(outcome.stdout, format!("I will remember {}.\n", word(NAME)));
        assert_eq!(world.session(NAME)["status"], "idle");
    }
}

fn run_unless_there(world: &World) {
    if world.sessions().is_empty() {
        world.ok(["run", "-d", "--name", NAME, &prompt(NAME)]);
    }
}

fn run_headless_unless_there(world: &World) {
    if world.sessions().is_empty() {
        world.ok(["run", "--headless", "--name", NAME, &prompt(NAME)]);
    }
}

fn wait_restarted(world: &World) {
    wait_all(world, |session| {
        let is_back = session["launches"] == 2 && session["status"] == "idle";
        is_back || session["status"] == "waiting" || session["status"] == "interrupted"
    });
}
