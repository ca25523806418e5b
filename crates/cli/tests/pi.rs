//! The real Pi through Segue: every conversation comes back as itself, and the requests that the
//! model gets are the proof.
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
use std::path::{Path, PathBuf};

use segue_testkit::events::Events;
use segue_testkit::model::Exchange;
use segue_testkit::scene::text;
use segue_testkit::vendors::{PiHome, with_pi};
use segue_testkit::{Model, Outcome, Terminal, World, launches};
use serde_json::Value;

/// A world with Pi, and the model that it talks to.
struct Scenery {
    model: Model,
    world: World,
    home: PiHome,
}

impl Scenery {
    fn new() -> Self {
        let model = Model::start();
        let mut world = World::new(env!("CARGO_BIN_EXE_segue"));
        let home = with_pi(&mut world, &model);
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

    fn run(&self, words: &[&str]) -> Outcome {
        let all = ["run", "--vendor", "pi"].iter().chain(words);
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

    /// Begins another conversation inside the process, as a person does.
    fn begin_another(&self, name: &str, before: &Value) {
        let mut person = Terminal::start(&self.world.command(["attach", name]), 40, 120);
        person.wait_for("ALPHA");
        person.write("/new");
        person.wait_for("Start a new session");
        person.write("\r");
        self.wait_session(name, |session| {
            session["vendor_session_id"] != before["vendor_session_id"]
        });
    }

    /// Says something to a session and returns the request that it brings about.
    fn ask(&self, name: &str, message: &str) -> Exchange {
        self.world.ok(["send", name, message]);
        self.model.wait_answered(message)
    }

    /// Expects that a session's next request carries these words of its user, and no others.
    fn assert_carries(&self, name: &str, said: &[&str], message: &str) {
        let exchange = self.ask(name, message);
        let all: Vec<&str> = said.iter().copied().chain([message]).collect();
        assert_eq!(exchange.user_texts(), all);
    }

    /// Returns where the transcript of a conversation is.
    fn transcript(&self, session: &Value) -> PathBuf {
        let id = text(session, "vendor_session_id");
        let all = transcripts(self.home.folder());
        let own = all.iter().find(|path| path.to_string_lossy().contains(id));
        own.unwrap_or_else(|| panic!("no transcript of {id} in {all:?}")).clone()
    }
}

/// Returns all transcripts of a home.
fn transcripts(home: &Path) -> Vec<PathBuf> {
    let entries = |folder: &Path| fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries(&home.join("sessions")).flat_map(|folder| entries(&folder)).collect()
}

/// Returns how often a request tells the agent to go on after a start.
fn nudges(exchange: &Exchange) -> usize {
    exchange.user_texts().iter().filter(|said| said.contains("started again")).count()
}
