//! Each part is killed or deleted alone. The result is always the one in the recovery table, never
//! a guess, and never a silently empty conversation.
#![expect(clippy::unwrap_used, reason = "a test that fails shall stop at once")]

#[path = "recovery/machines.rs"]
mod machines;
#[path = "recovery/parts.rs"]
mod parts;
#[path = "recovery/places.rs"]
mod places;
#[path = "recovery/salvage.rs"]
mod salvage;
#[path = "recovery/store.rs"]
mod store;
#[path = "recovery/strays.rs"]
mod strays;
#[path = "recovery/tools.rs"]
mod tools;
#[path = "recovery/transcripts.rs"]
mod transcripts;

use segue_testkit::World;

/// Creates a world for the program under test.
fn world() -> World {
    World::new(env!("CARGO_BIN_EXE_segue"))
}
