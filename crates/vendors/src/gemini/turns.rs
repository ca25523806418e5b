//! Converts a transcript to turns.
//!
//! A line may replace an earlier message, undo earlier messages, or replace all of them. So the
//! conversation is read from the end.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::path::Path;

use jiff::{SignedDuration, Timestamp};
use segue_core::Result;
use segue_core::model::{Role, Turn};
use segue_core::ports::{EachTurn, Files};

use super::message_turns::{self, GeminiTurns};
use super::records::{GeminiLine, LineEffect};
use crate::shared::reading::{self, Belongs, ReadDirection, TranscriptFormat};

/// Messages that were not summarized are copied within this time after the summary.
const COPYING: SignedDuration = SignedDuration::from_secs(1);

/// Reads the turns of the current conversation.
pub(super) fn read(
    files: &dyn Files,
    path: &Path,
    direction: ReadDirection,
    each: &mut EachTurn<'_>,
) -> Result<()> {
    if is_document(path) {
        let _flow = direction.visit(document(files, path)?, each);
        return Ok(());
    }
    reading::read_turns(files, path, Replay::default(), direction, each)
}

/// Returns whether a transcript comes from an older version, which wrote one JSON document.
fn is_document(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "json")
}

fn document(files: &dyn Files, path: &Path) -> Result<Vec<Turn>> {
    let (bytes, mut replay) = (reading::read_document(files, path)?, Replay::default());
    let is_read = replay.belongs(&bytes) != Belongs::No;
    Ok(if is_read { replay.turns(&bytes) } else { Vec::new() })
}

/// State of reading from the end: what the lines that were read already mean for the earlier ones.
#[derive(Default)]
struct Replay {
    /// Hashes of the ids of messages that were seen. An earlier message with the same id was
    /// replaced.
    seen: HashSet<u64>,
    /// Ids of messages that are undone, with everything after them. On the way from the end, the
    /// last entry is found first.
    rewinds: Vec<String>,
    /// Ids of tool calls whose result was seen, but not yet the call. Each result is returned once.
    answered: HashSet<String>,
    /// The oldest summary that was seen. Turns from before it are still returned.
    summary: Option<Summary>,
    /// The positions of the turns that are left out, for each line that belongs, the last line
    /// first. In both directions of reading, the entry of the next line is at the end.
    left_out: Vec<Vec<usize>>,
}

/// A summary that replaces earlier turns.
struct Summary {
    id: u64,
    at: Option<Timestamp>,
    /// Hashes of the turns that were copied after the summary and not summarized, the oldest first.
    copies: Vec<u64>,
    are_matched: bool,
}

impl TranscriptFormat for Replay {
    fn belongs(&mut self, line: &[u8]) -> Belongs {
        let Some(effect) = LineEffect::read(line) else { return Belongs::No };
        if let Some(id) = effect.rewind {
            self.rewinds.push(id);
            return Belongs::No;
        }
        match &effect.id {
            Some(id) if self.stands(id) && self.is_before(effect.timestamp) => self.message(line),
            None if effect.replaces() => self.list(line),
            _ => Belongs::No,
        }
    }

    fn turns(&mut self, line: &[u8]) -> Vec<Turn> {
        let left_out = self.left_out.pop().unwrap_or_default();
        let turns = messages_of(line).into_iter().flat_map(|message| message.turns).enumerate();
        turns.filter(|(at, _)| left_out.binary_search(at).is_err()).map(|(_, turn)| turn).collect()
    }
}

fn messages_of(line: &[u8]) -> Vec<GeminiTurns> {
    GeminiLine::read(line).map(|line| message_turns::of(&line)).unwrap_or_default()
}

impl Replay {
    /// Takes the next message, on the way from the end to the beginning. Returns whether it counts:
    /// no later message replaced it, and it was not undone.
    fn stands(&mut self, id: &str) -> bool {
        let is_newest = self.seen.insert(number(id));
        let Some(rewind) = self.rewinds.last() else { return is_newest };
        if rewind == id {
            self.rewinds.pop();
        }
        false
    }

