//! Codex alone: behaviour that no other vendor has. The transcripts of Codex are called rollouts.

mod concurrent_starts;
mod deleted_transcripts;
mod other_processes;
mod questions;

use segue_testkit::scene::text;
use segue_testkit::vendor_scene::VendorScene;
use segue_testkit::vendors::{CodexHome, command};
use segue_testkit::{CommandOutcome, World};
use serde_json::Value;

/// A world with this vendor's program, and the model that it talks to.
type CodexScene = VendorScene<CodexHome>;

/// Creates a world with Codex, and the model that it talks to.
fn scene() -> CodexScene {
    crate::scene()
}

/// Runs a subcommand of Codex without Segue. Returns the id of its conversation.
pub(crate) fn run_without_segue(world: &World, subcommand: &[&str], arguments: &[&str]) -> String {
    let flags = ["--json", "--skip-git-repo-check"];
    let all = subcommand.iter().chain(&flags).chain(arguments);
    let outcome = CommandOutcome::of(&mut command(world, "codex", all));
    assert_eq!(outcome.status, 0, "{outcome:#?}");
    let started: Value = serde_json::from_str(outcome.stdout.lines().next().unwrap()).unwrap();
    text(&started, "thread_id").to_owned()
}
