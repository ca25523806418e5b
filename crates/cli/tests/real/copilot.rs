//! Copilot CLI alone: behaviour that no other vendor has.

mod deleted_transcripts;
mod failures;
mod other_processes;
mod questions;
mod settings;

use segue_testkit::vendor_scene::VendorScene;
use segue_testkit::vendors::CopilotHome;

/// Creates a world with Copilot CLI, and the model that it talks to.
fn scene() -> VendorScene<CopilotHome> {
    crate::scene()
}