    /// Returns whether a message may be older than the summary.
    fn is_before(&self, at: Option<Timestamp>) -> bool {
        let summed_up = self.summary.as_ref().and_then(|summary| summary.at);
        at.zip(summed_up).is_none_or(|(at, summed_up)| at < summed_up)
    }

    fn message(&mut self, line: &[u8]) -> Belongs {
        let messages = messages_of(line);
        let turns: Vec<&Turn> = messages.iter().flat_map(|message| &message.turns).collect();
        let left_out: Vec<usize> =
            (0..turns.len()).rev().filter(|at| !self.is_wanted(turns[*at])).collect();
        if left_out.len() == turns.len() {
            return Belongs::No;
        }
        self.leave_out(left_out);
        Belongs::Yes
    }

    fn list(&mut self, line: &[u8]) -> Belongs {
        let messages = messages_of(line);
        let is_own = |summary: &Summary| messages.iter().any(|it| number(&it.id) == summary.id);
        if self.summary.as_ref().is_some_and(is_own) {
            return Belongs::No;
        }
        let mut at: usize = messages.iter().map(|message| message.turns.len()).sum();
        let (mut left_out, mut copies, mut summary) = (Vec::new(), Vec::new(), None);
        for message in messages.iter().rev() {
            let stands = self.stands(&message.id);
            for turn in message.turns.iter().rev() {
                at -= 1;
                if !stands || !self.is_wanted(turn) {
                    left_out.push(at);
                } else if turn.role == Role::Summary {
                    summary = Some(message);
                } else if summary.is_none() {
                    copies.push((turn.at, print(turn)));
                }
            }
        }
        self.leave_out(left_out);
        let Some(summary) = summary.filter(|_| self.rewinds.is_empty()) else {
            return Belongs::First;
        };
        self.summary = Some(Summary::new(summary, copies));
        Belongs::Yes
    }

    /// Returns whether the next turn, on the way from the end, has not been returned yet.
    fn is_wanted(&mut self, turn: &Turn) -> bool {
        if self.summary.as_mut().is_some_and(|summary| summary.has_copy(turn)) {
            return false;
        }
        let id = turn.tool.as_ref().map(|tool| &tool.id).filter(|id| !id.is_empty());
        match (turn.role, id) {
            (Role::ToolResult, Some(id)) => self.answered.insert(id.clone()),
            (Role::ToolCall, Some(id)) => {
                self.answered.remove(id);
                true
            }
            _ => true,
        }
    }

    fn leave_out(&mut self, mut turns: Vec<usize>) {
        turns.reverse();
        self.left_out.push(turns);
    }
}

impl Summary {
    fn new(message: &GeminiTurns, copies: Vec<(Option<Timestamp>, u64)>) -> Self {
        let at = message.turns.first().and_then(|turn| turn.at);
        let end = at.and_then(|at| at.checked_add(COPYING).ok());
        let is_copy = |made: Option<Timestamp>| made.zip(end).is_none_or(|(made, end)| made <= end);
        let copies = copies.into_iter().rev().filter(|(made, _)| is_copy(*made));
        Self {
            id: number(&message.id),
            at,
            copies: copies.map(|(_, print)| print).collect(),
            are_matched: false,
        }
    }

    /// Returns whether the next turn, on the way from the end, was copied after the summary. Turns
    /// are copied from the end without a gap.
    fn has_copy(&mut self, turn: &Turn) -> bool {
        if self.copies.is_empty() {
            return false;
        }
        let wanted = print(turn);
        let found = if self.are_matched {
            self.copies.len().checked_sub(1).filter(|at| self.copies[*at] == wanted)
        } else {
            self.copies.iter().rposition(|copy| *copy == wanted)
        };
        self.are_matched = true;
        self.copies.truncate(found.unwrap_or(0));
        found.is_some()
    }
}

fn number(id: &str) -> u64 {
    hashed(id)
}

/// Returns a hash that distinguishes a turn from other turns.
fn print(turn: &Turn) -> u64 {
    hashed((turn.role, &turn.text, turn.tool.as_ref().map(|tool| &tool.id)))
}

fn hashed(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests;
