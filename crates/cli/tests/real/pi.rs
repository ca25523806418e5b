//! Pi alone: behaviour that no other vendor has.

mod deleted_transcripts;
mod failures;
mod interrupted_turns;
mod other_processes;
mod transcript_files;

use segue_testkit::Terminal;
use segue_testkit::vendor_scene::VendorScene;
use segue_testkit::vendors::PiHome;
use serde_json::Value;

/// A world with this vendor's program, and the model that it talks to.
type PiScene = VendorScene<PiHome>;

/// Creates a world with Pi, and the model that it talks to.
fn scene() -> PiScene {
    crate::scene()
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
