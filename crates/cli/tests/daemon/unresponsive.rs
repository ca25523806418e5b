//! No command hangs if the daemon is stopping, if it does not answer, or if a request takes long.

mod in_process_daemon;
mod progress;
mod stopped;
mod stopping;

use segue_testkit::{World, scene};

use crate::world;

/// Starts an agent and waits until it is idle.
fn agent(name: &str) -> World {
    let world = world();
    world.ok(["run", "-d", "--name", name, "hello"]);
    world.ok(["wait", name, "--for", "idle"]);
    world
}

/// Returns the pid of the daemon.
fn daemon(world: &World) -> u32 {
    scene::process(&world.json(["daemon", "status", "--json"]), "pid")
}
