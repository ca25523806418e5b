//! Reads transcripts: a bounded number of bytes from the beginning, and from the end.

use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use jiff::Timestamp;
use segue_core::Result;
use segue_core::model::VendorSessionId;
use segue_core::ports::{Beginning, Conversation, Files, Place, StoredConversation};

use super::records::{ClaudeMeaning, ClaudeRecord};
use super::{home, typing};
use crate::shared::reading::{self, FirstRecords, StopReason};
use crate::shared::{ids, stored};

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
    read(files, path, id).map_err(|error| reading::unreadable(path, error))
}

/// Lists the conversations of a folder, the oldest first. Transcripts that cannot be read are
/// skipped.
pub(super) fn conversations(files: &dyn Files, place: &Place) -> Result<Vec<Conversation>> {
    let folder = home::transcripts(&place.config_dir, &place.cwd);
    let read = |path: &Path, id: &VendorSessionId| read(files, path, id);
    let mut found = stored::conversations_in(files, &folder, id_of, read)?;
    // Two working folders can share one folder of transcripts.
    found.retain(|conversation| conversation.cwd == place.cwd);
    Ok(found)
}

/// Returns the id in a transcript's file name. The vendor identifies a conversation by this name,
/// too.
fn id_of(path: &Path) -> Option<VendorSessionId> {
    ids::of_jsonl(path, home::is_id)
}

/// Returns the messages that a person sent, from this byte offset on.
pub(super) fn user_messages_since(
    files: &dyn Files,
    path: &Path,
    offset: u64,
) -> Result<Vec<String>> {
    reading::messages_since(files, path, offset, |line| match ClaudeRecord::read(line)?.meaning() {
        ClaudeMeaning::Said(text) => Some(typing::normal(&text)),
        _ => None,
    })
}

/// Lists the transcripts of all working folders.
pub(super) fn kept(files: &dyn Files, home: &Path) -> io::Result<Vec<StoredConversation>> {
    let paths = stored::in_folders_of(files, &home::projects(home))?;
    Ok(stored::kept(files, paths, id_of))
}

/// Reads how a conversation begins. `None` if it has no message from a person, or no working
/// folder.
pub(super) fn beginning_of(
    files: &dyn Files,
    kept: &StoredConversation,
) -> io::Result<Option<Beginning>> {
    let found = first_records(files, &kept.transcript)?;
    Ok(found.and_then(|found| found.of_conversation(kept)))
}

fn read(files: &dyn Files, path: &Path, id: &VendorSessionId) -> io::Result<Option<Conversation>> {
    let Some(facts) = files.facts(path)? else { return Ok(None) };
    let Some(beginning) = first_records(files, path)? else { return Ok(None) };
    let (turn_open, last_answer) = read_end(files, path, facts.length)?;
    Ok(Some(Conversation {
        id: id.clone(),
        transcript: path.to_owned(),
        cwd: beginning.cwd.unwrap_or_default(),
        began_at: beginning.began_at.unwrap_or(facts.modified),
        first_message: beginning.first_message,
        turn_open,
        last_answer,
    }))
}

fn first_records(files: &dyn Files, path: &Path) -> io::Result<Option<FirstRecords>> {
    FirstRecords::read(files, path, &BEGINNINGS, |found, line| {
        let Some(record) = ClaudeRecord::read(line) else { return false };
        found.began_at = found.began_at.or(record.timestamp);
        if let ClaudeMeaning::Said(text) = record.meaning() {
            found.first_message = Some(text);
        }
        found.cwd = found.cwd.take().or(record.cwd);
        true
    })
}

#[derive(Default)]
struct ClaudeTranscriptEnd {
    /// The newest record that changes the turn: whether it leaves the turn open, and its timestamp.
    newest: Option<(bool, Option<Timestamp>)>,
    /// Whether an older record was seen, so that `newest` is final.
    is_settled: bool,
    last_answer: Option<String>,
}

impl ClaudeTranscriptEnd {
    /// Takes the next record, on the way from the end of the file to its beginning. In the first
    /// turn, the answer can be stored before its question. So the record with the newest timestamp
    /// counts, not the last one in the file.
    fn take(&mut self, record: &ClaudeRecord) -> ControlFlow<()> {
        let meaning = record.meaning();
        let is_open = match &meaning {
            ClaudeMeaning::Nothing => return ControlFlow::Continue(()),
            ClaudeMeaning::Said(_) | ClaudeMeaning::ToolResult | ClaudeMeaning::Continues => true,
            ClaudeMeaning::Interrupted | ClaudeMeaning::Failed | ClaudeMeaning::Answered(_) => {
                false
            }
        };
        match self.newest {
            Some((_, at)) if self.is_settled || record.timestamp <= at => self.is_settled = true,
            _ => self.newest = Some((is_open, record.timestamp)),
        }
        if let (ClaudeMeaning::Answered(text), None) = (meaning, &self.last_answer) {
            self.last_answer = Some(text).filter(|text| !text.is_empty());
        }
        let is_enough = self.is_settled && self.last_answer.is_some();
        if is_enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// Reads backwards until it is known whether the last turn has ended, and what the last answer is.
fn read_end(files: &dyn Files, path: &Path, length: u64) -> io::Result<(bool, Option<String>)> {
    let mut end = ClaudeTranscriptEnd::default();
    let ended = reading::each_tail_line(files, path, length, |line| {
        ClaudeRecord::read(line).map_or(ControlFlow::Continue(()), |record| end.take(&record))
    })?;
    // A last line that is longer than the read limit hides the end of the turn: the turn counts as
    // open.
    let is_open = end.newest.map_or(ended == StopReason::TooFar, |(is_open, _)| is_open);
    Ok((is_open, end.last_answer))
}

#[cfg(test)]
mod tests;
