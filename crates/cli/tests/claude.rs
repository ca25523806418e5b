//! Tests with the real Claude Code. Each session must resume its own conversation. The requests
//! that the scripted model receives prove it.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that fails shall stop at once")]

#[path = "claude/cuts.rs"]
mod cuts;
#[path = "claude/failures.rs"]
mod failures;
#[path = "claude/lives.rs"]
mod lives;
#[path = "claude/losses.rs"]
mod losses;
#[path = "claude/others.rs"]
mod others;
#[path = "claude/places.rs"]
mod places;

use std::fs;
use std::path::PathBuf;

use segue_testkit::events::Events;
use segue_testkit::model::Exchange;
use segue_testkit::scene::text;
use segue_testkit::vendors::{ClaudeHome, with_claude};
use segue_testkit::{Model, Outcome, World, launches};
use serde_json::Value;

/// A world with Claude Code, and the model that it talks to.
struct Stage {
    model: Model,
    world: World,
    home: ClaudeHome,
}

impl Stage {
    fn new() -> Self {
        let model = Model::start();
        let mut world = World::new(env!("CARGO_BIN_EXE_segue"));
        let home = with_claude(&mut world, &model);
        // The tests may run as root. Without this variable Claude Code does not let root skip its
        // permission questions.
        world.set("IS_SANDBOX", "1");
        Self { model, world, home }
    }

    /// Starts an interactive session and waits until it has answered and its conversation is
    /// guarded.
    fn told(&self, name: &str, message: &str) -> Value {
        self.start(name, message);
        self.wait_told(name, message)
    }

    fn wait_told(&self, name: &str, message: &str) -> Value {
        self.model.wait_answered(message);
        // Claude Code writes its transcript shortly after its first request.
        self.wait_spoke(name);
        self.wait_answers(name, 1);
        self.wait_idle(name)
    }

    fn start(&self, name: &str, message: &str) {
        let [vendor, claude] = ["--vendor", "claude"];
        let [permission, auto] = ["--permission", "auto"];
        self.world.ok(["run", "-d", "--name", name, vendor, claude, permission, auto, message]);
    }

    /// Runs a headless turn in a new session.
    fn headless(&self, name: &str, message: &str) -> Outcome {
        let [vendor, claude] = ["--vendor", "claude"];
        self.world.segue(["run", "--headless", "--wait", "--name", name, vendor, claude, message])
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

    /// Waits until the session's transcript has at least `count` answers.
    fn wait_answers(&self, name: &str, count: usize) {
        let path = self.transcript(&self.world.session(name));
        let answers = || records(&path).iter().filter(|it| is_answer(it)).count();
        launches::wait_until(&[path.parent().unwrap()], "an answer", || answers() >= count);
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
        let id = self.world.session(name)["vendor_session_id"].clone();
        assert_eq!(exchange.session.as_deref(), id.as_str());
    }

    /// Returns the path of a session's transcript.
    fn transcript(&self, session: &Value) -> PathBuf {
        let name = format!("{}.jsonl", text(session, "vendor_session_id"));
        let all = transcripts(&self.world);
        let own = all.iter().find(|path| path.ends_with(&name));
        own.unwrap_or_else(|| panic!("no {name} in {all:?}")).clone()
    }
}

/// Returns all transcripts of the default config dir.
fn transcripts(world: &World) -> Vec<PathBuf> {
    let entries = |folder: PathBuf| fs::read_dir(folder).into_iter().flatten().flatten();
    let folders = entries(world.home().join(".claude/projects"));
    folders.flat_map(|folder| entries(folder.path())).map(|entry| entry.path()).collect()
}

/// Returns the lines of a transcript that parse as JSON.
fn records(path: &std::path::Path) -> Vec<Value> {
    let content = fs::read_to_string(path).unwrap_or_default();
    content.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

fn is_answer(record: &Value) -> bool {
    record["type"] == "assistant" && record["message"]["stop_reason"] == "end_turn"
}

/// Returns how many user messages of a request tell the agent that it was started again.
fn nudges(exchange: &Exchange) -> usize {
    exchange.user_texts().iter().filter(|said| said.contains("started again")).count()
}
