//! Converts a transcript to turns.
//!
//! A line may replace one earlier message, undo earlier messages, or replace all earlier messages.
//! So the lines are read from the end.

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

/// How long after a summary Gemini writes copies of the messages that it did not summarize.
const COPY_DURATION: SignedDuration = SignedDuration::from_secs(1);

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
    let belongs = replay.belongs(&bytes) != Belongs::No;
    Ok(if belongs { replay.turns(&bytes) } else { Vec::new() })
}

/// The state of reading from the end: the effects of later lines on earlier lines.
#[derive(Default)]
struct Replay {
    /// Hashes of the ids of later messages. They replace earlier messages with the same id.
    seen: HashSet<u64>,
    /// Ids of messages that are undone, with all messages after them. On the way from the end, the
    /// message of the last entry comes first.
    rewinds: Vec<String>,
    /// Ids of tool calls of which only the result was read so far. Each result is returned once.
    answered: HashSet<String>,
    /// The earliest summary that was read so far. Turns before it are also returned.
    summary: Option<Summary>,
    /// For each line that belongs, the positions of its turns that are not returned. The next call
    /// of `turns` uses the last entry.
    omitted: Vec<Vec<usize>>,
}

/// A summary that replaces earlier turns.
struct Summary {
    id: u64,
    at: Option<Timestamp>,
    /// Hashes of the copied turns after the summary, in the order of the conversation.
    copies: Vec<u64>,
    /// The first comparison has been made. Later turns must match the copies without a gap.
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
            Some(id) if self.is_current(id) && self.is_before(effect.timestamp) => {
                self.message(line)
            }
            None if effect.replaces() => self.list(line),
            _ => Belongs::No,
        }
    }

    fn turns(&mut self, line: &[u8]) -> Vec<Turn> {
        let omitted = self.omitted.pop().unwrap_or_default();
        let turns = messages_of(line).into_iter().flat_map(|message| message.turns).enumerate();
        turns
            .filter(|(index, _)| omitted.binary_search(index).is_err())
            .map(|(_, turn)| turn)
            .collect()
    }
}

fn messages_of(line: &[u8]) -> Vec<GeminiTurns> {
    GeminiLine::read(line).map(|line| message_turns::of(&line)).unwrap_or_default()
}

impl Replay {
    /// Records a message, on the way from the end. Returns whether it is part of the conversation:
    /// no later line replaced or undid it.
    fn is_current(&mut self, id: &str) -> bool {
        let is_newest = self.seen.insert(hash_id(id));
        let Some(rewind) = self.rewinds.last() else { return is_newest };
        if rewind == id {
            self.rewinds.pop();
        }
        false
    }

    /// Returns whether a message may be older than the summary: `true` if a timestamp is missing.
    fn is_before(&self, at: Option<Timestamp>) -> bool {
        let summary_time = self.summary.as_ref().and_then(|summary| summary.at);
        at.zip(summary_time).is_none_or(|(at, summary_time)| at < summary_time)
    }

    fn message(&mut self, line: &[u8]) -> Belongs {
        let messages = messages_of(line);
        let turns: Vec<&Turn> = messages.iter().flat_map(|message| &message.turns).collect();
        let omitted: Vec<usize> =
            (0..turns.len()).rev().filter(|index| !self.is_wanted(turns[*index])).collect();
        if omitted.len() == turns.len() {
            return Belongs::No;
        }
        self.push_omitted(omitted);
        Belongs::Yes
    }

    fn list(&mut self, line: &[u8]) -> Belongs {
        let messages = messages_of(line);
        let contains_summary =
            |summary: &Summary| messages.iter().any(|message| hash_id(&message.id) == summary.id);
        if self.summary.as_ref().is_some_and(contains_summary) {
            return Belongs::No;
        }
        let mut index: usize = messages.iter().map(|message| message.turns.len()).sum();
        let (mut omitted, mut copies, mut summary) = (Vec::new(), Vec::new(), None);
        for message in messages.iter().rev() {
            let is_current = self.is_current(&message.id);
            for turn in message.turns.iter().rev() {
                index -= 1;
                if !is_current || !self.is_wanted(turn) {
                    omitted.push(index);
                } else if turn.role == Role::Summary {
                    summary = Some(message);
                } else if summary.is_none() {
                    copies.push((turn.at, hash_turn(turn)));
                }
            }
        }
        self.push_omitted(omitted);
        let Some(summary) = summary.filter(|_| self.rewinds.is_empty()) else {
            return Belongs::First;
        };
        self.summary = Some(Summary::new(summary, copies));
        Belongs::Yes
    }

    /// Records a turn, on the way from the end. Returns whether no copy of it was returned already.
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

    fn push_omitted(&mut self, mut turns: Vec<usize>) {
        turns.reverse();
        self.omitted.push(turns);
    }
}

impl Summary {
    fn new(message: &GeminiTurns, copies: Vec<(Option<Timestamp>, u64)>) -> Self {
        let at = message.turns.first().and_then(|turn| turn.at);
        let end = at.and_then(|at| at.checked_add(COPY_DURATION).ok());
        let is_copy = |at: Option<Timestamp>| at.zip(end).is_none_or(|(at, end)| at <= end);
        let copies = copies.into_iter().rev().filter(|(at, _)| is_copy(*at));
        Self {
            id: hash_id(&message.id),
            at,
            copies: copies.map(|(_, hash)| hash).collect(),
            are_matched: false,
        }
    }

    /// Returns whether the next turn, on the way from the end, was copied after the summary. The
    /// copied turns are the last ones before the summary, without a gap.
    fn has_copy(&mut self, turn: &Turn) -> bool {
        if self.copies.is_empty() {
            return false;
        }
        let hash = hash_turn(turn);
        let found = if self.are_matched {
            self.copies.len().checked_sub(1).filter(|index| self.copies[*index] == hash)
        } else {
            self.copies.iter().rposition(|copy| *copy == hash)
        };
        self.are_matched = true;
        self.copies.truncate(found.unwrap_or(0));
        found.is_some()
    }
}

fn hash_id(id: &str) -> u64 {
    hash(id)
}

/// Returns a hash of the role, the text and the tool of a turn.
fn hash_turn(turn: &Turn) -> u64 {
    hash((turn.role, &turn.text, turn.tool.as_ref().map(|tool| &tool.id)))
}

fn hash(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests;
