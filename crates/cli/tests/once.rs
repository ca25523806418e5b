//! A request that changes something is carried out exactly once, even if its connection breaks or
//! the daemon dies.
#![expect(clippy::panic, clippy::unwrap_used, reason = "a test that fails shall stop at once")]

#[path = "once/callers.rs"]
mod callers;
#[path = "once/connections.rs"]
mod connections;
#[path = "once/deaths.rs"]
mod deaths;
#[path = "once/proxy.rs"]
mod proxy;
#[path = "once/wire.rs"]
mod wire;

use segue_testkit::{World, conversation};

/// Returns a world with one agent that is idle.
fn agent(name: &str) -> World {
    let world = World::new(env!("CARGO_BIN_EXE_segue"));
    world.ok(["run", "-d", "--name", name, "hello"]);
    wait_idle(&world, name);
    world
}

fn wait_idle(world: &World, name: &str) {
    assert_eq!(world.ok(["wait", name, "--for", "idle", "--timeout", "170s"]), "idle\n");
}

/// Returns how often this message is in the conversations of this world.
fn times_heard(world: &World, text: &str) -> usize {
    let all = conversation::all(world);
    let said = all.iter().flat_map(|transcript| conversation::said(transcript));
    said.filter(|said| said == text).count()
}
