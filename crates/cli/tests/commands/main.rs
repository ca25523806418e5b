//! What commands accept, print and report: their arguments, output, errors and exit statuses.
#![expect(clippy::panic, clippy::unwrap_used, reason = "a panic fails the test")]

mod attach;
mod bad_input;
mod editor;
mod failed_starts;
mod hook;
mod listing;
mod mcp_page;
mod readme;
mod show;
mod terminal_size;
mod vendors;
mod without_daemon;

use segue_testkit::World;

/// Creates a world for the program under test.
fn world() -> World {
    World::new(env!("CARGO_BIN_EXE_segue"))
}
