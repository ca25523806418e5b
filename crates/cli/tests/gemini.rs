//! Tests with the real Gemini CLI in a home with default settings. Each session must resume its own
//! conversation. The requests that the scripted model receives prove it.
#![expect(clippy::panic, clippy::unwrap_used, reason = "a test that fails shall stop at once")]

#[path = "gemini/losses.rs"]
mod losses;
#[path = "gemini/others.rs"]
mod others;
#[path = "gemini/sizes.rs"]
mod sizes;
#[path = "gemini/turns.rs"]
mod turns;

use std::path::{Path, PathBuf};

use segue_testkit::events::Events;
use segue_testkit::model::Exchange;
use segue_testkit::scene::text;
use segue_testkit::vendors::{GeminiHome, command, with_gemini};
use segue_testkit::{Model, Outcome, World, launches};
use serde_json::Value;

/// A world with Gemini, and the model that it talks to.
struct Place {
    model: Model,
    world: World,
    home: GeminiHome,
}

impl Place {
    fn new() -> Self {
        let model = Model::start();
        let mut world = World::new(env!("CARGO_BIN_EXE_segue"));
        let home = with_gemini(&mut world, &model);
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

    /// Runs `segue run` with a Gemini that asks no questions.
    fn run(&self, words: &[&str]) -> Outcome {
        let all = ["run", "--vendor", "gemini", "--permission", "auto"].iter().chain(words);
        Outcome::of(&mut self.world.command(all))
    }

    /// Runs a turn without Segue in the project's folder. At its start Gemini deletes transcripts
    /// that it considers empty.
    fn by_hand(&self, words: &[&str]) {
        let turn = Outcome::of(&mut command(&self.world, "gemini", words));
        assert_eq!(turn.status, 0, "{turn:#?}");
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
        launches::wait_until(&[&folder], "a guard", || newest().1.session.spoke);
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
    }

    /// Returns the transcripts of all projects.
    fn transcripts(&self) -> Vec<PathBuf> {
        let projects = std::fs::read_dir(self.home.folder().join("tmp")).unwrap();
        let chats = projects.map(|entry| entry.unwrap().path().join("chats"));
        let entries = chats.filter_map(|chats| std::fs::read_dir(chats).ok()).flatten();
        entries.map(|entry| entry.unwrap().path()).collect()
    }

    /// Returns the path of a session's transcript.
    fn transcript(&self, session: &Value) -> PathBuf {
        let id = text(session, "vendor_session_id");
        let all = self.transcripts();
        let own = all.iter().find(|path| path.to_string_lossy().contains(id));
        own.unwrap_or_else(|| panic!("no transcript of {id} in {all:?}")).clone()
    }
}

/// Waits until a transcript contains this text.
fn wait_written(transcript: &Path, text: &str) {
    let folder = transcript.parent().unwrap();
    launches::wait_until(&[folder], text, || {
        std::fs::read_to_string(transcript).is_ok_and(|it| it.contains(text))
    });
}
