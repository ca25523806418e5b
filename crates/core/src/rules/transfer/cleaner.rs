//! Makes turns acceptable to any vendor: tool calls are paired with results, tool ids are generated
//! by Segue, timestamps are in order, secrets are removed.

use std::collections::VecDeque;
use std::mem;

use jiff::Timestamp;

use super::cut_in_middle;
use crate::model::{Role, Tool, Turn};
use crate::rules::redaction::{Redactor, Removed};

/// At most this many turns are held back while the result of a tool call is missing.
const MAX_HELD_TURNS: usize = 1_000;
/// Maximum number of characters of a tool result.
const MAX_RESULT_CHARACTERS: usize = 20_000;
/// After these words, `.env` is a property in a program and not a file name, as in `process.env`.
const OBJECTS_WITH_ENV: [&str; 4] = ["process", "meta", "Deno", "Bun"];
const NO_RESULT: &str = "No result of this call was recorded.";
const SUMMARY: &str = "This is a summary of what was said before:";

/// Cleans turns in one pass from the oldest to the newest.
#[derive(Debug)]
pub struct TurnCleaner {
    prefix: String,
    fallback_time: Timestamp,
    /// The timestamp of the newest turn that was returned.
    time: Option<Timestamp>,
    calls: usize,
    redactor: Redactor,
    /// Turns that wait for the results of tool calls, in order.
    held: VecDeque<HeldTurn>,
}

#[derive(Debug)]
enum HeldTurn {
    Plain(Turn),
    Call {
        /// The id that the vendor assigned.
        id: String,
        call: Turn,
        result: Option<Turn>,
    },
}

impl HeldTurn {
    fn is_open(&self) -> bool {
        matches!(self, Self::Call { result: None, .. })
    }
}

impl TurnCleaner {
    /// Creates a cleaner. All tool ids begin with `id_prefix`. Turns at the beginning without a
    /// timestamp get `fallback_time`. Timestamps never decrease from one turn to the next.
    pub fn new(id_prefix: &str, fallback_time: Timestamp) -> Self {
        Self {
            prefix: id_prefix.to_owned(),
            fallback_time,
            time: None,
            calls: 0,
            redactor: Redactor::default(),
            held: VecDeque::new(),
        }
    }

    /// Returns the cleaner with another redactor, which may know additional secrets.
    #[must_use]
    pub fn with_redactor(self, redactor: Redactor) -> Self {
        Self { redactor, ..self }
    }

    /// Adds the next turn and appends all completed turns to `out`.
    pub fn turn(&mut self, turn: Turn, out: &mut Vec<Turn>) {
        match turn.role {
            Role::ToolCall => self.hold_call(turn),
            Role::ToolResult => self.add_result(turn),
            Role::User | Role::Summary => {
                self.end(out);
                self.held.extend(plain(turn));
            }
            Role::Assistant => self.held.extend(plain(turn)),
        }
        self.release(out);
        if self.held.len() > MAX_HELD_TURNS {
            self.end(out);
        }
    }

    /// Appends the turns that are still held back to `out`. A call without a result gets a failed
    /// result with a note that no result was recorded.
    pub fn end(&mut self, out: &mut Vec<Turn>) {
        for held in mem::take(&mut self.held) {
            self.write(held, out);
        }
    }

    /// Returns the number of secrets that were removed so far, by kind.
    pub fn removed(&self) -> &Removed {
        self.redactor.removed()
    }

    fn hold_call(&mut self, turn: Turn) {
        let id = turn.tool.as_ref().map(|tool| tool.id.clone()).unwrap_or_default();
        self.held.push_back(HeldTurn::Call { id, call: turn, result: None });
    }

