//! What the command line accepts and prints: names, lists, tables, JSON.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that fails shall stop at once")]

#[path = "listing/attach.rs"]
mod attach;
#[path = "listing/completion.rs"]
mod completion;
#[path = "listing/ls.rs"]
mod ls;
#[path = "listing/names.rs"]
mod names;
#[path = "listing/several.rs"]
mod several;
#[path = "listing/shape.rs"]
mod shape;
#[path = "listing/watch.rs"]
mod watch;

use segue_testkit::World;

/// Creates a world in which nothing runs yet.
fn world() -> World {
    World::new(env!("CARGO_BIN_EXE_segue"))
}

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
