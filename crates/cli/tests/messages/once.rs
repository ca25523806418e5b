//! A request that changes something is carried out exactly once, even if its connection breaks or
//! the daemon dies.

mod callers;
mod connections;
mod deaths;
mod proxy;
mod wire;

use segue_testkit::{World, conversation};

use crate::world;

/// Returns a world with one agent that is idle.
fn agent(name: &str) -> World {
    let world = world();
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
