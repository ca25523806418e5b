//! Claude Code alone: behaviour that no other vendor has.

mod costs;
mod deleted_transcripts;
mod failures;
mod folders;
mod interrupted_turns;
mod other_processes;
pub(crate) mod questions;
mod resume;

use segue_testkit::vendor_scene::VendorScene;
use segue_testkit::vendors::ClaudeHome;

/// A world with this vendor's program, and the model that it talks to.
type ClaudeScene = VendorScene<ClaudeHome>;

/// Creates a world with Claude Code, and the model that it talks to.
fn scene() -> ClaudeScene {
    crate::scene()
}
