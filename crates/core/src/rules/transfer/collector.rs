//! Selects as much of the end of a conversation as a budget allows.

use std::collections::HashSet;
use std::ops::{ControlFlow, Deref};

use super::cut_in_middle;
use crate::model::{Role, Turn};
use crate::rules::redaction::{KnownSecrets, Redactor, Removed, is_env_file};

/// Maximum number of characters of a tool's arguments or result.
const MAX_TOOL_CHARACTERS: usize = 20_000;

/// Collects turns from the newest to the oldest until a number of characters is reached.
#[derive(Debug)]
pub struct TurnCollector {
    budget: usize,
    used: usize,
    /// Newest first.
    turns: Vec<CollectedTurn>,
    is_full: bool,
    redactor: Redactor,
}

/// A collected turn, and the number of secrets that were removed from it before it was cut.
#[derive(Clone, Debug, PartialEq, Eq)]
struct CollectedTurn {
    turn: Turn,
    removed: Removed,
}

impl Deref for CollectedTurn {
    type Target = Turn;

    fn deref(&self) -> &Turn {
        &self.turn
    }
}

/// The turns that the other vendor gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CollectedTurns {
    /// Oldest first, not cleaned yet.
    pub turns: Vec<Turn>,
    /// Whether turns are left out.
    pub is_cut: bool,
    /// The number of turns that are left out, as the first turn says. `None` if they were not
    /// counted.
    pub left_out: Option<u64>,
    /// The number of secrets that were removed from turns that were cut. All other turns still
    /// contain their secrets.
    pub removed: Removed,
}

impl TurnCollector {
    /// Creates an empty collector with a budget in characters.
    pub fn new(budget: usize) -> Self {
        Self::with_known_secrets(budget, KnownSecrets::default())
    }

    /// Creates an empty collector that also removes these known secrets before it cuts a turn.
    pub fn with_known_secrets(budget: usize, known: KnownSecrets) -> Self {
        let redactor = Redactor::new(known);
        Self { budget, used: 0, turns: Vec::new(), is_full: false, redactor }
    }

    /// Adds the next older turn. Returns `Break` if there is no more room.
    pub fn take(&mut self, turn: Turn) -> ControlFlow<()> {
        if self.is_full {
            return ControlFlow::Break(());
        }
        let turn = self.shortened(turn);
        let length = characters(&turn);
        self.is_full = self.used + length > self.budget;
        if self.is_full {
            return ControlFlow::Break(());
        }
        self.used += length;
        self.turns.push(turn);
        ControlFlow::Continue(())
    }

    /// Returns the collected turns. If turns are left out, the first task becomes the first turn,
    /// and a notice about the missing turns is its last line.
    ///
    /// `left_out` is the number of turns that were not collected, including the turn at which
    /// `take` returned `Break`.
    pub fn finish(mut self, first_task: Option<Turn>, left_out: Option<u64>) -> CollectedTurns {
        let mut turns = std::mem::take(&mut self.turns);
        if !self.is_full {
            turns.reverse();
            return collected(turns, false, Some(0));
        }
        let taken = turns.len();
        let kept = u64::from(first_task.is_some());
        let task = first_task.unwrap_or_else(|| Turn::new(Role::User, ""));
        let task = self.shorten(task, self.budget / 2);
        let line = notice(Some(u64::MAX)).chars().count();
        let with_line = characters(&task) + line;
        let has_line = with_line <= self.budget - self.budget / 4;
        let head = if has_line { with_line } else { characters(&task) };
        self.fit(&mut turns, self.budget - head);
        turns.reverse();
        drop_incomplete_start(&mut turns);
        // A turn with the same text and timestamp is the task itself.
        if task.at.is_some() && turns.first().is_some_and(|first| first.turn == task.turn) {
            turns.remove(0);
        }
        let dropped = u64::try_from(taken - turns.len()).unwrap_or(u64::MAX);
        let missing = left_out.map(|count| count.saturating_add(dropped).saturating_sub(kept));
        let line = if has_line { notice(missing) } else { String::new() };
        let CollectedTurn { turn, removed } = task;
        let text = format!("{}{line}", turn.text).trim_start().to_owned();
        let head = CollectedTurn { turn: Turn { text, ..turn }, removed };
        turns.splice(0..0, (!head.text.is_empty()).then_some(head));
        collected(turns, true, missing)
    }

