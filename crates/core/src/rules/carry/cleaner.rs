//! Turns as any vendor takes them: calls paired, ids our own, times in order, no secrets.

use std::collections::VecDeque;
use std::mem;

use jiff::Timestamp;

use super::cut_in_middle;
use crate::model::{Role, Tool, Turn};
use crate::rules::redaction::{Redactor, Removed};

/// So many turns are held back for the result of a call.
const HELD: usize = 1_000;
/// A tool's result is at most so many characters long.
const RESULT: usize = 20_000;
/// What has an `env` that is no file.
const PROGRAMS: [&str; 4] = ["process", "meta", "Deno", "Bun"];
const NO_RESULT: &str = "No result of this call was recorded.";
const SUMMARY: &str = "This is a summary of what was said before:";

/// Makes turns clean, in one pass from the oldest to the newest.
#[derive(Debug)]
pub struct Cleaner {
    prefix: String,
    fallback_time: Timestamp,
    /// The time of the newest turn that was given out.
    time: Option<Timestamp>,
    calls: usize,
    redactor: Redactor,
    /// What waits for the results of calls, in order.
    held: VecDeque<Held>,
}

#[derive(Debug)]
enum Held {
    Plain(Turn),
    Call {
        /// The id that the vendor gave it.
        id: String,
        call: Turn,
        result: Option<Turn>,
    },
}

impl Held {
    fn is_open(&self) -> bool {
        matches!(self, Self::Call { result: None, .. })
    }
}

impl Cleaner {
    /// Makes one whose calls are named after the prefix. The time is that of turns at the beginning
    /// that have none; times after it are not taken back.
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

    /// Returns it with a redactor that knows more than what a text shows.
    #[must_use]
    pub fn with_redactor(self, redactor: Redactor) -> Self {
        Self { redactor, ..self }
    }

    /// Takes the next turn in, and gives out what is complete.
    pub fn turn(&mut self, turn: Turn, out: &mut Vec<Turn>) {
        match turn.role {
            Role::ToolCall => self.hold_call(turn),
            Role::ToolResult => self.join(turn),
            Role::User | Role::Summary => {
                self.end(out);
                self.held.extend(plain(turn));
            }
            Role::Assistant => self.held.extend(plain(turn)),
        }
        self.give(out);
        if self.held.len() > HELD {
            self.end(out);
        }
    }

    /// Gives out what is still held back: calls without a result get one that says so.
    pub fn end(&mut self, out: &mut Vec<Turn>) {
        for held in mem::take(&mut self.held) {
            self.write(held, out);
        }
    }

    /// Returns the secrets that were removed so far.
    pub fn removed(&self) -> &Removed {
        self.redactor.removed()
    }

    fn hold_call(&mut self, turn: Turn) {
        let id = turn.tool.as_ref().map(|tool| tool.id.clone()).unwrap_or_default();
        self.held.push_back(Held::Call { id, call: turn, result: None });
    }

    /// Joins a result to the oldest open call with its id, or to the oldest if it has none.
    fn join(&mut self, turn: Turn) {
        let wanted = turn.tool.as_ref().map_or("", |tool| tool.id.as_str());
        let is_its = |held: &&mut Held| match held {
            Held::Call { id, result: None, .. } => wanted.is_empty() || id == wanted,
            Held::Call { .. } | Held::Plain(_) => false,
        };
        if let Some(Held::Call { result, .. }) = self.held.iter_mut().find(is_its) {
            *result = Some(turn);
        }
    }

    fn give(&mut self, out: &mut Vec<Turn>) {
        while self.held.front().is_some_and(|held| !held.is_open()) {
            if let Some(held) = self.held.pop_front() {
                self.write(held, out);
            }
        }
    }

    fn write(&mut self, held: Held, out: &mut Vec<Turn>) {
        match held {
            Held::Plain(turn) => {
                let text = self.redact(&turn.text);
                out.push(self.timed(Turn { text, tool: None, ..turn }));
            }
            Held::Call { call, result, .. } => self.write_call(call, result, out),
        }
    }

    fn write_call(&mut self, call: Turn, result: Option<Turn>, out: &mut Vec<Turn>) {
        self.calls += 1;
        let id = format!("{}_{}", self.prefix, self.calls);
        let is_of_variables = mentions_variables(&call.text);
        let told = call.tool.as_ref().map(|tool| tool.name.clone()).unwrap_or_default();
        let answered = result.as_ref().and_then(|it| it.tool.as_ref()).map(|it| it.name.clone());
        let name = if told.is_empty() { answered.unwrap_or_default() } else { told };
        let name = if name.is_empty() { "tool".to_owned() } else { name };
        let tool = |failed| Tool { id: id.clone(), name: name.clone(), failed };
        let text = object(self.redact(&call.text));
        out.push(self.timed(Turn { text, tool: Some(tool(false)), ..call }));
        let failed = result.as_ref().is_none_or(|it| it.tool.as_ref().is_some_and(|it| it.failed));
        let result = result.unwrap_or_else(|| Turn::new(Role::ToolResult, NO_RESULT));
        let text = self.result(&result.text, is_of_variables);
        out.push(self.timed(Turn { text, tool: Some(tool(failed)), ..result }));
    }

    fn result(&mut self, text: &str, is_of_variables: bool) -> String {
        cut_in_middle(&self.redactor.redact_result(text, is_of_variables), RESULT)
    }

    fn redact(&mut self, text: &str) -> String {
        self.redactor.redact(text).into_owned()
    }

    /// Gives the turn a time that is not before that of the turn before it.
    fn timed(&mut self, turn: Turn) -> Turn {
        let at = turn.at.or(self.time).unwrap_or(self.fallback_time);
        self.time = self.time.max(Some(at));
        turn.at(self.time)
    }
}

fn plain(turn: Turn) -> Option<Held> {
    if turn.text.trim().is_empty() {
        return None;
    }
    Some(Held::Plain(match turn.role {
        Role::Summary => {
            Turn { role: Role::User, text: format!("{SUMMARY}\n\n{}", turn.text), ..turn }
        }
        Role::User | Role::Assistant | Role::ToolCall | Role::ToolResult => turn,
    }))
}

/// Returns the arguments of a call as an object, which every vendor takes.
fn object(text: String) -> String {
    let is_object = text.trim_start().starts_with('{')
        && serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok();
    if is_object { text } else { serde_json::json!({ "input": text }).to_string() }
}

/// Tells whether a call is about a file of variables, and not about those of a program.
fn mentions_variables(text: &str) -> bool {
    let is_file = |(at, word): (usize, &str)| {
        let next = text[at + word.len()..].chars().next();
        let is_whole = !next.is_some_and(|letter| letter.is_alphanumeric() || letter == '_');
        is_whole && !PROGRAMS.iter().any(|program| text[..at].ends_with(program))
    };
    text.match_indices(".env").any(is_file)
}
