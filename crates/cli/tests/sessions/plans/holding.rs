//! A plan waits for a person: it is paused, or a task needs an approval.

use segue_testkit::scene::kill_daemon;
use serde_json::json;

use super::{TWO, apply, show, task, wait_plan, wait_state, wait_task, world_with_agents};

#[test]
fn paused_plan_starts_nothing_loses_nothing_and_lets_running_tasks_finish() {
    let world = world_with_agents();
    let file = TWO.replace("remember the word amber", "/slow 0.5")
        + "[tasks.queued]\nagent = \"coder\"\nprompt = \"hello\"\n";
    apply(&world, &file);
    wait_task(&world, "design", "running");
    let view: serde_json::Value = world.json(["plan", "pause", "release", "--json"]);
    assert_eq!(view["plan"]["state"], "paused");
    wait_task(&world, "design", "done");
    kill_daemon(&world);
    let view = show(&world);
    let statuses = ["design", "build", "queued"].map(|name| task(&view, name)["status"].clone());
    assert_eq!(statuses, [json!("done"), json!("ready"), json!("queued")], "{view:#}");
    assert_eq!(task(&view, "queued")["reason"], "its plan is paused");
    // Another task of the same agent does not wait for the tasks of the paused plan.
    world.ok(["task", "add", "--agent", "coder", "--wait", "hello"]);
    assert_eq!(task(&show(&world), "queued")["status"], "queued");
    world.ok(["plan", "resume", "release"]);
    wait_state(&world, "done");
}

#[test]
fn gate_with_and_without_work_waits_for_its_approval() {
    let world = world_with_agents();
    let file = r#"
name = "release"

[tasks.build]
agent = "coder"
prompt = "hello"

[tasks.looked-at]
needs = ["build"]
gate = "person"

[tasks.ship]
needs = ["looked-at"]
gate = "person"
agent = "tester"
prompt = "hello"
"#;
    apply(&world, file);
    let early = world.segue(["plan", "approve", "release", "ship"]);
    assert_ne!(early.status, 0, "{early:#?}");
    let waiting = wait_state(&world, "waiting");
    assert_eq!(task(&waiting, "looked-at")["status"], "approval");
    kill_daemon(&world);
    world.ok(["plan", "approve", "release", "looked-at"]);
    let view = wait_plan(&world, |view| task(view, "ship")["status"] == "approval");
    assert_eq!(task(&view, "looked-at")["status"], "done");
    assert_eq!(view["plan"]["state"], "waiting");
    let again = world.segue(["plan", "approve", "release", "looked-at"]);
    assert_eq!(again.status, 0, "{again:#?}");
    world.ok(["plan", "approve", "release", "ship"]);
    wait_state(&world, "done");
}
