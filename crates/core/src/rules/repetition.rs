//! Finds work that repeats itself: the same tool calls within a turn, and messages that go back and
//! forth between two agents.

use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::ops::ControlFlow;

use crate::model::{ExchangedMessage, Role, Tool, Turn};
use crate::rules::redaction;

#[cfg(test)]
mod tests;

/// The longest cycle of tool calls that is found: A B C A B C.
const MAX_PERIOD: usize = 3;

/// Calls whose results change, and calls that wait, are repeated this many times more often before
/// they count as a repetition.
const WAITING_FACTOR: usize = 5;

/// At most this many results wait for their calls while a transcript is read.
const MAX_OPEN_RESULTS: usize = 64;

/// A tool call is shown with at most this many characters of its input.
const SHOWN_CHARACTERS: usize = 80;

/// How often something is repeated before a person is needed. `None` if it never is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RepetitionLimits {
    /// The same tool call with the same result, or a short cycle of calls, within a turn.
    pub tool_calls: Option<usize>,
    /// Messages between two agents.
    pub messages: Option<usize>,
}

impl Default for RepetitionLimits {
    fn default() -> Self {
        Self { tool_calls: Some(10), messages: Some(12) }
    }
}

/// Tool calls that are repeated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepeatedCalls {
    /// The calls of one cycle as a text for people, without their secrets.
    pub what: String,
    pub times: usize,
}

/// Looks for repeated tool calls at the end of a conversation. It gets the newest entry first, and ends
/// the reading as soon as the calls differ, at the message of the user, or at the limit.
#[derive(Debug)]
pub struct CallScan {
    limit: usize,
    /// The results whose calls were not read yet.
    results: Vec<(String, u64)>,
    /// The calls with results, newest first.
    calls: Vec<CallDigest>,
    /// The texts of the newest calls, which are shown.
    shown: Vec<String>,
    runs: [CallRun; MAX_PERIOD],
    found: Option<RepeatedCalls>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct CallDigest {
    input: u64,
    result: u64,
    /// Whether the tool only waits for something.
    waits: bool,
}

/// How many of the newest calls repeat with one period.
#[derive(Clone, Copy, Debug)]
struct CallRun {
    inputs: usize,
    /// Calls whose inputs and results are the same, and that do not wait.
    exact: usize,
    is_open: bool,
    is_exact: bool,
}

impl CallScan {
    pub fn new(limit: usize) -> Self {
        let run = CallRun { inputs: 0, exact: 0, is_open: true, is_exact: true };
        Self {
            limit,
            results: Vec::new(),
            calls: Vec::new(),
            shown: Vec::new(),
            runs: [run; MAX_PERIOD],
            found: None,
        }
    }

    /// Reads the next older entry of the conversation.
    pub fn read(&mut self, turn: &Turn) -> ControlFlow<()> {
        match (turn.role, &turn.tool) {
            (Role::User | Role::Summary, _) => ControlFlow::Break(()),
            (Role::ToolResult, Some(tool)) => {
                self.keep_result(tool, turn);
                ControlFlow::Continue(())
            }
            (Role::ToolCall, Some(tool)) => self.read_call(tool, turn),
            _ => ControlFlow::Continue(()),
        }
    }

    /// Returns what repeats.
    pub fn finish(self) -> Option<RepeatedCalls> {
        self.found
    }

    fn keep_result(&mut self, tool: &Tool, turn: &Turn) {
        if self.results.len() == MAX_OPEN_RESULTS {
            self.results.remove(0);
        }
        self.results.push((tool.id.clone(), digest(&(&turn.text, tool.failed))));
    }

