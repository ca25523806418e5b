//! Tasks that wait without an agent: for the end of a usage limit, and for an account.

use std::fs;

use jiff::{Timestamp, ToSpan as _};
use segue_testkit::World;
use segue_testkit::scene::text;
use serde_json::Value;

use super::{add, received, session, show, wait_state, world_with_coder};

/// Returns the timestamp in a field of a record.
fn time(record: &Value, field: &str) -> Timestamp {
    text(record, field).parse().unwrap()
}

/// Makes the login shell set this key of the account, for agents that no command starts.
fn write_key(world: &World, key: &str) {
    let settings = "[environment]\nshell = true\n";
    fs::write(world.segue_home().join("config.toml"), settings).unwrap();
    let variables = world.environment();
    let exports = variables.iter().map(|(name, value)| format!("export {name}='{value}'\n"));
    let profile = format!("{}export SEGUE_DEMO_KEY={key}\n", exports.collect::<String>());
    for file in [".profile", ".zprofile"] {
        fs::write(world.home().join(file), &profile).unwrap();
    }
}

#[test]
fn task_goes_on_in_its_conversation_at_the_end_of_the_usage_limit() {
    let world = world_with_coder();
    let until = Timestamp::now() + 3.seconds();
    let id = add(&world, &format!("/limit {until}"));
    let done = wait_state(&world, &id, "done");
    assert!(time(&done, "ended_at") >= until, "{done:#}");
    assert_eq!(done["attempts"], 1, "{done:#}");
    let received = received(&world, &done);
    assert_eq!(received.len(), 2, "it is asked to go on: {received:?}");
    let log = world.ok(["task", "log", &id]);
    assert!(log.contains(&until.to_string()), "the log names the end of the limit: {log}");
}

#[test]
fn other_tasks_of_the_account_wait_for_the_end_of_the_usage_limit() {
    let world = world_with_coder();
    let limited = add(&world, "/limit 2100-01-01T00:00:00Z");
    let waiting = wait_state(&world, &limited, "waiting");
    assert!(text(&waiting, "reason").contains("2100-01-01T00:00:00Z"), "{waiting:#}");
    let other = show(&world, &add(&world, "remember the word amber"));
    assert_eq!(other["state"], "queued", "{other:#}");
    assert!(text(&other, "reason").contains("account"), "{other:#}");
    assert_eq!(other["session"], Value::Null, "nothing was started: {other:#}");
}

#[test]
fn task_of_a_refused_account_waits_and_goes_on_when_the_account_works_again() {
    let world = world_with_coder();
    write_key(&world, "rejected");
    let id = add(&world, "remember the word amber");
    let waiting = wait_state(&world, &id, "waiting");
    assert!(text(&waiting, "reason").contains("the key was rejected"), "{waiting:#}");
    let other = add(&world, "remember the word beryl");
    assert_eq!(show(&world, &other)["state"], "queued", "the account is held");
    write_key(&world, "accepted");
    world.ok(["run", "--headless", "--vendor", "demo", "hello"]);
    let done = wait_state(&world, &id, "done");
    assert_eq!(done["attempts"], 1, "{done:#}");
    assert_eq!(session(&world, &done)["status"], "idle");
    assert_eq!(wait_state(&world, &other, "done")["attempts"], 1);
}
