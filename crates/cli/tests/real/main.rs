//! Tests with vendors' real programs. Each session must resume its own conversation. The requests that
//! the scripted model receives prove it.
//!
//! `shared` has the tests that are the same for several vendors. The module of a vendor has the tests
//! of what only that vendor does.
#![expect(clippy::panic, clippy::unwrap_used, reason = "a panic fails the test")]
#![expect(clippy::print_stdout, reason = "a test prints how to repeat it")]

mod claude;
mod codex;
mod conformance;
mod copilot;
mod every_vendor;
mod gemini;
mod handoffs;
mod journey;
mod opencode;
mod pi;
mod shared;
mod turns;

use segue_testkit::World;

/// Creates a world for the program under test.
fn world() -> World {
    World::new(env!("CARGO_BIN_EXE_segue"))
}
