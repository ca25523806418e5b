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

use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use segue_core::model::Turn;
use segue_core::ports::{EachTurn, Files};
use segue_core::{Error, Result};

pub(crate) use arguments::arguments;
pub(crate) use beginning::{FirstRecords, find_in_beginning};
pub(crate) use clip::read as read_clipped;
pub(crate) use complete_lines::each_complete_line;
pub(crate) use content::MessageContent;
#[cfg(test)]
pub(crate) use document::LARGEST;
pub(crate) use document::whole;
pub(crate) use end::{TurnMark, read_end};
pub(crate) use lines::{TranscriptLine, each_back, each_forward};
pub(crate) use tail::{StopReason, each_tail_line};

/// How the lines of a transcript form a conversation.
///
/// Which lines belong to the current conversation is decided from the end of the file: only later
/// lines show that a branch was left, a record was replaced, or a message was taken back.
pub(crate) trait TranscriptFormat {
    /// Whether every line belongs, so that the lines can be read forwards without reading the end
    /// first.
    const LINEAR: bool = false;

    /// Decides whether a line belongs. It is called for the lines in order from the last to the
    /// first.
    fn belongs(&mut self, line: &[u8]) -> Belongs;

    /// Returns the turns of a line that belongs, the oldest first.
    fn turns(&mut self, line: &[u8]) -> Vec<Turn>;
}

/// A format in which every line belongs. The function returns the turns of a line.
pub(crate) struct EveryLine<F>(pub(crate) F);

impl<F: FnMut(&[u8]) -> Vec<Turn>> TranscriptFormat for EveryLine<F> {
    const LINEAR: bool = true;

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

/// Reads the turns of a file from the newest to the oldest.
pub(crate) fn turns_back(
    files: &dyn Files,
    path: &Path,
    mut format: impl TranscriptFormat,
    each: &mut EachTurn<'_>,
) -> Result<()> {
    let take = |line: TranscriptLine<'_>| {
        let belongs = format.belongs(line.bytes);
        if belongs == Belongs::No {
            return ControlFlow::Continue(());
        }
        for turn in format.turns(line.bytes).into_iter().rev() {
            each(turn)?;
        }
        if belongs == Belongs::First { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    each_back(files, path, take).map_err(|error| unreadable(path, error))
}

/// Reads the turns of a file from the oldest to the newest.
pub(crate) fn turns<F: TranscriptFormat>(
    files: &dyn Files,
    path: &Path,
    mut format: F,
    each: &mut EachTurn<'_>,
) -> Result<()> {
    let starts = if F::LINEAR {
        None
    } else {
        Some(starts(files, path, &mut format).map_err(|error| unreadable(path, error))?)
    };
    let mut wanted = starts.as_deref().map(|starts| starts.iter().rev().copied().peekable());
    let from = wanted.as_mut().map_or(Some(0), |wanted| wanted.peek().copied());
    let Some(from) = from else { return Ok(()) };
    let take = |line: TranscriptLine<'_>| {
        if let Some(wanted) = &mut wanted {
            match wanted.peek() {
                None => return ControlFlow::Break(()),
                Some(start) if *start != line.start => return ControlFlow::Continue(()),
                Some(_) => drop(wanted.next()),
            }
        }
        format.turns(line.bytes).into_iter().try_for_each(&mut *each)
    };
    each_forward(files, path, from, take).map_err(|error| unreadable(path, error))
}

/// Returns the byte offsets of the lines that belong, the last line first.
fn starts(
    files: &dyn Files,
    path: &Path,
    format: &mut impl TranscriptFormat,
) -> io::Result<Vec<u64>> {
    let mut starts = Vec::new();
    each_back(files, path, |line| {
        let belongs = format.belongs(line.bytes);
        if belongs != Belongs::No {
            starts.push(line.start);
        }
        if belongs == Belongs::First { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    Ok(starts)
}

/// Returns the messages in the complete lines from byte `offset` on. `message` reads one line.
pub(crate) fn messages_since(
    files: &dyn Files,
    path: &Path,
    offset: u64,
    mut message: impl FnMut(&[u8]) -> Option<String>,
) -> Result<Vec<String>> {
    let mut found = Vec::new();
    each_complete_line(files, path, offset, |line| found.extend(message(line)))
        .map_err(|error| unreadable(path, error))?;
    Ok(found)
}

pub(crate) fn unreadable(path: &Path, error: io::Error) -> Error {
    Error::vendor(format!("cannot read the transcript `{}`", path.display())).caused_by(error)
}
