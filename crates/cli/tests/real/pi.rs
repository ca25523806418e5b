//! Tests with the real Pi, of what only Pi does. Each session must resume its own conversation. The
//! requests that the scripted model receives prove it. `real.rs` has the tests that are the same for
//! other vendors.

mod cuts;
mod failures;
mod lives;
mod losses;
mod others;

use segue_testkit::Terminal;
use segue_testkit::vendor_scene::VendorScene;
use segue_testkit::vendors::PiHome;
use serde_json::Value;

/// A world with Pi, and the model that it talks to.
type PiScene = VendorScene<PiHome>;

fn scene() -> PiScene {
    VendorScene::new(env!("CARGO_BIN_EXE_segue"))
}

/// Starts another conversation inside the process, as a person does.
fn begin_another(scene: &PiScene, name: &str, before: &Value) {
    let mut person = Terminal::start(&scene.world.command(["attach", name]), 40, 120);
    person.wait_for("ALPHA");
    person.write("/new");
    person.wait_for("Start a new session");
    person.press_enter();
    scene.wait_session(name, |session| session["vendor_session_id"] != before["vendor_session_id"]);
}
