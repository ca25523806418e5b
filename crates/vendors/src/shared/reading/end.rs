//! Reads the end of a transcript: whether the last turn is still open, and the last answer.

use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use segue_core::ports::Files;

use super::tail::{StopReason, each_tail_line};

/// What a line of a transcript shows about its turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TurnMark {
    Nothing,
    /// The turn continues after this line.
    Open,
    /// The turn ended without an answer.
    Ended,
    /// The turn ended with this answer.
    Answered(String),
}

/// Reads lines from the end of a transcript until one has the last answer. Returns whether the last
/// turn is still open, and that answer. `mark` reads one line.
pub(crate) fn read_end(
    files: &dyn Files,
    path: &Path,
    length: u64,
    mark: impl Fn(&[u8]) -> TurnMark,
) -> io::Result<(bool, Option<String>)> {
    let (mut is_open, mut last_answer) = (None, None);
    let stopped = each_tail_line(files, path, length, |line| {
        let mark = mark(line);
        if mark != TurnMark::Nothing {
            is_open.get_or_insert(mark == TurnMark::Open);
        }
        let TurnMark::Answered(text) = mark else { return ControlFlow::Continue(()) };
        last_answer = Some(text).filter(|text| !text.is_empty());
        ControlFlow::Break(())
    })?;
    // If no line within the read limit shows the end of the turn, the turn counts as open.
    Ok((is_open.unwrap_or(stopped == StopReason::LimitReached), last_answer))
}
