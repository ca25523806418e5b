//! The daemon and its clients: many at the same time, and processes that are stopped, do not answer or
//! cannot be reached.
#![expect(clippy::panic, clippy::unwrap_used, reason = "a panic fails the test")]

mod concurrency;
mod http;
mod inspector;
mod mcp_conformance;
mod serve;
mod unreachable;
mod unresponsive;
mod watches;

use segue_testkit::World;

/// Creates a world for the program under test.
fn world() -> World {
    World::new(env!("CARGO_BIN_EXE_segue"))
}