    /// Cuts out the middle of a turn that is too long.
    fn shortened(&mut self, turn: Turn) -> CollectedTurn {
        let most = match turn.role {
            // A call, its result and the first task must fit next to each other.
            Role::ToolCall | Role::ToolResult => MAX_TOOL_CHARACTERS.min(self.budget / 4),
            _ if self.turns.is_empty() => self.budget,
            // One huge message must not displace everything before it.
            Role::User | Role::Assistant | Role::Summary => self.budget / 2,
        };
        self.shorten(turn, most)
    }

    /// Cuts out the middle of a text that is too long. Secrets are removed first, because half a
    /// secret would not be recognized.
    fn shorten(&mut self, turn: Turn, most: usize) -> CollectedTurn {
        let is_short = turn.text.len() <= most || turn.text.chars().count() <= most;
        if is_short {
            return CollectedTurn { turn, removed: Removed::default() };
        }
        let text = if turn.role == Role::ToolResult {
            self.redactor.redact_result(&turn.text, is_env_file(&turn.text))
        } else {
            self.redactor.redact(&turn.text)
        };
        let text = cut_in_middle(&text, most);
        CollectedTurn { turn: Turn { text, ..turn }, removed: self.redactor.take_removed() }
    }

    /// Keeps the newest turns that fit into `room`; `turns` has the newest turn first. If no turn
    /// fits, the newest one is cut.
    fn fit(&mut self, turns: &mut Vec<CollectedTurn>, room: usize) {
        let mut used = 0;
        let has_room = |turn: &&CollectedTurn| {
            used += characters(turn);
            used <= room
        };
        let kept = turns.iter().take_while(has_room).count();
        turns.truncate(kept.max(1));
        if let (0, Some(newest)) = (kept, turns.pop()) {
            let mut cut = self.shorten(newest.turn, room);
            cut.removed.merge(&newest.removed);
            turns.push(cut);
        }
    }
}

fn collected(turns: Vec<CollectedTurn>, is_cut: bool, left_out: Option<u64>) -> CollectedTurns {
    let mut removed = Removed::default();
    turns.iter().for_each(|taken| removed.merge(&taken.removed));
    let turns = turns.into_iter().map(|taken| taken.turn).collect();
    CollectedTurns { turns, is_cut, left_out, removed }
}

fn characters(turn: &Turn) -> usize {
    turn.text.chars().count()
}

fn notice(missing: Option<u64>) -> String {
    let what = match missing {
        Some(0) => return String::new(),
        Some(1) => "One turn of this conversation is".to_owned(),
        Some(count) => format!("{count} turns of this conversation are"),
        None => "Turns of this conversation are".to_owned(),
    };
    format!("\n\n[{what} left out between this and what follows.]")
}

/// Removes turns at the start that cannot be understood without the missing turns.
fn drop_incomplete_start(turns: &mut Vec<CollectedTurn>) {
    let start = first_to_keep(turns);
    turns.drain(..start);
    let mut open = HashSet::new();
    let mut nameless = 0_usize;
    turns.retain(|turn| {
        let id = turn.tool.as_ref().map_or("", |tool| tool.id.as_str());
        match turn.role {
            Role::ToolCall if id.is_empty() => nameless += 1,
            Role::ToolCall => drop(open.insert(id.to_owned())),
            Role::ToolResult if id.is_empty() => {
                let is_known = nameless > 0;
                nameless = nameless.saturating_sub(1);
                return is_known;
            }
            Role::ToolResult => return open.contains(id),
            Role::User | Role::Assistant | Role::Summary => {}
        }
        true
    });
}

/// Returns the index of the first turn to keep: the first message of the user, unless this would
/// drop more than half of the text. Otherwise the first text of the agent, otherwise the first tool
/// call.
fn first_to_keep(turns: &[CollectedTurn]) -> usize {
    let first = |is_it: fn(Role) -> bool| turns.iter().position(|turn| is_it(turn.role));
    let all: usize = turns.iter().map(|turn| characters(turn)).sum();
    let lost = |at: &usize| turns[..*at].iter().map(|turn| characters(turn)).sum::<usize>();
    let message = first(|role| matches!(role, Role::User | Role::Summary));
    let message = message.filter(|at| lost(at) <= all / 2);
    let starts =
        [message, first(|role| role == Role::Assistant), first(|role| role == Role::ToolCall)];
    starts.into_iter().flatten().next().unwrap_or(0)
}
