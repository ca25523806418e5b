//! Agents that messages can be sent to, and the messages that they received.

use segue_testkit::{CommandOutcome, World, conversation};
use serde_json::Value;

use crate::world;

/// Creates a world with an agent, and waits until the agent is ready.
pub(crate) fn agent(name: &str) -> World {
    let world = world();
    start_agent(&world, name);
    world
}

/// Starts another agent and waits until it is ready.
pub(crate) fn start_agent(world: &World, name: &str) {
    world.ok(["run", "-d", "--name", name, "hello"]);
    wait_idle(world, name);
}

/// Creates a world with a headless session whose first turn is over.
pub(crate) fn headless(name: &str) -> World {
    let world = world();
    world.ok(["run", "--headless", "--name", name, "hello"]);
    world
}

/// Waits until an agent is idle and has no queued messages.
pub(crate) fn wait_idle(world: &World, name: &str) {
    assert_eq!(world.ok(["wait", name, "--for", "idle", "--timeout", "170s"]), "idle\n");
}

/// Waits until an agent asks a question of this kind.
pub(crate) fn wait_asking(world: &World, name: &str, kind: &str) {
    let shown = world.ok(["wait", name, "--for", "waiting", "--timeout", "170s"]);
    assert_eq!(shown, format!("waiting ({kind})\n"));
}

/// Returns all user messages in the conversations of this world.
pub(crate) fn received(world: &World) -> Vec<String> {
    let all = conversation::transcripts(world);
    all.iter().flat_map(|transcript| conversation::user_messages(transcript)).collect()
}

/// Returns how often this message is in the conversations of this world.
pub(crate) fn times_received(world: &World, text: &str) -> usize {
    received(world).iter().filter(|message| *message == text).count()
}

/// Checks that exactly these user messages follow the first one, in this order.
#[track_caller]
pub(crate) fn assert_received(world: &World, expected: &[&str]) {
    assert_eq!(received(world)[1..], *expected);
}

/// Returns all messages that `segue messages` lists.
pub(crate) fn messages(world: &World) -> Vec<Value> {
    world.json(["messages", "--json"])["messages"].as_array().unwrap().clone()
}

/// Returns the states of all messages, the oldest first.
pub(crate) fn states(world: &World) -> Vec<String> {
    messages(world).iter().map(|it| it["state"].as_str().unwrap().to_owned()).collect()
}

/// Checks that a command failed with this exit status, and that its error begins with this text.
#[track_caller]
pub(crate) fn assert_error(outcome: &CommandOutcome, status: i32, error: &str) {
    assert_eq!((outcome.status, outcome.stdout.as_str()), (status, ""), "{outcome:#?}");
    assert!(outcome.stderr.starts_with(&format!("error: {error}")), "{outcome:#?}");
}

/// Checks that `segue send` reported that its message is queued. Returns the id of the message.
#[track_caller]
pub(crate) fn assert_queued(outcome: &CommandOutcome) -> String {
    assert_eq!(outcome.status, 4, "{outcome:#?}");
    let first = outcome.stderr.lines().next().unwrap();
    first.split_once("queued as ").unwrap().1.to_owned()
}
