//! What becomes of a task whose turn fails, and of a task that lacks variables.

use segue_testkit::scene::{text, write_variables};
use serde_json::json;

use super::{add, received, session, show, wait, world_with_coder};

#[test]
fn crashed_agent_is_brought_back_once_into_its_conversation() {
    let world = world_with_coder();
    let done = wait(&world, &add(&world, "/crash 3"));
    assert_eq!((&done["state"], &done["attempts"]), (&json!("done"), &json!(1)), "{done:#}");
    assert_eq!(session(&world, &done)["launches"], 2);
    let received = received(&world, &done);
    assert_eq!((received.len(), received[0].as_str()), (2, "/crash 3"), "{received:?}");
}

#[test]
fn failed_task_has_a_reason_and_a_retry_continues_its_conversation() {
    let world = world_with_coder();
    let id = add(&world, "/fail");
    let failed = wait(&world, &id);
    assert_eq!(failed["state"], "failed", "{failed:#}");
    assert!(failed["reason"].is_string(), "{failed:#}");
    assert_eq!(world.segue(["task", "wait", &id]).status, 6);
    assert_eq!(failed["attempts"], 1, "a new conversation is not retried: {failed:#}");
    world.ok(["task", "retry", &id]);
    let again = wait(&world, &id);
    assert_eq!(again["session"], failed["session"]);
    assert!(received(&world, &again).len() >= 2, "{again:#}");
    world.ok(["task", "retry", &id, "--fresh"]);
    assert_ne!(wait(&world, &id)["session"], failed["session"]);
}

#[test]
fn resumed_conversation_that_fails_before_the_agent_acted_is_retried_once_in_a_new_one() {
    let world = world_with_coder();
    let first = wait(&world, &add(&world, "remember the word amber"));
    let named = ["task", "add", "--agent", "coder", "--session", text(&first, "address"), "/fail"];
    let failed = wait(&world, world.ok(named).trim());
    assert_eq!(
        (&failed["state"], &failed["attempts"]),
        (&json!("failed"), &json!(2)),
        "{failed:#}"
    );
    assert_ne!(failed["session"], first["session"]);
    assert_eq!(world.sessions().len(), 2);
}

#[test]
fn task_waits_and_names_the_variable_that_no_source_has() {
    let world = world_with_coder();
    write_variables(&world, "API_KEY=given\n");
    let first = wait(&world, &add(&world, "remember the word amber"));
    assert_eq!(first["state"], "done", "{first:#}");
    write_variables(&world, "");
    let named = ["task", "add", "--agent", "coder", "--session", text(&first, "address"), "again"];
    let id = world.ok(named).trim().to_owned();
    let waiting = wait(&world, &id);
    assert_eq!(waiting["state"], "waiting", "{waiting:#}");
    assert!(text(&waiting, "reason").contains("`API_KEY` is missing"), "{waiting:#}");
    write_variables(&world, "API_KEY=given\n");
    world.ok(["task", "retry", &id]);
    assert_eq!(wait(&world, &id)["state"], "done");
    assert_eq!(show(&world, &id)["session"], first["session"]);
}
