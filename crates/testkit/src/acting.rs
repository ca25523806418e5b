//! Runs sessions of one vendor in a test `World`, with a scripted model.

use serde_json::Value;

use crate::model::{Exchange, Model};
use crate::world::{CommandOutcome, World};
use crate::{launches, scene};

/// A `World` and a scripted model for the tests of one vendor.
///
/// The test installs the vendor's program itself, for example with `with_claude`.
#[derive(Debug)]
pub struct Acting {
    pub model: Model,
    pub world: World,
    /// The arguments that every `segue run` starts with.
    run_arguments: &'static [&'static str],
}

impl Acting {
    /// Creates a model, and a world for the `segue` program at this path. Every `segue run` starts
    /// with these arguments, for example the vendor.
    pub fn new(segue: &str, run_arguments: &'static [&'static str]) -> Self {
        Self { model: Model::start(), world: World::new(segue), run_arguments }
    }

    /// Starts an interactive session. Waits until the model has answered, the session is idle, and
    /// the daemon has guarded its transcript.
    pub fn start_and_wait(&self, name: &str, message: &str) -> Value {
        self.start(name, message);
        self.model.wait_answered(message);
        self.wait_idle(name);
        self.wait_has_content(name)
    }

    /// Starts an interactive session.
    pub fn start(&self, name: &str, message: &str) {
        let started = self.run(&["-d", "--name", name, message]);
        assert_eq!(started.status, 0, "{started:#?}");
    }

    /// Runs a headless turn in a new session. Returns its exit code and its output.
    pub fn headless(&self, name: &str, message: &str) -> CommandOutcome {
        self.run(&["--headless", "--name", name, message])
    }

    /// Runs `segue run` with the usual arguments followed by these.
    pub fn run(&self, arguments: &[&str]) -> CommandOutcome {
        let all = ["run"].iter().chain(self.run_arguments).chain(arguments);
        CommandOutcome::of(&mut self.world.command(all))
    }

    /// Waits until the session is idle.
    pub fn wait_idle(&self, name: &str) -> Value {
        self.wait_session(name, |session| session["status"] == "idle")
    }

    /// Waits until `is_wanted` accepts the session. Calls it again after each event.
    pub fn wait_session(&self, name: &str, is_wanted: impl Fn(&Value) -> bool) -> Value {
        scene::wait_session(&self.world, name, is_wanted)
    }

    /// Waits until the record of the session's newest launch says that the conversation has content.
    /// The daemon records it when it has seen and guarded the transcript.
    pub fn wait_has_content(&self, name: &str) -> Value {
        let session = self.world.session(name);
        let newest = || launches::newest(&self.world, &session);
        let (folder, _) = newest();
        launches::wait_until(&[&folder], "`has_content` is set", || newest().1.session.has_content);
        session
    }

    /// Sends a message to a session. Returns the request with which it reached the model.
    pub fn ask(&self, name: &str, message: &str) -> Exchange {
        self.world.ok(["send", name, message]);
        self.model.wait_answered(message)
    }

    /// Like `ask`, but also waits until the agent has recorded the end of its turn.
    pub fn ask_and_wait(&self, name: &str, message: &str) -> Exchange {
        self.world.ok(["send", name, "--wait", "--timeout", "60s", message]);
        self.model.wait_answered(message)
    }

    /// Sends a message and asserts that its request has exactly these user messages: the earlier
    /// ones, then `message`.
    pub fn assert_carries(&self, name: &str, earlier: &[&str], message: &str) -> Exchange {
        let exchange = self.ask_and_wait(name, message);
        let all: Vec<&str> = earlier.iter().copied().chain([message]).collect();
        assert_eq!(exchange.user_texts(), all);
        exchange
    }
}

/// Counts the user messages of a request in which Segue asks a restarted agent to continue.
pub fn nudges(exchange: &Exchange) -> usize {
    exchange.user_texts().iter().filter(|said| said.contains("started again")).count()
}
