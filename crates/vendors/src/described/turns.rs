//! Converts a transcript of unknown format to turns. The transcript is one JSON document, or has
//! one record per line.

use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use segue_core::Result;
use segue_core::model::Turn;
use segue_core::ports::{EachTurn, Files};
use serde_json::Value;

use super::{document, message};
use crate::shared::reading::{self, EveryLine, ReadDirection, TranscriptLine};

/// Reads the turns of a transcript.
pub(super) fn read(
    files: &dyn Files,
    path: &Path,
    direction: ReadDirection,
    each: &mut EachTurn<'_>,
) -> Result<()> {
    match turns_of_document(files, path)? {
        Some(turns) => drop(direction.visit(turns, each)),
        None => reading::read_turns(files, path, EveryLine(turns_of_line), direction, each)?,
    }
    Ok(())
}

/// Returns the turns of a line. Each line is one message.
fn turns_of_line(line: &[u8]) -> Vec<Turn> {
    reading::parse_json(line).as_ref().and_then(message::turns).unwrap_or_default()
}

/// Reads the turns of a document. `None` if the file has one record per line.
fn turns_of_document(files: &dyn Files, path: &Path) -> Result<Option<Vec<Turn>>> {
    if !is_document(files, path).map_err(|error| reading::unreadable(path, error))? {
        return Ok(None);
    }
    let document = reading::parse_json(&reading::read_document(files, path)?);
    Ok(document.as_ref().map(document::turns))
}

/// Returns whether a file is one document: neither its first nor its last line is valid JSON, or
/// its only line is not a message.
fn is_document(files: &dyn Files, path: &Path) -> io::Result<bool> {
    let (mut first, mut last) = (None, None);
    reading::each_line(files, path, 0, |line| read_first(line, &mut first))?;
    let Some((start, first)) = first else { return Ok(false) };
    reading::each_line_back(files, path, |line| read_first(line, &mut last))?;
    Ok(match (first, last) {
        (Some(first), Some((last_start, _))) if last_start == start => {
            message::turns(&first).is_none()
        }
        (None, Some((_, None))) => true,
        _ => false,
    })
}

fn read_first(
    line: TranscriptLine<'_>,
    into: &mut Option<(u64, Option<Value>)>,
) -> ControlFlow<()> {
    *into = Some((line.start, reading::parse_json(line.bytes)));
    ControlFlow::Break(())
}

#[cfg(test)]
mod tests;
