//! Tests with the real Claude Code, of what only Claude Code does. Each session must resume its own
//! conversation. The requests that the scripted model receives prove it. `real.rs` has the tests
//! that are the same for other vendors.

mod cuts;
mod failures;
mod lives;
mod losses;
mod others;
mod places;

use segue_testkit::vendor_scene::VendorScene;
use segue_testkit::vendors::ClaudeHome;

/// A world with Claude Code, and the model that it talks to.
type ClaudeScene = VendorScene<ClaudeHome>;

fn scene() -> ClaudeScene {
    VendorScene::new(env!("CARGO_BIN_EXE_segue"))
}
