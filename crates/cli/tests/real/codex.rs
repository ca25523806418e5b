//! Tests with the real Codex, of what only Codex does. Each session must resume its own
//! conversation. The requests that the scripted model receives prove it. `real.rs` has the tests
//! that are the same for other vendors.

mod lives;
mod losses;
mod others;
mod questions;

use segue_testkit::vendor_scene::VendorScene;
use segue_testkit::vendors::CodexHome;

/// A world with Codex, and the model that it talks to. The transcripts of Codex are called rollouts.
type CodexScene = VendorScene<CodexHome>;

fn scene() -> CodexScene {
    VendorScene::new(env!("CARGO_BIN_EXE_segue"))
}
