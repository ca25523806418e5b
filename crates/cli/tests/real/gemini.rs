//! Gemini CLI alone, with its default settings: behaviour that no other vendor has.

mod deleted_transcripts;
mod other_processes;
mod terminal_sizes;
mod trust_question;

use std::path::Path;

use segue_testkit::vendor_scene::VendorScene;
use segue_testkit::vendors::{GeminiHome, command};
use segue_testkit::{CommandOutcome, launches};

/// A world with this vendor's program, and the model that it talks to.
type GeminiScene = VendorScene<GeminiHome>;

/// Creates a world with Gemini CLI, and the model that it talks to.
fn scene() -> GeminiScene {
    crate::scene()
}

/// Runs a turn in the project folder without Segue. At its start Gemini deletes transcripts that it
/// considers empty.
fn turn_without_segue(scene: &GeminiScene, message: &str) {
    let turn = CommandOutcome::of(&mut command(&scene.world, "gemini", ["-p", message]));
    assert_eq!(turn.status, 0, "{turn:#?}");
}

/// Waits until a transcript contains this text.
fn wait_written(transcript: &Path, text: &str) {
    let folder = transcript.parent().unwrap();
    launches::wait_until(&[folder], text, || {
        std::fs::read_to_string(transcript).is_ok_and(|it| it.contains(text))
    });
}
