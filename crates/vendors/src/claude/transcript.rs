//! Reads transcripts: a bounded number of bytes from the beginning, and from the end.

use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use segue_core::model::VendorSessionId;
use segue_core::ports::{self, Conversation, Files, Kept, Place};
use segue_core::{Error, Result};

use super::records::{Meaning, Record};
use super::{home, typing};
use crate::backwards::{self, Ended};
use crate::{lines, stored};

/// How many bytes of the beginning are read, one size after the other, until the first message is
/// found. It is nearly always near the beginning.
const BEGINNINGS: [usize; 3] = [64 * 1024, 1024 * 1024, 8 * 1024 * 1024];

/// Reads the facts about one conversation that decisions need. `None` if the file has no message:
/// for the vendor, too, such a file is no conversation.
pub(super) fn conversation(
    files: &dyn Files,
    path: &Path,
    id: &VendorSessionId,
) -> Result<Option<Conversation>> {
    read(files, path, id).map_err(|error| unreadable(path, error))
}

/// Lists the conversations of a folder, the oldest first. Transcripts that cannot be read are
/// skipped.
pub(super) fn conversations(files: &dyn Files, place: &Place) -> Result<Vec<Conversation>> {
    let folder = home::transcripts(&place.config_dir, &place.cwd);
    let paths = files.list(&folder).map_err(|error| {
        Error::vendor(format!("cannot list the transcripts in `{}`", folder.display()))
            .caused_by(error)
    })?;
    let named = paths.iter().filter_map(|path| Some((path, id_of(path)?)));
    let mut found: Vec<Conversation> =
        named.filter_map(|(path, id)| read(files, path, &id).ok().flatten()).collect();
    // Two working folders can share one folder of transcripts.
    found.retain(|conversation| conversation.cwd == place.cwd);
    found.sort_by(|a, b| (a.began_at, &a.id).cmp(&(b.began_at, &b.id)));
    Ok(found)
}

/// Returns the messages that a person sent, from this byte offset on.
pub(super) fn said_since(files: &dyn Files, path: &Path, offset: u64) -> Result<Vec<String>> {
    let mut said = Vec::new();
    let each = |line: &[u8]| {
        if let Some(Meaning::Said(text)) = Record::read(line).map(|record| record.meaning()) {
            said.push(typing::normal(&text));
        }
    };
    lines::each_from(files, path, offset, each).map_err(|error| unreadable(path, error))?;
    Ok(said)
}

fn unreadable(path: &Path, error: io::Error) -> Error {
    Error::vendor(format!("cannot read the transcript `{}`", path.display())).caused_by(error)
}

/// Lists the transcripts of all working folders.
pub(super) fn kept(files: &dyn Files, home: &Path) -> io::Result<Vec<Kept>> {
    let paths = stored::in_folders_of(files, &home::projects(home))?;
    Ok(stored::kept(files, paths, id_of))
}

/// Reads how a conversation begins. `None` if it has no message from a person, or no working
/// folder.
pub(super) fn beginning_of(files: &dyn Files, kept: &Kept) -> io::Result<Option<ports::Beginning>> {
    let said = read_beginning(files, &kept.transcript)?.filter(|it| it.first_message.is_some());
    Ok(said.and_then(|Beginning { cwd, at, first_message }| {
        Some(ports::Beginning { cwd: cwd?, began_at: at.unwrap_or(kept.modified), first_message })
    }))
}

/// Returns the id in a transcript's file name. The vendor identifies a conversation by this name,
/// too.
fn id_of(path: &Path) -> Option<VendorSessionId> {
    let is_transcript = path.extension().is_some_and(|extension| extension == "jsonl");
    let stem = path.file_stem()?.to_str()?;
    (is_transcript && home::is_id(stem)).then(|| VendorSessionId::new(stem))
}

fn read(files: &dyn Files, path: &Path, id: &VendorSessionId) -> io::Result<Option<Conversation>> {
    let Some(facts) = files.facts(path)? else { return Ok(None) };
    let Some(beginning) = read_beginning(files, path)? else { return Ok(None) };
    let (turn_open, last_answer) = read_end(files, path, facts.length)?;
    Ok(Some(Conversation {
        id: id.clone(),
        transcript: path.to_owned(),
        cwd: beginning.cwd.unwrap_or_default(),
        began_at: beginning.at.unwrap_or(facts.modified),
        first_message: beginning.first_message,
        turn_open,
        last_answer,
    }))
}

#[derive(Default)]
struct Beginning {
    cwd: Option<PathBuf>,
    at: Option<Timestamp>,
    first_message: Option<String>,
}

fn read_beginning(files: &dyn Files, path: &Path) -> io::Result<Option<Beginning>> {
    let mut found = None;
    for limit in BEGINNINGS {
        let bytes = files.head(path, limit)?;
        found = beginning(&bytes);
        let is_enough = found.as_ref().is_some_and(|found| found.first_message.is_some());
        if is_enough || bytes.len() < limit {
            break;
        }
    }
    Ok(found)
}

fn beginning(bytes: &[u8]) -> Option<Beginning> {
    let mut found = None;
    for record in bytes.split(|byte| *byte == b'\n').filter_map(Record::read) {
        let beginning: &mut Beginning = found.get_or_insert_default();
        beginning.at = beginning.at.or(record.timestamp);
        if let Meaning::Said(text) = record.meaning() {
            beginning.first_message = Some(text);
        }
        beginning.cwd = beginning.cwd.take().or(record.cwd);
        if beginning.first_message.is_some() {
            break;
        }
    }
    found
}

#[derive(Default)]
struct End {
    /// The newest record that changes the turn: whether it leaves the turn open, and its timestamp.
    newest: Option<(bool, Option<Timestamp>)>,
    /// Whether an older record was seen, so that `newest` is final.
    is_settled: bool,
    last_answer: Option<String>,
}

impl End {
    /// Takes the next record, on the way from the end of the file to its beginning. In the first
    /// turn, the answer can be stored before its question. So the record with the newest timestamp
    /// counts, not the last one in the file.
    fn take(&mut self, record: &Record) -> ControlFlow<()> {
        let meaning = record.meaning();
        let is_open = match &meaning {
            Meaning::Nothing => return ControlFlow::Continue(()),
            Meaning::Said(_) | Meaning::ToolResult | Meaning::Continues => true,
            Meaning::Interrupted | Meaning::Failed | Meaning::Answered(_) => false,
        };
        match self.newest {
            Some((_, at)) if self.is_settled || record.timestamp <= at => self.is_settled = true,
            _ => self.newest = Some((is_open, record.timestamp)),
        }
        if let (Meaning::Answered(text), None) = (meaning, &self.last_answer) {
            self.last_answer = Some(text).filter(|text| !text.is_empty());
        }
        let is_enough = self.is_settled && self.last_answer.is_some();
        if is_enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// Reads backwards until it is known whether the last turn has ended, and what the last answer is.
fn read_end(files: &dyn Files, path: &Path, length: u64) -> io::Result<(bool, Option<String>)> {
    let mut end = End::default();
    let ended = backwards::each(files, path, length, |line| {
        Record::read(line).map_or(ControlFlow::Continue(()), |record| end.take(&record))
    })?;
    // A last line that is longer than the read limit hides the end of the turn: the turn counts as
    // open.
    let is_open = end.newest.map_or(ended == Ended::TooFar, |(is_open, _)| is_open);
    Ok((is_open, end.last_answer))
}

#[cfg(test)]
mod tests;
