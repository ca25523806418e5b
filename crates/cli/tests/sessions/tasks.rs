//! Tasks: queued work that starts without a person, one after another, and is never lost.

mod agents;
mod children;
mod failures;
mod questions;
mod queue;
mod reports;
mod restarts;
mod ssh;
mod verify;
mod waits;
mod worktrees;

use segue_testkit::scene::{self, text};
use segue_testkit::{World, conversation};
use serde_json::Value;

use crate::world;

/// Creates a world with a trusted project whose agent is `coder`.
fn world_with_coder() -> World {
    let world = world();
    scene::write_shop(&world, "");
    world
}

/// Adds a task for `coder`, and returns its id.
fn add(world: &World, prompt: &str) -> String {
    world.ok(["task", "add", "--agent", "coder", prompt]).trim().to_owned()
}

/// Waits until a task has ended or needs a person, and returns its record.
fn wait(world: &World, task: &str) -> Value {
    let outcome = world.segue(["task", "wait", task, "--json"]);
    let report: Value = serde_json::from_str(&outcome.stdout).unwrap();
    report["task"].clone()
}

/// Returns the record of a task.
fn show(world: &World, task: &str) -> Value {
    world.json(["task", "show", task, "--json"])["task"].clone()
}

/// Waits until the task has this state. Looks again after each event.
fn wait_state(world: &World, task: &str, state: &str) -> Value {
    let mut events = segue_testkit::events::Events::of(world);
    loop {
        let found = show(world, task);
        if found["state"] == state {
            return found;
        }
        events.wait_for(|event| event["kind"] == "task_changed").unwrap();
    }
}

/// Returns the messages that the agent of a task's session has got.
fn received(world: &World, task: &Value) -> Vec<String> {
    let session = session(world, task);
    let transcript = conversation::transcript(world, text(&session, "vendor_session_id")).unwrap();
    conversation::user_messages(&transcript)
}

/// Returns the session of a task.
fn session(world: &World, task: &Value) -> Value {
    let sessions = world.sessions();
    let found = sessions.iter().find(|session| session["session"] == task["session"]);
    assert!(found.is_some(), "no session of {task:#}");
    found.cloned().unwrap()
}
