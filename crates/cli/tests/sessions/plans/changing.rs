//! A plan's file is applied again.

use serde_json::json;

use super::{TWO, apply, record, show, task, wait_state, wait_task, world_with_agents};

#[test]
fn same_file_changes_nothing() {
    let world = world_with_agents();
    apply(&world, TWO);
    let done = wait_state(&world, "done");
    let report = apply(&world, TWO);
    assert_eq!((&report["changes"], &report["unchanged"]), (&json!({}), &json!(2)));
    assert_eq!(show(&world), done);
}

#[test]
fn running_task_is_not_restarted_and_the_others_are_replaced() {
    let world = world_with_agents();
    let file = TWO.replace("remember the word amber", "/hang")
        + "[tasks.old]\nneeds = [\"build\"]\n\
        agent = \"coder\"\nprompt = \"never\"\n";
    apply(&world, &file);
    let running = wait_task(&world, "design", "running");
    let next = file.replace("/hang", "/hang 2").replace("The design:", "Changed:");
    let next = next.replace("[tasks.old]", "[tasks.new]");
    let report = apply(&world, &next);
    let expected = json!({
        "design": "deferred", "build": "replaced", "old": "cancelled", "new": "added",
    });
    assert_eq!(report["changes"], expected);
    let view = show(&world);
    assert_eq!(task(&view, "design")["started_at"], running["started_at"]);
    assert_eq!(view["tasks"].as_array().unwrap().len(), 3, "{view:#}");
    world.ok(["task", "cancel", running["task"].as_str().unwrap()]);
    wait_state(&world, "failed");
    // The new definition takes effect with the retry.
    let fixed = next.replace("/hang 2", "remember the word cedar");
    apply(&world, &fixed);
    world.ok(["plan", "retry", "release", "design"]);
    let done = wait_state(&world, "done");
    let prompt = record(&world, &task(&done, "build"))["prompt"].clone();
    assert!(prompt.as_str().unwrap().starts_with("Changed: ```\n"), "{prompt}");
    assert_eq!(record(&world, &task(&done, "design"))["prompt"], "remember the word cedar");
}

#[test]
fn queued_task_that_the_file_does_not_have_is_cancelled_and_a_started_one_stays() {
    let world = world_with_agents();
    let file = r#"
name = "release"
[tasks.first]
agent = "coder"
prompt = "/hang"
[tasks.second]
agent = "coder"
prompt = "hello"
[tasks.third]
agent = "tester"
prompt = "hello"
"#;
    apply(&world, file);
    wait_task(&world, "first", "running");
    let third = wait_task(&world, "third", "done");
    let queued = task(&show(&world), "second");
    let report =
        apply(&world, "name = \"release\"\n[tasks.last]\nagent = \"tester\"\nprompt = \"x\"\n");
    let expected =
        json!({"first": "kept", "second": "cancelled", "third": "kept", "last": "added"});
    assert_eq!(report["changes"], expected);
    assert_eq!(record(&world, &queued)["state"], "cancelled");
    wait_task(&world, "last", "done");
    let view = show(&world);
    assert_eq!(task(&view, "third")["ended_at"], third["ended_at"]);
    assert_eq!(task(&view, "first")["status"], "running");
    world.ok(["task", "cancel", task(&view, "first")["task"].as_str().unwrap()]);
    // A task that the file does not have stops nothing.
    wait_state(&world, "done");
}
