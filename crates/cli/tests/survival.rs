//! Any process may be killed at any time: no conversation is lost, and no command reports anything
//! that is not true.
//!
//! `SEGUE_SOAK=1` runs the long form of these tests.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that fails shall stop at once")]
#![expect(clippy::print_stdout, reason = "a test prints how to repeat it")]

#[path = "survival/fleet.rs"]
mod fleet;
#[path = "survival/invariants.rs"]
mod invariants;
#[path = "survival/lives.rs"]
mod lives;
#[path = "survival/matrix.rs"]
mod matrix;
#[path = "survival/points.rs"]
mod points;
#[path = "survival/scenarios.rs"]
mod scenarios;

use std::path::Path;

/// The program under test.
fn program() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_segue"))
}

/// Returns whether `SEGUE_SOAK` asks for the long form of the tests.
fn is_soak() -> bool {
    std::env::var_os("SEGUE_SOAK").is_some_and(|value| value == "1")
}
