//! No command hangs if the daemon is stopping, if it does not answer, or if a request takes long.
#![expect(clippy::unwrap_used, reason = "tests")]

#[path = "unresponsive/in_process_daemon.rs"]
mod in_process_daemon;
#[path = "unresponsive/progress.rs"]
mod progress;
#[path = "unresponsive/stopped.rs"]
mod stopped;
#[path = "unresponsive/stopping.rs"]
mod stopping;

use segue_testkit::{World, scene};

fn world() -> World {
    World::new(env!("CARGO_BIN_EXE_segue"))
}

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
