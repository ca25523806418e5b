//! Each part is killed or deleted alone. The result is always the one in the recovery table, never
//! a guess, and never a silently empty conversation.
#![expect(clippy::unwrap_used, reason = "a panic fails the test")]

mod acceptance;
mod archive;
mod environment;
mod machines;
mod parts;
mod places;
mod salvage;
mod store;
mod strays;
mod tools;
mod transcripts;

use segue_testkit::World;

/// Creates a world for the program under test.
fn world() -> World {
    World::new(env!("CARGO_BIN_EXE_segue"))
}
