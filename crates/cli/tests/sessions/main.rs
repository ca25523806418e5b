//! How sessions are started, scaled, adopted, handed over and brought back, alone and with the agents
//! of a project file.
#![expect(clippy::unwrap_used, reason = "a panic fails the test")]

mod accounts;
mod adopt;
mod attention;
mod bringing_back;
mod changed_vendor;
mod cursor;
mod described;
mod dispatch;
mod handoff;
mod housekeeping;
mod loops;
mod plans;
mod renaming;
mod scale;
mod settings;
mod tasks;
mod timers;
mod usage;
mod worktrees;

use segue_testkit::World;

/// Creates a world for the program under test.
fn world() -> World {
    World::new(env!("CARGO_BIN_EXE_segue"))
}
