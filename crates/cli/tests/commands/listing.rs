//! What the command line accepts and prints: names, lists, tables, JSON.

mod attach;
mod completion;
mod ls;
mod names;
mod several;
mod shape;
mod watch;

use segue_testkit::World;

use crate::world;

/// Starts agents and waits until each of them is idle.
fn agents(names: &[&str]) -> World {
    let world = world();
    for name in names {
        world.ok(["run", "-d", "--name", name, "hello"]);
    }
    for name in names {
        world.ok(["wait", name, "--for", "idle", "--timeout", "170s"]);
    }
    world
}

/// Parses output in which each line is JSON.
fn lines(text: &str) -> Vec<serde_json::Value> {
    let read =
        |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    text.lines().map(read).collect()
}
