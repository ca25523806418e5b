//! `OpenCode` alone. It takes longer to start than the other programs, so its tests are here.

mod headless;
mod interactive;

use std::fs;

use segue_core::model::VendorSessionId;
use segue_core::ports::Place;
use segue_testkit::CommandOutcome;
use segue_testkit::vendor_scene::VendorScene;
use segue_testkit::vendors::{OpencodeHome, command, vendor};

/// A world with this vendor's program, and the model that it talks to.
type OpencodeScene = VendorScene<OpencodeHome>;

/// Creates a world with `OpenCode`, and the model that it talks to. `OpenCode` asks before it uses a
/// tool.
fn scene() -> OpencodeScene {
    crate::scene()
}

/// Exports a conversation to a file. Returns its path.
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
fn opencode(scene: &OpencodeScene, arguments: &[&str]) -> CommandOutcome {
    CommandOutcome::of(&mut command(&scene.world, "opencode", arguments))
}
