//! The real Copilot through Segue: every conversation comes back as itself, and the requests that the
//! model gets are the proof.
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

use std::path::PathBuf;

use segue_testkit::events::Events;
use segue_testkit::model::Exchange;
use segue_testkit::scene::text;
use segue_testkit::vendors::{CopilotHome, with_copilot};
use segue_testkit::{Model, Outcome, World, launches};
use serde_json::Value;

/// A world with Copilot, and the model that it talks to.
struct Scenery {
    model: Model,
    world: World,
    home: CopilotHome,
}

impl Scenery {
    fn new() -> Self {
        let model = Model::start();
        let mut world = World::new(env!("CARGO_BIN_EXE_segue"));
        let home = with_copilot(&mut world, &model);
        Self { model, world, home }
    }

    /// Starts an interactive session and waits until it has answered and its conversation is
    /// guarded.
    fn told(&self, name: &str, message: &str) -> Value {
        self.start(name, message);
        self.model.wait_answered(message);
        self.wait_idle(name);
        self.wait_spoke(name)
    }

    fn start(&self, name: &str, message: &str) {
        let started = self.run(&["-d", "--name", name, message]);
        assert_eq!(started.status, 0, "{started:#?}");
    }

    /// Runs a headless turn in a new session; returns what it printed.
    fn headless(&self, name: &str, message: &str) -> Outcome {
        self.run(&["--headless", "--name", name, message])
    }

    /// Runs `segue run` for a Copilot that asks nothing.
    fn run(&self, words: &[&str]) -> Outcome {
        let all = ["run", "--vendor", "copilot", "--permission", "auto"].iter().chain(words);
        Outcome::of(&mut self.world.command(all))
    }

    fn wait_idle(&self, name: &str) -> Value {
        self.wait_session(name, |session| session["status"] == "idle")
    }

    /// Waits until the session is as wanted; looks again after each event.
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

    /// Waits until the session's record says that something was said.
    fn wait_spoke(&self, name: &str) -> Value {
        let session = self.world.session(name);
        let newest = || launches::of(&self.world, &session).pop().unwrap();
        let folder = newest().0;
        launches::wait_until(&[&folder], "a guard", || newest().1.session.spoke);
        session
    }

    /// Says something to a session, waits until that turn is over, and returns the request that it
    /// brought about.
    fn ask(&self, name: &str, message: &str) -> Exchange {
        self.world.ok(["send", name, "--wait", "--timeout", "60s", message]);
        self.model.wait_answered(message)
    }

    /// Expects that a session's next request carries these words of its user, and no others.
    fn assert_carries(&self, name: &str, said: &[&str], message: &str) {
        let exchange = self.ask(name, message);
        let all: Vec<&str> = said.iter().copied().chain([message]).collect();
        assert_eq!(exchange.user_texts(), all);
    }

    /// Returns where the transcript of a session is.
    fn transcript(&self, session: &Value) -> PathBuf {
        self.folder(session).join("events.jsonl")
    }

    /// Returns the folder of a session's conversation.
    fn folder(&self, session: &Value) -> PathBuf {
        self.home.folder().join("session-state").join(text(session, "vendor_session_id"))
    }
}
