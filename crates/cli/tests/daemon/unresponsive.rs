//! No command hangs if the daemon is stopping or does not answer, or if a request takes long.

mod in_process_daemon;
mod not_answering;
mod progress;
mod stopping;

use segue_testkit::World;

use crate::world;

/// Starts an agent and waits until it is idle.
fn agent(name: &str) -> World {
    let world = world();
    world.ok(["run", "-d", "--name", name, "hello"]);
    world.ok(["wait", name, "--for", "idle"]);
    world
}

/// Creates a world whose daemon has run and has ended. A test takes its place.
fn world_without_daemon() -> World {
    let world = world();
    world.ok(["daemon", "start"]);
    world.ok(["daemon", "stop"]);
    world
}
