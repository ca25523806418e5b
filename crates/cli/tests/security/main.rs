//! What agents, repositories and project files must not be able to do.
#![expect(clippy::unwrap_used, reason = "a panic fails the test")]

mod credentials;
mod network;
mod private_texts;
mod rights;
mod scope;
mod tls;
mod untrusted;
mod web;
mod webhooks;

use segue_testkit::World;

/// Creates a world for the program under test.
fn world() -> World {
    World::new(env!("CARGO_BIN_EXE_segue"))
}
