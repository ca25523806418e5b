//! Names that commands accept, and the lists, tables and JSON that they print.

mod attach;
mod completion;
mod json_shape;
mod ls;
mod names;
mod several_names;
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
fn json_lines(text: &str) -> Vec<serde_json::Value> {
    let parse =
        |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    text.lines().map(parse).collect()
}
