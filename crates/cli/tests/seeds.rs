//! Acceptance checks of sessions: their identity, their records, how they resume, and losses.
#![expect(clippy::unwrap_used, reason = "a test that fails shall stop at once")]

#[path = "seeds/identity.rs"]
mod identity;
#[path = "seeds/loss.rs"]
mod loss;
#[path = "seeds/records.rs"]
mod records;
#[path = "seeds/resume.rs"]
mod resume;

use segue_testkit::World;

/// Creates a world for the program under test.
fn world() -> World {
    World::new(env!("CARGO_BIN_EXE_segue"))
}
