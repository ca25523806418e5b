//! Tests with vendors' real programs. Each session must resume its own conversation. The requests that
//! the scripted model receives prove it.
//!
//! `shared` has the tests that are the same for several vendors. The module of a vendor has the tests
//! of what only that vendor does.
#![expect(clippy::panic, clippy::unwrap_used, reason = "a panic fails the test")]
#![expect(clippy::print_stdout, reason = "a test prints how to repeat it")]

mod claude;
mod codex;
mod conformance;
mod copilot;
mod every_vendor;
mod gemini;
mod handoffs;
mod journey;
mod opencode;
mod pi;
mod screens;
mod shared;
mod supervisor;
mod turns;

use std::process::Command;

use segue_testkit::vendor_scene::{PinnedVendor, VendorScene};
use segue_testkit::vendors::with_all;
use segue_testkit::{CommandOutcome, Model, World};
use serde_json::Value;

/// Creates a world for the program under test.
fn world() -> World {
    World::new(env!("CARGO_BIN_EXE_segue"))
}

/// Returns a world with the vendor's program, the model that it talks to, and the arguments of
/// `segue run` that let the program act without asking.
fn scene<V: PinnedVendor>() -> VendorScene<V> {
    VendorScene::new(env!("CARGO_BIN_EXE_segue"))
}

/// Creates a world with the vendor's program, and the model that it talks to.
fn with_vendor<V: PinnedVendor>() -> (World, Model) {
    let (mut world, model) = (world(), Model::start());
    drop(V::install(&mut world, &model));
    (world, model)
}

/// Creates a world with the programs of all these vendors, and the model that they talk to.
fn with_vendors(vendors: &[&str]) -> (World, Model) {
    let (mut world, model) = (world(), Model::start());
    with_all(&mut world, &model, vendors);
    (world, model)
}

/// Returns the pid in the note of a resume that was refused because another process has the
/// conversation open.
fn pid_of_opener(refused: &CommandOutcome) -> u32 {
    let (_, note) = refused.stdout.split_once("is open in process ").unwrap();
    let digits: String = note.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap()
}

/// Returns whether a session waits for an answer to a question of this kind.
fn waits_for(session: &Value, kind: &str) -> bool {
    session["status"] == "waiting" && session["status_detail"] == kind
}

/// Makes the project folder a git repository.
fn git_init(world: &World) {
    let init = Command::new("git").args(["init", "--quiet"]).arg(world.project()).output().unwrap();
    assert!(init.status.success(), "{init:?}");
}
