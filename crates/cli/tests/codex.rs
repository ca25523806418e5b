//! Tests with the real Codex. Each session must resume its own conversation. The requests that the
//! scripted model receives prove it.
#![expect(clippy::panic, clippy::unwrap_used, reason = "a test that fails shall stop at once")]

#[path = "codex/cuts.rs"]
mod cuts;
#[path = "codex/failures.rs"]
mod failures;
#[path = "codex/lives.rs"]
mod lives;
#[path = "codex/losses.rs"]
mod losses;
#[path = "codex/others.rs"]
mod others;
#[path = "codex/questions.rs"]
mod questions;
#[path = "codex/within.rs"]
mod within;

use std::fs;
use std::ops::{Deref, DerefMut};
use std::path::PathBuf;

use segue_testkit::World;
use segue_testkit::acting::Acting;
use segue_testkit::scene::text;
use segue_testkit::vendors::{CodexHome, with_codex};
use serde_json::Value;

/// A world with Codex, and the model that it talks to.
struct Scenery {
    acting: Acting,
    home: CodexHome,
}

impl Scenery {
    fn new() -> Self {
        let run = &["--vendor", "codex", "--permission", "auto"];
        let mut acting = Acting::new(env!("CARGO_BIN_EXE_segue"), run);
        let home = with_codex(&mut acting.world, &acting.model);
        Self { acting, home }
    }

    /// Sends `message`. Checks that its request has exactly the user messages `said` and `message`.
    fn assert_carries(&self, name: &str, said: &[&str], message: &str) {
        let exchange = self.acting.assert_carries(name, said, message);
        let id = self.world.session(name)["vendor_session_id"].clone();
        assert_eq!(exchange.session.as_deref(), id.as_str());
    }

    /// Returns the path of a session's rollout. A rollout is the transcript that Codex writes.
    fn rollout(&self, session: &Value) -> PathBuf {
        let id = text(session, "vendor_session_id");
        let all = rollouts(&self.world);
        let own = all.iter().find(|path| path.to_string_lossy().contains(id));
        own.unwrap_or_else(|| panic!("no rollout of {id} in {all:?}")).clone()
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

/// Returns all rollouts of the default Codex home.
fn rollouts(world: &World) -> Vec<PathBuf> {
    let mut folders = vec![world.home().join(".codex/sessions")];
    for _level in ["year", "month", "day"] {
        let entries = folders.iter().flat_map(|folder| fs::read_dir(folder).unwrap());
        folders = entries.map(|entry| entry.unwrap().path()).collect();
    }
    let entries = folders.iter().flat_map(|folder| fs::read_dir(folder).unwrap());
    entries.map(|entry| entry.unwrap().path()).collect()
}
