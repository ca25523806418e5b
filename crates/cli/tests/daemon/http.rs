//! The HTTP API as other programs use it.

mod clients;
mod mcp;
mod problems;
mod resources;
mod streams;
mod terminals;

use segue_testkit::{HttpAnswer, NetworkClient, World};

use crate::world;

/// Creates a world in which the demo agents with these names have answered, and a client with the
/// scopes read, send and work.
fn world_with(names: &[&str]) -> (World, NetworkClient) {
    let world = world();
    for name in names {
        world.ok(["run", "-d", "--vendor", "demo", "--name", name, "hello"]);
        world.ok(["wait", name]);
    }
    let client = NetworkClient::listen(&world);
    let client = client.with_scopes(&world, "program", &["read", "send", "work"]);
    (world, client)
}

/// Returns the value of a header. `None` if the answer does not have it.
fn header<'a>(answer: &'a HttpAnswer, name: &str) -> Option<&'a str> {
    answer.header(name)
}