    fn read_call(&mut self, tool: &Tool, turn: &Turn) -> ControlFlow<()> {
        // A call without a result still runs.
        let Some(result) = self.take_result(&tool.id) else { return ControlFlow::Continue(()) };
        let input = digest(&(&tool.name, &turn.text));
        self.calls.push(CallDigest { input, result, waits: is_waiting(&tool.name, &turn.text) });
        if self.shown.len() < MAX_PERIOD {
            self.shown.push(shown(&tool.name, &turn.text));
        }
        (1..=MAX_PERIOD).for_each(|period| self.extend(period));
        self.found = (1..=MAX_PERIOD).find_map(|period| self.repeated(period));
        let is_over = self.found.is_some() || self.runs.iter().all(|run| !run.is_open);
        if is_over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn take_result(&mut self, id: &str) -> Option<u64> {
        let at = match id.is_empty() {
            // The calls of such a vendor run one after another.
            true => self.results.len().checked_sub(1),
            false => self.results.iter().position(|(of, _)| of == id),
        };
        at.map(|at| self.results.remove(at).1)
    }

    /// Adds the oldest call to the run of a period.
    fn extend(&mut self, period: usize) {
        let Some((call, newer)) = self.calls.split_last() else { return };
        let run = &mut self.runs[period - 1];
        // The first calls of a run have nothing to be compared with.
        let other = newer.len().checked_sub(period).map(|at| newer[at]);
        let is_same = other.is_none_or(|other| other.input == call.input);
        let is_exact = other.is_none_or(|other| other.result == call.result) && !call.waits;
        run.is_open &= is_same;
        run.is_exact &= is_same && is_exact;
        run.inputs += usize::from(run.is_open);
        run.exact += usize::from(run.is_exact);
    }

    fn repeated(&self, period: usize) -> Option<RepeatedCalls> {
        let run = self.runs[period - 1];
        let is_repeated =
            run.exact >= self.limit * period || run.inputs >= self.limit * period * WAITING_FACTOR;
        let times = run.inputs / period;
        is_repeated.then(|| RepeatedCalls { what: cycle(&self.shown[..period]), times })
    }
}

/// Returns the calls of a cycle as one text, which does not depend on the call that is the newest.
fn cycle(newest_first: &[String]) -> String {
    let mut calls: Vec<&str> = newest_first.iter().rev().map(String::as_str).collect();
    let first = (0..calls.len()).min_by_key(|at| calls[*at]).unwrap_or(0);
    calls.rotate_left(first);
    calls.join(" and ")
}

fn digest(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

fn shown(name: &str, input: &str) -> String {
    let input = redaction::redact(input);
    let line: String = input.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut cut: String = line.chars().take(SHOWN_CHARACTERS).collect();
    if cut.len() < line.len() {
        cut.push('…');
    }
    // A backtick would end the quotation.
    format!("`{} {}`", name.replace('`', "'"), cut.replace('`', "'"))
}

/// Segue's own tools and commands that only wait.
const WAITING: [&str; 2] = ["agent_wait", "task_wait"];

/// Segue's own tools with which an agent only talks to others or looks at them.
const TALKING: [&str; 7] = [
    "agent_send",
    "agent_status",
    "agent_list",
    "agent_read",
    "agent_wait",
    "task_wait",
    "task_report",
];

/// Segue's own commands with which an agent only talks to others or looks at them.
const TALKING_COMMANDS: [&str; 9] = [
    "segue send",
    "segue wait",
    "segue show",
    "segue ls",
    "segue status",
    "segue messages",
    "segue task report",
    "segue task wait",
    "segue task show",
];

/// Returns whether a tool call waits for something. Such calls repeat for good reasons.
fn is_waiting(name: &str, input: &str) -> bool {
    WAITING.iter().any(|it| name.ends_with(it))
        || input.contains("segue wait")
        || input.contains("segue task wait")
        || input.contains("sleep ")
}

/// Returns whether a tool call is work of an agent, and not only a message to another agent.
fn is_work(tool: &Tool, input: &str) -> bool {
    let talks = TALKING.iter().any(|it| tool.name.ends_with(it))
        || TALKING_COMMANDS.iter().any(|it| input.contains(it));
    !talks
}

/// Finds out whether an agent has worked in its current turn, and not only talked. It gets the newest
/// entry first.
#[derive(Debug, Default)]
pub struct WorkScan {
    has_worked: bool,
}

impl WorkScan {
    /// Reads the next older entry of the conversation.
    pub fn read(&mut self, turn: &Turn) -> ControlFlow<()> {
        match (turn.role, &turn.tool) {
            (Role::User | Role::Summary, _) => ControlFlow::Break(()),
            (Role::ToolCall, Some(tool)) if is_work(tool, &turn.text) => {
                self.has_worked = true;
                ControlFlow::Break(())
            }
            _ => ControlFlow::Continue(()),
        }
    }

    pub fn has_worked(&self) -> bool {
        self.has_worked
    }
}

/// Returns how many messages have gone back and forth between two sessions since a person, another
/// session or other work came in between. `newest_first` has the messages to both sessions. Several
/// messages in the same direction count once.
pub fn exchanges(newest_first: &[ExchangedMessage]) -> usize {
    let pair = |it: &ExchangedMessage| Some((it.sender?.session, it.to));
    let Some((from, to)) = newest_first.first().and_then(pair) else { return 0 };
    let (mut count, mut last) = (0, None);
    for message in newest_first {
        let is_talk = message.sender.is_some_and(|sender| !sender.has_worked);
        let direction = pair(message).filter(|it| *it == (from, to) || *it == (to, from));
        if !is_talk || direction.is_none() {
            break;
        }
        count += usize::from(direction != last);
        last = direction;
    }
    count
}
