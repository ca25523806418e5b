//! Tests with the real Gemini CLI in a home with default settings, of what only Gemini does. Each
//! session must resume its own conversation. The requests that the scripted model receives prove it.
//! `real.rs` has the tests that are the same for other vendors.

mod losses;
mod others;
mod sizes;
mod turns;

use std::path::Path;

use segue_testkit::vendor_scene::VendorScene;
use segue_testkit::vendors::{GeminiHome, command};
use segue_testkit::{CommandOutcome, launches};

/// A world with Gemini, and the model that it talks to.
type GeminiScene = VendorScene<GeminiHome>;

fn scene() -> GeminiScene {
    VendorScene::new(env!("CARGO_BIN_EXE_segue"))
}

/// Runs a turn without Segue in the project's folder. At its start Gemini deletes transcripts that
/// it considers empty.
fn by_hand(scene: &GeminiScene, words: &[&str]) {
    let turn = CommandOutcome::of(&mut command(&scene.world, "gemini", words));
    assert_eq!(turn.status, 0, "{turn:#?}");
}

/// Waits until a transcript contains this text.
fn wait_written(transcript: &Path, text: &str) {
    let folder = transcript.parent().unwrap();
    launches::wait_until(&[folder], text, || {
        std::fs::read_to_string(transcript).is_ok_and(|it| it.contains(text))
    });
}