    /// Adds a result to the oldest open call with the same id. A result without an id goes to the
    /// oldest open call.
    fn add_result(&mut self, turn: Turn) {
        let wanted = turn.tool.as_ref().map_or("", |tool| tool.id.as_str());
        let belongs_to_result = |held: &&mut HeldTurn| match held {
            HeldTurn::Call { id, result: None, .. } => wanted.is_empty() || id == wanted,
            HeldTurn::Call { .. } | HeldTurn::Plain(_) => false,
        };
        if let Some(HeldTurn::Call { result, .. }) = self.held.iter_mut().find(belongs_to_result) {
            *result = Some(turn);
        }
    }

    fn release(&mut self, out: &mut Vec<Turn>) {
        while self.held.front().is_some_and(|held| !held.is_open()) {
            if let Some(held) = self.held.pop_front() {
                self.write(held, out);
            }
        }
    }

    fn write(&mut self, held: HeldTurn, out: &mut Vec<Turn>) {
        match held {
            HeldTurn::Plain(turn) => {
                let text = self.redact(&turn.text);
                out.push(self.timed(Turn { text, tool: None, ..turn }));
            }
            HeldTurn::Call { call, result, .. } => self.write_call(call, result, out),
        }
    }

    fn write_call(&mut self, call: Turn, result: Option<Turn>, out: &mut Vec<Turn>) {
        self.calls += 1;
        let id = format!("{}_{}", self.prefix, self.calls);
        let is_env_file = mentions_env_file(&call.text);
        let called = call.tool.as_ref().map(|tool| tool.name.clone()).unwrap_or_default();
        let answered = result.as_ref().and_then(|it| it.tool.as_ref()).map(|it| it.name.clone());
        let name = if called.is_empty() { answered.unwrap_or_default() } else { called };
        let name = if name.is_empty() { "tool".to_owned() } else { name };
        let tool = |failed| Tool { id: id.clone(), name: name.clone(), failed };
        let text = as_json_object(self.redact(&call.text));
        out.push(self.timed(Turn { text, tool: Some(tool(false)), ..call }));
        let failed = result.as_ref().is_none_or(|it| it.tool.as_ref().is_some_and(|it| it.failed));
        let result = result.unwrap_or_else(|| Turn::new(Role::ToolResult, NO_RESULT));
        let text = self.result(&result.text, is_env_file);
        out.push(self.timed(Turn { text, tool: Some(tool(failed)), ..result }));
    }

    fn result(&mut self, text: &str, is_env_file: bool) -> String {
        cut_in_middle(&self.redactor.redact_result(text, is_env_file), MAX_RESULT_CHARACTERS)
    }

    fn redact(&mut self, text: &str) -> String {
        self.redactor.redact(text).into_owned()
    }

    /// Sets the timestamp of a turn to one that is not before that of the previous turn.
    fn timed(&mut self, turn: Turn) -> Turn {
        let at = turn.at.or(self.time).unwrap_or(self.fallback_time);
        self.time = self.time.max(Some(at));
        turn.at(self.time)
    }
}

fn plain(turn: Turn) -> Option<HeldTurn> {
    if turn.text.trim().is_empty() {
        return None;
    }
    Some(HeldTurn::Plain(match turn.role {
        Role::Summary => {
            Turn { role: Role::User, text: format!("{SUMMARY}\n\n{}", turn.text), ..turn }
        }
        Role::User | Role::Assistant | Role::ToolCall | Role::ToolResult => turn,
    }))
}

/// Returns the arguments of a call as a JSON object, which every vendor accepts.
fn as_json_object(text: String) -> String {
    let is_object = text.trim_start().starts_with('{')
        && serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok();
    if is_object { text } else { serde_json::json!({ "input": text }).to_string() }
}

/// Returns whether a call refers to a `.env` file, and not to the environment of a program such as
/// `process.env`.
fn mentions_env_file(text: &str) -> bool {
    let is_file = |(at, word): (usize, &str)| {
        let next = text[at + word.len()..].chars().next();
        let is_whole = !next.is_some_and(|letter| letter.is_alphanumeric() || letter == '_');
        is_whole && !OBJECTS_WITH_ENV.iter().any(|object| text[..at].ends_with(object))
    };
    text.match_indices(".env").any(is_file)
}
