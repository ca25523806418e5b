//! Any process may be killed at any time: no conversation is lost, and no command reports anything
//! that is not true.
//!
//! `SEGUE_SOAK=1` runs the long form of these tests.
#![expect(clippy::panic, clippy::unwrap_used, reason = "a panic fails the test")]
#![expect(clippy::print_stdout, reason = "a test prints how to repeat it")]

mod fleet;
mod invariants;
mod lives;
mod matrix;
mod points;
mod scenarios;

use segue_testkit::World;

/// Creates a world for the program under test.
fn world() -> World {
    World::new(env!("CARGO_BIN_EXE_segue"))
}

/// Returns whether `SEGUE_SOAK` asks for the long form of the tests.
fn is_soak() -> bool {
    std::env::var_os("SEGUE_SOAK").is_some_and(|value| value == "1")
}
