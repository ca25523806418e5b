//! Reading conversations out of files of lines, in both directions.

mod arguments;
mod clip;
mod content;
mod lines;
mod whole;

use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use segue_core::model::Turn;
use segue_core::ports::{EachTurn, Files};
use segue_core::{Error, Result};

pub(crate) use arguments::arguments;
pub(crate) use clip::read as read_clipped;
pub(crate) use content::Content;
pub(crate) use lines::{Line, each_back, each_forward};
#[cfg(test)]
pub(crate) use whole::LARGEST;
pub(crate) use whole::whole;

/// How lines make up a conversation.
///
/// Which lines belong to the conversation as it stands now is known from the end: a branch that was
/// left, a record that was replaced and what was taken back are all told by what comes later.
pub(crate) trait Format {
    /// Every line belongs, so that the lines can be read forwards without a look at the end.
    const LINEAR: bool = false;

    /// Looks at the next line from the end.
    fn belongs(&mut self, line: &[u8]) -> Belongs;

    /// Returns the turns of a line that belongs, the oldest first.
    fn turns(&mut self, line: &[u8]) -> Vec<Turn>;
}

/// Whether a line belongs to the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Belongs {
    Yes,
    No,
    /// It does, and nothing before it.
    First,
}

/// Reads the turns of a file from the newest to the oldest.
pub(crate) fn turns_back(
    files: &dyn Files,
    path: &Path,
    mut format: impl Format,
    each: &mut EachTurn<'_>,
) -> Result<()> {
    let take = |line: Line<'_>| {
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
pub(crate) fn turns<F: Format>(
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
    let take = |line: Line<'_>| {
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

/// Returns where the lines begin that belong, the last one first.
fn starts(files: &dyn Files, path: &Path, format: &mut impl Format) -> io::Result<Vec<u64>> {
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

pub(crate) fn unreadable(path: &Path, error: io::Error) -> Error {
    Error::vendor(format!("cannot read the transcript `{}`", path.display())).caused_by(error)
}
