//! A task of a plan fails.

use segue_testkit::NetworkClient;
use serde_json::json;

use super::{apply, record, show, task, wait_plan, wait_state, wait_task, world_with_agents};
use crate::world;

fn file(policy: &str) -> String {
    format!(
        r#"
name = "release"

[tasks.first]
agent = "coder"
prompt = "/fail"
{policy}

[tasks.second]
needs = ["first"]
agent = "tester"
prompt = "it is {{{{ tasks.first.state }}}}"
"#
    )
}

#[test]
fn failure_stops_the_plan_until_the_task_is_retried() {
    let world = world_with_agents();
    let outside = "[tasks.outside]\nneeds = [\"first\"]\nagent = \"coder\"\nprompt = \"x\"\n";
    let file = file("") + outside;
    apply(&world, &file);
    let failed = wait_state(&world, "failed");
    assert_eq!(task(&failed, "first")["status"], "failed");
    assert_eq!(task(&failed, "second")["status"], "skipped");
    let id = task(&failed, "first")["task"].as_str().unwrap().to_owned();
    let refused = world.segue(["task", "retry", &id]);
    assert!(refused.stderr.contains("segue plan retry release first"), "{refused:#?}");
    apply(&world, &file.replace("/fail", "hello"));
    world.ok(["plan", "retry", "release", "first"]);
    let done = wait_state(&world, "done");
    assert_eq!(record(&world, &task(&done, "second"))["prompt"], "it is done");
    assert_eq!(task(&done, "first")["task"], id.as_str());
}

#[test]
fn retry_succeeds_if_the_daemon_dies_after_it_has_recorded_it() {
    let mut world = world_with_agents();
    apply(&world, &file(""));
    wait_state(&world, "failed");
    apply(&world, &file("").replace("/fail", "hello"));
    world.ok(["daemon", "stop"]);
    world.set("SEGUE_FAILPOINT", "plan.change.after");
    world.set("SEGUE_FAILPOINT_ROLE", "daemon");
    // The command sends its request again to the next daemon, which finds the recorded step.
    world.ok(["plan", "retry", "release", "first"]);
    world.unset("SEGUE_FAILPOINT");
    world.unset("SEGUE_FAILPOINT_ROLE");
    let done = wait_state(&world, "done");
    let first = record(&world, &task(&done, "first"));
    assert_eq!((&first["state"], &first["attempts"]), (&json!("done"), &json!(2)), "{first:#}");
}

#[test]
fn plan_goes_on_after_a_failure_that_it_accepts() {
    let world = world_with_agents();
    apply(&world, &file("on_failure = \"continue\""));
    let done = wait_state(&world, "done");
    assert_eq!(task(&done, "first")["status"], "failed");
    assert_eq!(record(&world, &task(&done, "second"))["prompt"], "it is failed");
    assert_eq!(done["plan"]["counts"]["failed"], 1);
}

#[test]
fn failed_task_is_started_again_as_often_as_the_plan_allows() {
    let world = world();
    // Without it, the second prompt of a conversation would not begin with `/fail`.
    world.write("prompts/delta.md", "{{ prompt }}");
    segue_testkit::scene::write_agents(&world, "shop", &["coder", "tester"]);
    apply(&world, &file("on_failure = \"retry\"\nretries = 2"));
    let ended = wait_plan(&world, |view| view["plan"]["state"] != "running");
    assert_eq!(ended["plan"]["state"], "failed", "{ended:#}");
    let first = record(&world, &task(&ended, "first"));
    assert_eq!(first["state"], "failed", "{first:#}");
    let log = world.ok(["log", "--json", "--last", "1000"]);
    let ends = log.lines().filter(|line| {
        line.contains(first["id"].as_str().unwrap()) && line.contains("\"state\":\"failed\"")
    });
    assert_eq!(ends.count(), 1, "{log}");
    let retries = log.lines().filter(|line| line.contains(" after a failure: ")).count();
    assert_eq!(retries, 2, "{log}");
}

#[test]
fn cancelled_plan_ends_its_agents_and_starts_nothing() {
    let world = world_with_agents();
    let file = file("").replace("/fail", "/hang")
        + "[tasks.queued]\nagent = \"coder\"\nprompt = \"hello\"\n";
    apply(&world, &file);
    wait_task(&world, "first", "running");
    world.ok(["plan", "cancel", "release"]);
    let view = wait_state(&world, "cancelled");
    assert_eq!(task(&view, "first")["status"], "cancelled", "{view:#}");
    assert_eq!(task(&view, "queued")["status"], "cancelled", "{view:#}");
    assert_eq!(task(&view, "second")["status"], "skipped", "{view:#}");
    segue_testkit::scene::kill_daemon(&world);
    assert_eq!(show(&world), view);
}

#[test]
fn next_daemon_ends_the_tasks_of_a_plan_if_a_daemon_dies_while_it_cancels_the_plan() {
    let mut world = world_with_agents();
    apply(&world, &file("").replace("/fail", "/hang"));
    wait_task(&world, "first", "running");
    // This client does not send its request again.
    let client = NetworkClient::listen(&world).with_scopes(&world, "once", &["work"]);
    world.ok(["daemon", "stop"]);
    world.set("SEGUE_FAILPOINT", "plan.change.after");
    world.set("SEGUE_FAILPOINT_ROLE", "daemon");
    world.ok(["daemon", "start"]);
    wait_task(&world, "first", "running");
    let answer = client.post("/v1/plans/cancel", &json!({ "plan": "release" }));
    assert_eq!(answer.text, "", "the daemon has died");
    world.unset("SEGUE_FAILPOINT");
    world.unset("SEGUE_FAILPOINT_ROLE");
    wait_task(&world, "first", "cancelled");
    let view = wait_state(&world, "cancelled");
    assert_eq!(task(&view, "second")["status"], "skipped", "{view:#}");
}
