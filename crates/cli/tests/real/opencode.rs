//! Tests with the real `OpenCode`. Each session must resume its own conversation. The requests that
//! the scripted model receives prove it.

mod headless;
mod interactive;

use std::fs;

use segue_core::model::VendorSessionId;
use segue_core::ports::Place;
use segue_testkit::CommandOutcome;
use segue_testkit::vendor_scene::VendorScene;
use segue_testkit::vendors::{OpencodeHome, command, vendor};

/// A world with `OpenCode`, and the model that it talks to. `OpenCode` asks before it uses a tool.
type OpencodeScene = VendorScene<OpencodeHome>;

fn scene() -> OpencodeScene {
    VendorScene::new(env!("CARGO_BIN_EXE_segue"))
}

/// Exports a conversation to a file; returns its path.
fn export(scene: &OpencodeScene, id: &str) -> String {
    let config_dir = scene.world.home().join(".local/share/opencode");
    let place = Place { config_dir, cwd: scene.world.project() };
    let (vendor, id) = (vendor("opencode"), VendorSessionId::new(id));
    let database = vendor.transcript_database().unwrap();
    let bytes = database.export(&place, &id).unwrap().unwrap();
    let path = scene.world.root().join("exported.json");
    fs::write(&path, bytes).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Runs `OpenCode` without Segue, as its user would.
fn opencode(scene: &OpencodeScene, words: &[&str]) -> CommandOutcome {
    CommandOutcome::of(&mut command(&scene.world, "opencode", words))
}
