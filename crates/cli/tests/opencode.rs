//! Tests with the real `OpenCode`. Each session must resume its own conversation. The requests that
//! the scripted model receives prove it.
#![expect(clippy::unwrap_used, reason = "a test that fails shall stop at once")]

#[path = "opencode/headless.rs"]
mod headless;
#[path = "opencode/interactive.rs"]
mod interactive;

use std::fs;

use segue_core::model::VendorSessionId;
use segue_core::ports::Place;
use segue_testkit::events::Events;
use segue_testkit::model::Exchange;
use segue_testkit::vendors::{OpencodeHome, command, vendor, with_opencode};
use segue_testkit::{Model, Outcome, World, launches};
use serde_json::Value;

/// A world with `OpenCode`, and the model that it talks to.
struct Scenery {
    model: Model,
    world: World,
    home: OpencodeHome,
}

impl Scenery {
    fn new() -> Self {
        let model = Model::start();
        let mut world = World::new(env!("CARGO_BIN_EXE_segue"));
        let home = with_opencode(&mut world, &model);
        Self { model, world, home }
    }

    /// Starts an interactive session whose `OpenCode` asks before it uses a tool.
    fn start(&self, name: &str, message: &str) {
        self.world.ok(["run", "--vendor", "opencode", "-d", "--name", name, message]);
    }

    /// Runs a headless turn in a new session; returns what it printed.
    fn headless(&self, name: &str, message: &str) -> Outcome {
        let words = ["run", "--vendor", "opencode", "--headless", "--name", name, message];
        self.world.segue(words)
    }

    fn wait_idle(&self, name: &str) -> Value {
        self.wait_session(name, |session| session["status"] == "idle")
    }

    /// Waits until `is_wanted` accepts the session. Checks again after each event.
    fn wait_session(&self, name: &str, is_wanted: impl Fn(&Value) -> bool) -> Value {
        let mut events = Events::of(&self.world);
        loop {
            let session = self.world.session(name);
            if is_wanted(&session) {
                return session;
            }
            let more = events.wait_for(|_| true);
            assert!(more.is_some(), "the daemon ended; the session is {session:#}");
        }
    }

    /// Waits until the launch record shows that the conversation has a message.
    fn wait_spoke(&self, name: &str) -> Value {
        let session = self.world.session(name);
        let newest = || launches::of(&self.world, &session).pop().unwrap();
        let folder = newest().0;
        launches::wait_until(&[&folder], "words", || newest().1.session.spoke);
        session
    }

    /// Sends a message to a session; returns the request that the model then receives.
    fn ask(&self, name: &str, message: &str) -> Exchange {
        self.world.ok(["send", name, message]);
        self.model.wait_answered(message)
    }

    /// Sends `message`. Checks that its request has exactly the user messages `said` and `message`.
    fn assert_carries(&self, name: &str, said: &[&str], message: &str) {
        let exchange = self.ask(name, message);
        let all: Vec<&str> = said.iter().copied().chain([message]).collect();
        assert_eq!(exchange.user_texts(), all);
        let id = self.world.session(name)["vendor_session_id"].clone();
        assert_eq!(exchange.session.as_deref(), id.as_str());
    }

    /// Exports a conversation to a file; returns its path.
    fn export(&self, id: &str) -> String {
        let config_dir = self.world.home().join(".local/share/opencode");
        let place = Place { config_dir, cwd: self.world.project() };
        let (vendor, id) = (vendor("opencode"), VendorSessionId::new(id));
        let database = vendor.transcript_database().unwrap();
        let bytes = database.export(&place, &id).unwrap().unwrap();
        let path = self.world.root().join("exported.json");
        fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// Runs `OpenCode` without Segue, as its user would.
    fn opencode(&self, words: &[&str]) -> Outcome {
        Outcome::of(&mut command(&self.world, "opencode", words))
    }
}
