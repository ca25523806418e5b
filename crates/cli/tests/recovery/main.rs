//! One part is killed, deleted or damaged. The result is the one in the table of `docs/recovery.md`:
//! never a guess, and never an empty conversation without a report.
#![expect(clippy::unwrap_used, reason = "a panic fails the test")]

mod acceptance;
mod archive;
mod environment;
mod folders;
mod foreign_conversations;
mod machines;
mod processes;
mod salvage;
mod store;
mod tools;
mod transcripts;

use segue_testkit::World;

/// Creates a world for the program under test.
fn world() -> World {
    World::new(env!("CARGO_BIN_EXE_segue"))
}
