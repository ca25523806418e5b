//! A message to an agent arrives exactly once, whichever process dies, and never in a wrong place.
//!
//! The transcripts are the evidence. `SEGUE_SOAK=1` runs longer forms of these tests.
#![expect(clippy::panic, clippy::unwrap_used, reason = "a panic fails the test")]
#![expect(clippy::print_stdout, reason = "a test prints how to repeat it")]

mod acp;
mod commands;
mod dialogs;
mod drafts;
mod first_questions;
mod headless;
mod interrupting;
mod mcp;
mod once;
mod queue;
mod random_kills;
mod scene;
mod scope;
mod texts;
mod uncertain;
mod waiters;

use segue_testkit::World;

/// Creates a world for the program under test.
fn world() -> World {
    World::new(env!("CARGO_BIN_EXE_segue"))
}
