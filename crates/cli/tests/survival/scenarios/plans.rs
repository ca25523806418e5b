//! Plans are applied and approved.

use segue_testkit::World;
use segue_testkit::events::Events;
use segue_testkit::world::CommandOutcome;
use serde_json::{Value, json};

use super::{NAME, Scenario, prompt, with_project};

const FILE: &str = "release.toml";

pub(super) const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "plan",
        prepare: |world| with_plan(world, ""),
        act: apply,
        settle: |world| drop(wait_ended(world)),
        check: |world, outcome| {
            if outcome.status == 0 {
                plan_was_carried_out_once(world);
            }
        },
        repeat: |world| {
            let again = apply(world);
            assert_eq!(again.status, 0, "{again:#?}");
            plan_was_carried_out_once(world);
        },
        ..Scenario::PLAIN
    },
    Scenario {
        name: "plan-approve",
        prepare: |world| {
            with_plan(world, "gate = \"person\"\n");
            assert_eq!(apply(world).status, 0);
            wait_state(world, &["waiting"]);
        },
        act: approve,
        settle: |world| drop(wait_ended(world)),
        check: |world, outcome| {
            if outcome.status == 0 {
                plan_was_carried_out_once(world);
            }
        },
        repeat: |world| {
            let again = approve(world);
            assert_eq!(again.status, 0, "{again:#?}");
            plan_was_carried_out_once(world);
        },
        ..Scenario::PLAIN
    },
];

/// Writes a plan with two tasks of two agents. The second one has further lines.
fn with_plan(world: &World, lines: &str) {
    with_project(world);
    let (first, second) = (prompt(NAME), prompt("beta"));
    world.write(
        FILE,
        &format!(
            "name = \"release\"\n\n[tasks.first]\nagent = \"{NAME}\"\nprompt = \"{first}\"\n\n\
             [tasks.second]\nneeds = [\"first\"]\nagent = \"beta\"\n\
             prompt = \"{second}, not: {{{{ tasks.first.answer }}}}\"\n{lines}"
        ),
    );
}

fn apply(world: &World) -> CommandOutcome {
    world.segue(["plan", "apply", FILE])
}

fn approve(world: &World) -> CommandOutcome {
    world.segue(["plan", "approve", "release", "second"])
}

/// Waits until the plan has one of these states. `None` if the daemon ends, or there is no plan.
fn wait_state(world: &World, states: &[&str]) -> Option<Value> {
    let mut events = Events::of(world);
    loop {
        let mut command = world.command(["plan", "show", "release", "--json"]);
        let outcome = CommandOutcome::of(command.env_remove("SEGUE_FAILPOINT"));
        let view: Value = serde_json::from_str(&outcome.stdout).ok()?;
        if states.iter().any(|state| view["plan"]["state"] == *state) {
            return Some(view);
        }
        let is_change = |event: &Value| {
            let kind = event["kind"].as_str().unwrap_or_default();
            kind == "task_changed" || kind == "plan_changed"
        };
        events.wait_for(is_change)?;
    }
}

fn wait_ended(world: &World) -> Option<Value> {
    wait_state(world, &["done", "failed", "cancelled", "waiting"])
}

/// Checks that both tasks are done, in their order, with the answer of the first in the prompt of the
/// second.
fn plan_was_carried_out_once(world: &World) {
    let view = wait_state(world, &["done"]).unwrap();
    each_task_ended_once(world);
    let id = view["tasks"][1]["task"].as_str().unwrap().to_owned();
    let second = &world.json(["task", "show", &id, "--json"])["task"];
    assert_eq!((&second["state"], &second["attempts"]), (&json!("done"), &json!(1)), "{second:#}");
    let prompt = second["prompt"].as_str().unwrap();
    assert!(prompt.contains(", not: ```\nI will remember "), "{prompt}");
}

/// Checks that the plan is done, and that each of its tasks has one end in the log.
fn each_task_ended_once(world: &World) {
    let view = wait_state(world, &["done"]).unwrap();
    let log = world.ok(["log", "--json", "--last", "100000"]);
    for task in view["tasks"].as_array().unwrap() {
        let id = task["task"].as_str().unwrap();
        let is_end = |line: &&str| {
            let event: Value = serde_json::from_str(line).unwrap();
            let state = event["data"]["state"].as_str().unwrap_or_default().to_owned();
            event["data"]["task"] == id && ["done", "failed", "cancelled"].contains(&&*state)
        };
        assert_eq!(log.lines().filter(is_end).count(), 1, "{task:#}\n{log}");
    }
}
