//! Plans are applied, approved, cancelled and retried.

use segue_testkit::events::Events;
use segue_testkit::world::CommandOutcome;
use segue_testkit::{World, conversation};
use serde_json::{Value, json};

use crate::invariants::TRIED_AGAIN;

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
    Scenario {
        name: "plan-cancel",
        prepare: |world| {
            with_plan(world, "gate = \"person\"\n");
            assert_eq!(apply(world).status, 0);
            wait_state(world, &["waiting"]);
        },
        act: cancel,
        settle: |world| drop(wait_state(world, &["cancelled"])),
        check: |world, outcome| {
            if outcome.status == 0 {
                plan_was_cancelled(world);
            }
        },
        repeat: |world| {
            let again = cancel(world);
            assert_eq!(again.status, 0, "{again:#?}");
            plan_was_cancelled(world);
        },
        ..Scenario::PLAIN
    },
    Scenario {
        name: "plan-retry",
        prepare: |world| {
            with_failing_plan(world, "");
            assert_eq!(apply(world).status, 0);
            wait_state(world, &["failed"]);
            world.write(PASSES, "");
        },
        act: retry,
        settle: |world| drop(wait_ended(world)),
        check: |world, outcome| {
            if outcome.status == 0 {
                retry_was_carried_out_once(world);
            }
        },
        repeat: |world| {
            // The first command may have started the task again.
            let again = retry(world);
            assert!(again.status == 0 || again.stderr.contains("nothing to retry"), "{again:#?}");
            retry_was_carried_out_once(world);
        },
        ..Scenario::PLAIN
    },
    Scenario {
        name: "plan-on-failure",
        prepare: |world| with_failing_plan(world, "on_failure = \"retry\"\nretries = 1\n"),
        act: apply,
        settle: |world| drop(wait_ended(world)),
        check: |world, outcome| {
            if outcome.status == 0 {
                task_failed_after_its_retries(world);
            }
        },
        repeat: |world| {
            let again = apply(world);
            assert_eq!(again.status, 0, "{again:#?}");
            task_failed_after_its_retries(world);
        },
        ..Scenario::PLAIN
    },
];

/// The work of a failing plan succeeds if this file exists.
const PASSES: &str = "passes";

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

/// Writes a plan with one task, which fails although its agent works. The task has further lines.
fn with_failing_plan(world: &World, lines: &str) {
    with_project(world);
    let prompt = prompt(NAME);
    world.write(
        FILE,
        &format!(
            "name = \"release\"\n\n[tasks.first]\nagent = \"{NAME}\"\nprompt = \"{prompt}\"\n\
             verify = \"test -e {PASSES}\"\n{lines}"
        ),
    );
}

fn apply(world: &World) -> CommandOutcome {
    world.segue(["plan", "apply", FILE])
}

fn approve(world: &World) -> CommandOutcome {
    world.segue(["plan", "approve", "release", "second"])
}

fn cancel(world: &World) -> CommandOutcome {
    world.segue(["plan", "cancel", "release"])
}

fn retry(world: &World) -> CommandOutcome {
    world.segue(["plan", "retry", "release", "first"])
}

/// Checks that the plan is cancelled, and that its second task never started.
fn plan_was_cancelled(world: &World) {
    let view = wait_state(world, &["cancelled"]).unwrap();
    assert_eq!(view["tasks"][1]["task"], Value::Null, "{view:#}");
}

/// Checks that the task that was started again is done, and has ended once.
fn retry_was_carried_out_once(world: &World) {
    let view = wait_state(world, &["done"]).unwrap();
    let id = view["tasks"][0]["task"].as_str().unwrap().to_owned();
    let task = &world.json(["task", "show", &id, "--json"])["task"];
    assert_eq!(task["state"], "done", "{task:#}");
    assert_eq!(ends(world, &id).iter().filter(|state| *state == "done").count(), 1);
    agent_was_asked_once_to_try_again(world);
}

/// Checks that the task was retried once, and has failed once.
fn task_failed_after_its_retries(world: &World) {
    let view = wait_state(world, &["failed"]).unwrap();
    let id = view["tasks"][0]["task"].as_str().unwrap().to_owned();
    assert_eq!(ends(world, &id), ["failed"]);
    let reasons = world.ok(["task", "log", &id]);
    assert_eq!(reasons.matches("retry 1 after a failure").count(), 1, "{reasons}");
    agent_was_asked_once_to_try_again(world);
}

/// Checks that the conversations have one message with which a task is tried again.
fn agent_was_asked_once_to_try_again(world: &World) {
    let received = |session: &Value| {
        let id = session["vendor_session_id"].as_str().unwrap();
        conversation::user_messages(&conversation::transcript(world, id).unwrap())
    };
    let all: Vec<String> = world.sessions().iter().flat_map(received).collect();
    let again = all.iter().filter(|text| text.starts_with(TRIED_AGAIN)).count();
    assert_eq!(again, 1, "{all:#?}");
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
    for task in view["tasks"].as_array().unwrap() {
        assert_eq!(ends(world, task["task"].as_str().unwrap()), ["done"], "{task:#}");
    }
}

/// Returns the states with which a task has ended, from the log.
fn ends(world: &World, task: &str) -> Vec<String> {
    let log = world.ok(["log", "--json", "--last", "100000"]);
    let end = |line: &str| {
        let event: Value = serde_json::from_str(line).unwrap();
        let state = event["data"]["state"].as_str().unwrap_or_default().to_owned();
        let is_end = ["done", "failed", "cancelled"].contains(&&*state);
        (event["data"]["task"] == task && is_end).then_some(state)
    };
    log.lines().filter_map(end).collect()
}
