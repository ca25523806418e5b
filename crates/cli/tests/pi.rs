//! Tests with the real Pi. Each session must resume its own conversation. The requests that the
//! scripted model receives prove it.
#![expect(clippy::panic, clippy::unwrap_used, reason = "a test that fails shall stop at once")]

#[path = "pi/cuts.rs"]
mod cuts;
#[path = "pi/failures.rs"]
mod failures;
#[path = "pi/lives.rs"]
mod lives;
#[path = "pi/losses.rs"]
mod losses;
#[path = "pi/others.rs"]
mod others;

use std::fs;
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};

use segue_testkit::Terminal;
use segue_testkit::acting::Acting;
use segue_testkit::scene::text;
use segue_testkit::vendors::{PiHome, with_pi};
use serde_json::Value;

/// A world with Pi, and the model that it talks to.
struct Scenery {
    acting: Acting,
    home: PiHome,
}

impl Scenery {
    fn new() -> Self {
        let run = &["--vendor", "pi"];
        let mut acting = Acting::new(env!("CARGO_BIN_EXE_segue"), run);
        let home = with_pi(&mut acting.world, &acting.model);
        Self { acting, home }
    }

    /// Starts another conversation inside the process, as a person does.
    fn begin_another(&self, name: &str, before: &Value) {
        let mut person = Terminal::start(&self.world.command(["attach", name]), 40, 120);
        person.wait_for("ALPHA");
        person.write("/new");
        person.wait_for("Start a new session");
        person.press_enter();
        self.wait_session(name, |session| {
            session["vendor_session_id"] != before["vendor_session_id"]
        });
    }

    /// Returns the path of a session's transcript.
    fn transcript(&self, session: &Value) -> PathBuf {
        let id = text(session, "vendor_session_id");
        let all = transcripts(self.home.folder());
        let own = all.iter().find(|path| path.to_string_lossy().contains(id));
        own.unwrap_or_else(|| panic!("no transcript of {id} in {all:?}")).clone()
    }
}

impl Deref for Scenery {
    type Target = Acting;

    fn deref(&self) -> &Acting {
        &self.acting
    }
}

impl DerefMut for Scenery {
    fn deref_mut(&mut self) -> &mut Acting {
        &mut self.acting
    }
}

/// Returns all transcripts of a home.
fn transcripts(home: &Path) -> Vec<PathBuf> {
    let entries = |folder: &Path| fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries(&home.join("sessions")).flat_map(|folder| entries(&folder)).collect()
}
