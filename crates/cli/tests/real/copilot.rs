//! Tests with the real Copilot, of what only Copilot does. Each session must resume its own
//! conversation. The requests that the scripted model receives prove it. `real.rs` has the tests
//! that are the same for other vendors.

mod failures;
mod lives;
mod losses;
mod others;
mod questions;

use segue_testkit::vendor_scene::VendorScene;
use segue_testkit::vendors::CopilotHome;

/// Returns a world with Copilot, and the model that it talks to.
fn scenery() -> VendorScene<CopilotHome> {
    VendorScene::new(env!("CARGO_BIN_EXE_segue"))
}
