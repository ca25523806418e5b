//! Tests with the real Copilot, of what only Copilot does. Each session must resume its own
//! conversation. The requests that the scripted model receives prove it. `real.rs` has the tests
//! that are the same for other vendors.
#![expect(clippy::unwrap_used, reason = "a test that fails shall stop at once")]

#[path = "copilot/failures.rs"]
mod failures;
#[path = "copilot/lives.rs"]
mod lives;
#[path = "copilot/losses.rs"]
mod losses;
#[path = "copilot/others.rs"]
mod others;
#[path = "copilot/questions.rs"]
mod questions;

use segue_testkit::vendor_scene::VendorScene;
use segue_testkit::vendors::CopilotHome;

/// Returns a world with Copilot, and the model that it talks to.
fn scene() -> VendorScene<CopilotHome> {
    VendorScene::new(env!("CARGO_BIN_EXE_segue"))
}
