//! Agents of one vendor in a world, and what tests have them do.

use serde_json::Value;

use crate::events::Events;
use crate::launches;
use crate::model::{Exchange, Model};
use crate::world::{Outcome, World};

/// A world with a vendor's program, and the model that it talks to.
#[derive(Debug)]
pub struct Acting {
    pub model: Model,
    pub world: World,
    /// What `segue run` is told before anything else.
    run: &'static [&'static str],
}

impl Acting {
    /// Makes a world for this `segue`, in which sessions are begun with these words.
    pub fn new(segue: &str, run: &'static [&'static str]) -> Self {
        Self { model: Model::start(), world: World::new(segue), run }
    }

    /// Starts an interactive session and waits until it has answered and its conversation is
    /// guarded.
    pub fn told(&self, name: &str, message: &str) -> Value {
        self.start(name, message);
        self.model.wait_answered(message);
        self.wait_idle(name);
        self.wait_spoke(name)
    }

    pub fn start(&self, name: &str, message: &str) {
        let started = self.run(&["-d", "--name", name, message]);
        assert_eq!(started.status, 0, "{started:#?}");
    }

    /// Runs a headless turn in a new session; returns what it printed.
    pub fn headless(&self, name: &str, message: &str) -> Outcome {
        self.run(&["--headless", "--name", name, message])
    }

    /// Runs `segue run` with these words behind the usual ones.
    pub fn run(&self, words: &[&str]) -> Outcome {
        let all = ["run"].iter().chain(self.run).chain(words);
        Outcome::of(&mut self.world.command(all))
    }

    pub fn wait_idle(&self, name: &str) -> Value {
        self.wait_session(name, |session| session["status"] == "idle")
    }

    /// Waits until the session is as wanted; looks again after each event.
    pub fn wait_session(&self, name: &str, is_wanted: impl Fn(&Value) -> bool) -> Value {
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
    pub fn wait_spoke(&self, name: &str) -> Value {
        let session = self.world.session(name);
        let newest = || launches::of(&self.world, &session).pop().expect("a launch");
        let folder = newest().0;
        launches::wait_until(&[&folder], "words", || newest().1.session.spoke);
        session
    }

    /// Says something to a session and returns the request that it brings about.
    pub fn ask(&self, name: &str, message: &str) -> Exchange {
        self.world.ok(["send", name, message]);
        self.model.wait_answered(message)
    }

    /// The same, when the agent has written down that its turn is over.
    pub fn ask_and_wait(&self, name: &str, message: &str) -> Exchange {
        self.world.ok(["send", name, "--wait", "--timeout", "60s", message]);
        self.model.wait_answered(message)
    }

    /// Expects that a session's next request carries these words of its user, and no others.
    pub fn assert_carries(&self, name: &str, said: &[&str], message: &str) -> Exchange {
        let exchange = self.ask_and_wait(name, message);
        let all: Vec<&str> = said.iter().copied().chain([message]).collect();
        assert_eq!(exchange.user_texts(), all);
        exchange
    }
}

/// Returns how often a request tells the agent to go on after a start.
pub fn nudges(exchange: &Exchange) -> usize {
    exchange.user_texts().iter().filter(|said| said.contains("started again")).count()
}
