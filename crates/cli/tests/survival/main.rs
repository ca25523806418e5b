//! Any process may be killed at any time: no conversation is lost, and no command reports anything
//! that is not true.
//!
//! `SEGUE_SOAK=1` runs the long form of these tests.
#![expect(clippy::panic, clippy::unwrap_used, reason = "a panic fails the test")]
#![expect(clippy::print_stdout, reason = "a test prints how to repeat it")]

mod deliveries;
mod failpoints;
mod fleet;
mod invariants;
mod many_planned_tasks;
mod many_tasks;
mod matrix;
mod scenarios;
mod single_agent;
mod unpassed;

use segue_testkit::World;

/// Creates a world for the program under test.
fn world() -> World {
    World::new(env!("CARGO_BIN_EXE_segue"))
}
