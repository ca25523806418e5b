//! Reads a transcript of unknown format as turns. It is one JSON document, or has one record per
//! line.

use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use segue_core::Result;
use segue_core::model::Turn;
use segue_core::ports::{EachTurn, Files};
use serde_json::Value;

use super::{document, message};
use crate::shared::reading::{self, EveryLine, TranscriptLine};

pub(super) fn turns_back(files: &dyn Files, path: &Path, each: &mut EachTurn<'_>) -> Result<()> {
    match whole(files, path)? {
        Some(turns) => drop(turns.into_iter().rev().try_for_each(each)),
        None => reading::turns_back(files, path, EveryLine(turns_of_line), each)?,
    }
    Ok(())
}

pub(super) fn turns(files: &dyn Files, path: &Path, each: &mut EachTurn<'_>) -> Result<()> {
    match whole(files, path)? {
        Some(turns) => drop(turns.into_iter().try_for_each(each)),
        None => reading::turns(files, path, EveryLine(turns_of_line), each)?,
    }
    Ok(())
}

/// Returns the turns of a line, which is one message.
fn turns_of_line(line: &[u8]) -> Vec<Turn> {
    parse(line).as_ref().and_then(message::turns).unwrap_or_default()
}

fn parse(bytes: &[u8]) -> Option<Value> {
    serde_json::from_str(&String::from_utf8_lossy(bytes)).ok()
}

/// Reads the turns of a document. `None` if the file has one record per line.
fn whole(files: &dyn Files, path: &Path) -> Result<Option<Vec<Turn>>> {
    if !is_document(files, path).map_err(|error| reading::unreadable(path, error))? {
        return Ok(None);
    }
    let document = parse(&reading::whole(files, path)?);
    Ok(document.map(|document| document::turns(&document)))
}

/// Returns whether a file seems to be one document. That is so if neither its first nor its last
/// line is valid JSON, or if its only line is not a message.
fn is_document(files: &dyn Files, path: &Path) -> io::Result<bool> {
    let (mut first, mut last) = (None, None);
    reading::each_forward(files, path, 0, |line| take(line, &mut first))?;
    let Some((start, first)) = first else { return Ok(false) };
    reading::each_back(files, path, |line| take(line, &mut last))?;
    Ok(match (first, last) {
        (Some(first), Some((of_last, _))) if of_last == start => message::turns(&first).is_none(),
        (None, Some((_, None))) => true,
        _ => false,
    })
}

fn take(line: TranscriptLine<'_>, into: &mut Option<(u64, Option<Value>)>) -> ControlFlow<()> {
    *into = Some((line.start, parse(line.bytes)));
    ControlFlow::Break(())
}

#[cfg(test)]
mod tests;
