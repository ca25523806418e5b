//! Tests with the real Copilot. Each session must resume its own conversation. The requests that
//! the scripted model receives prove it.
#![expect(clippy::unwrap_used, reason = "a test that fails shall stop at once")]

#[path = "copilot/cuts.rs"]
mod cuts;
#[path = "copilot/failures.rs"]
mod failures;
#[path = "copilot/lives.rs"]
mod lives;
#[path = "copilot/losses.rs"]
mod losses;
#[path = "copilot/others.rs"]
mod others;
#[path = "copilot/questions.rs"]
mod questions;

use std::ops::{Deref, DerefMut};
use std::path::PathBuf;

use segue_testkit::acting::Acting;
use segue_testkit::model::Exchange;
use segue_testkit::scene::text;
use segue_testkit::vendors::{CopilotHome, with_copilot};
use serde_json::Value;

/// A world with Copilot, and the model that it talks to.
struct Scenery {
    acting: Acting,
    home: CopilotHome,
}

impl Scenery {
    fn new() -> Self {
        let run = &["--vendor", "copilot", "--permission", "auto"];
        let mut acting = Acting::new(env!("CARGO_BIN_EXE_segue"), run);
        let home = with_copilot(&mut acting.world, &acting.model);
        Self { acting, home }
    }

    /// Sends a message to a session, waits until its turn is over, and returns the request that the
    /// model received.
    fn ask(&self, name: &str, message: &str) -> Exchange {
        self.ask_and_wait(name, message)
    }

    /// Returns the path of a session's transcript.
    fn transcript(&self, session: &Value) -> PathBuf {
        self.folder(session).join("events.jsonl")
    }

    /// Returns the folder of a session's conversation.
    fn folder(&self, session: &Value) -> PathBuf {
        self.home.folder().join("session-state").join(text(session, "vendor_session_id"))
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
