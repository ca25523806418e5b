//! Reads conversations from files with one record per line, in both directions.

mod arguments;
mod beginning;
mod clip;
mod complete_lines;
mod content;
mod document;
mod end;
mod lines;
mod tail;
mod usage;

use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use jiff::Timestamp;
use segue_core::model::{Role, Turn, Usage, UsdAmount};
use segue_core::ports::{EachTurn, Files};
use segue_core::{Error, Result};
use serde::de::DeserializeOwned;

pub(crate) use arguments::arguments;
pub(crate) use beginning::{FirstRecords, find_in_beginning};
pub(crate) use clip::read as read_clipped;
pub(crate) use complete_lines::each_complete_line;
pub(crate) use content::MessageContent;
#[cfg(test)]
pub(crate) use document::LARGEST_DOCUMENT_BYTES;
pub(crate) use document::read_document;
pub(crate) use end::{TurnMark, read_end};
pub(crate) use lines::{TranscriptLine, each_line, each_line_back, find_line_back};
pub(crate) use tail::{StopReason, each_tail_line, find_in_tail};
pub(crate) use usage::read_usage;

/// The order in which turns are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReadDirection {
    /// From the oldest turn to the newest.
    Forward,
    /// From the newest turn to the oldest.
    Back,
}

impl ReadDirection {
    /// Calls `each` with turns, of which the oldest is the first, in this direction.
    pub(crate) fn visit(self, turns: Vec<Turn>, each: &mut EachTurn<'_>) -> ControlFlow<()> {
        match self {
            Self::Forward => turns.into_iter().try_for_each(each),
            Self::Back => turns.into_iter().rev().try_for_each(each),
        }
    }
}

/// How the lines of a transcript form a conversation.
///
/// Which lines belong to the current conversation is decided from the end of the file: only later
/// lines show that a branch was abandoned, a record was replaced, or a message was reverted.
pub(crate) trait TranscriptFormat {
    /// Whether every line belongs to the conversation. Then the lines can be read forwards without
    /// reading the end first.
    const EVERY_LINE_BELONGS: bool = false;

    /// Returns whether a line belongs. It is called for the lines in order from the last to the
    /// first.
    fn belongs(&mut self, line: &[u8]) -> Belongs;

    /// Returns the turns of a line that belongs, the oldest first.
    fn turns(&mut self, line: &[u8]) -> Vec<Turn>;
}

/// A format in which every line belongs. The function returns the turns of a line.
pub(crate) struct EveryLine<F>(pub(crate) F);

impl<F: FnMut(&[u8]) -> Vec<Turn>> TranscriptFormat for EveryLine<F> {
    const EVERY_LINE_BELONGS: bool = true;

    fn belongs(&mut self, _line: &[u8]) -> Belongs {
        Belongs::Yes
    }

    fn turns(&mut self, line: &[u8]) -> Vec<Turn> {
        self.0(line)
    }
}

/// Whether a line belongs to the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Belongs {
    Yes,
    No,
    /// The line belongs, and no line before it does.
    First,
}

/// Reads the turns of a file. Keeps only a few lines of the file in memory.
pub(crate) fn read_turns(
    files: &dyn Files,
    path: &Path,
    format: impl TranscriptFormat,
    direction: ReadDirection,
    each: &mut EachTurn<'_>,
) -> Result<()> {
    let read = match direction {
        ReadDirection::Forward => turns_forward(files, path, format, each),
        ReadDirection::Back => turns_back(files, path, format, each),
    };
    read.map_err(|error| unreadable(path, error))
}

fn turns_back(
    files: &dyn Files,
    path: &Path,
    mut format: impl TranscriptFormat,
    each: &mut EachTurn<'_>,
) -> io::Result<()> {
    each_line_back(files, path, |line| {
        let belongs = format.belongs(line.bytes);
        if belongs == Belongs::No {
            return ControlFlow::Continue(());
        }
        ReadDirection::Back.visit(format.turns(line.bytes), each)?;
        if belongs == Belongs::First { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })
}

fn turns_forward<F: TranscriptFormat>(
    files: &dyn Files,
    path: &Path,
    mut format: F,
    each: &mut EachTurn<'_>,
) -> io::Result<()> {
    let starts = if F::EVERY_LINE_BELONGS {
        None
    } else {
        Some(starts_of_lines_that_belong(files, path, &mut format)?)
    };
    let mut wanted = starts.as_deref().map(|starts| starts.iter().rev().copied().peekable());
    let first = wanted.as_mut().map_or(Some(0), |wanted| wanted.peek().copied());
    let Some(first) = first else { return Ok(()) };
    each_line(files, path, first, |line| {
        if let Some(wanted) = &mut wanted {
            match wanted.peek() {
                None => return ControlFlow::Break(()),
                Some(start) if *start != line.start => return ControlFlow::Continue(()),
                Some(_) => drop(wanted.next()),
            }
        }
        ReadDirection::Forward.visit(format.turns(line.bytes), each)
    })
}

/// Returns the byte offsets of the lines that belong, the last line first.
fn starts_of_lines_that_belong(
    files: &dyn Files,
    path: &Path,
    format: &mut impl TranscriptFormat,
) -> io::Result<Vec<u64>> {
    let mut starts = Vec::new();
    each_line_back(files, path, |line| {
        let belongs = format.belongs(line.bytes);
        if belongs != Belongs::No {
            starts.push(line.start);
        }
        if belongs == Belongs::First { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    Ok(starts)
}

/// Returns the user's messages in the complete lines from byte `offset` on. `message` reads one
/// line.
pub(crate) fn messages_since(
    files: &dyn Files,
    path: &Path,
    offset: u64,
    mut message: impl FnMut(&[u8]) -> Option<String>,
) -> Result<Vec<String>> {
    let mut messages = Vec::new();
    each_complete_line(files, path, offset, |line| messages.extend(message(line)))
        .map_err(|error| unreadable(path, error))?;
    Ok(messages)
}

/// Parses a line of JSON. Invalid UTF-8 becomes U+FFFD. Returns `None` if the line is truncated or
/// has another form.
pub(crate) fn parse_json<T: DeserializeOwned>(line: &[u8]) -> Option<T> {
    serde_json::from_str(&String::from_utf8_lossy(line)).ok()
}

/// Returns a turn with this text. `None` if the text is blank.
pub(crate) fn text_turn(role: Role, text: String, at: Option<Timestamp>) -> Option<Turn> {
    (!text.trim().is_empty()).then(|| Turn::new(role, text).at(at))
}

/// Returns the token usage of a vendor that counts input from the cache, and input that was written
/// to the cache, apart from other input.
pub(crate) fn usage_with_cache(input: u64, (read, written): (u64, u64), output: u64) -> Usage {
    let input = input.saturating_add(read).saturating_add(written);
    Usage { input, cached: read, output, cost_usd: None }
}

/// Returns the cost that a vendor reports. Vendors write 0 if they do not know the price of a model,
/// so 0 is unknown.
pub(crate) fn known_cost(dollars: f64) -> Option<UsdAmount> {
    UsdAmount::from_dollars(dollars).filter(|cost| *cost > UsdAmount::default())
}

/// Returns the error for a transcript that cannot be read.
pub(crate) fn unreadable(path: &Path, error: io::Error) -> Error {
    Error::vendor(format!("cannot read the transcript `{}`", path.display())).caused_by(error)
}
