//! The reports of `segue resume` and `segue up` about each agent.

use std::fmt;

use serde_json::Value;

use crate::expectation::{expect, unmet};
use crate::world::{CommandOutcome, World};

/// A report, and the exit status of the command that printed it.
#[derive(Clone, Debug)]
pub struct Report {
    pub status: i32,
    pub json: Value,
}

impl Report {
    /// Parses the output of a command with `--json`.
    pub fn of(outcome: &CommandOutcome) -> Self {
        let json = serde_json::from_str(&outcome.stdout)
            .unwrap_or_else(|_| unmet("the command prints a report", &outcome.to_string()));
        Self { status: outcome.status, json }
    }

    /// Returns the entry of the agent with this name.
    pub fn agent(&self, name: &str) -> &Value {
        let agents =
            self.json["agents"].as_array().unwrap_or_else(|| unmet("a report", &self.to_string()));
        let has_name = |it: &&Value| {
            it["name"].as_str().is_some_and(|it| it == name || it.ends_with(&format!("/{name}")))
        };
        agents.iter().find(has_name).unwrap_or_else(|| {
            unmet(format!("the report has the agent `{name}`"), &self.to_string())
        })
    }

    pub fn outcome(&self, name: &str) -> &str {
        self.agent(name)["outcome"].as_str().unwrap_or_default()
    }

    pub fn note(&self, name: &str) -> &str {
        self.agent(name)["note"].as_str().unwrap_or_default()
    }

    /// Expects that every agent is back, and that this agent has this outcome.
    pub fn assert_back(&self, name: &str, outcome: &str) {
        self.expect(name, outcome, (0, true));
    }

    /// Expects that this agent is not back and has this outcome, and that the exit status and
    /// `complete` report an agent that is not back.
    pub fn assert_not_back(&self, name: &str, outcome: &str) {
        self.expect(name, outcome, (8, false));
    }

    fn expect(&self, name: &str, outcome: &str, (status, complete): (i32, bool)) {
        let is_met = self.outcome(name) == outcome
            && (self.status, &self.json["complete"]) == (status, &Value::Bool(complete));
        let back = if complete { "every agent is back" } else { "not every agent is back" };
        let expected = format!("`{name}` is {outcome}, {back} (exit status {status})");
        expect(is_met, expected, || self.to_string());
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "exit status {}\n{:#}", self.status, self.json)
    }
}

impl World {
    /// Runs `segue resume … --json`.
    pub fn resume<const N: usize>(&self, arguments: [&str; N]) -> Report {
        let all = ["resume", "--json"].into_iter().chain(arguments);
        Report::of(&CommandOutcome::of(&mut self.command(all)))
    }

    /// Returns the events of a session from `segue log`, the oldest first.
    pub fn events(&self, name: &str) -> Vec<Value> {
        let log = self.ok(["log", name, "--json"]);
        log.lines().map(|line| serde_json::from_str(line).expect("an event")).collect()
    }
}
