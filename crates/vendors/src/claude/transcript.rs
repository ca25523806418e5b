//! Reads transcripts: a limited number of bytes at the beginning, and at the end.

use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use segue_core::Result;
use segue_core::model::VendorSessionId;
use segue_core::ports::{
    Beginning, Conversation, EachTurn, Files, Live, Place, StoredConversation, TranscriptFiles,
    TranscriptStorage, Transcripts, WriteMode,
};

use super::records::{ClaudeMeaning, ClaudeRecord};
use super::{Claude, paths, registry, turns, typing};
use crate::shared::reading::{self, FirstRecords, ReadDirection, StopReason};
use crate::shared::{ids, transcripts};

/// How many bytes of the beginning are read, one limit after the other, until the first message is
/// found.
const BEGINNING_LIMITS_BYTES: [usize; 3] = [64 * 1024, 1024 * 1024, 8 * 1024 * 1024];

impl Transcripts for Claude {
    fn storage(&self) -> TranscriptStorage<'_> {
        TranscriptStorage::Files(self)
    }

    fn transcript(&self, _files: &dyn Files, place: &Place, id: &VendorSessionId) -> PathBuf {
        paths::transcript(&place.config_dir, &place.cwd, id.as_str())
    }

    fn conversation(
        &self,
        files: &dyn Files,
        place: &Place,
        id: &VendorSessionId,
    ) -> Result<Option<Conversation>> {
        conversation_at(files, &self.transcript(files, place, id), id)
    }

    fn conversations(&self, files: &dyn Files, place: &Place) -> Result<Vec<Conversation>> {
        let folder = paths::transcripts(&place.config_dir, &place.cwd);
        let read = |path: &Path, id: &VendorSessionId| read(files, path, id);
        transcripts::conversations_in(files, (place, &folder), id_of, read)
    }

    fn list(&self, files: &dyn Files, config_dir: &Path) -> io::Result<Vec<StoredConversation>> {
        let paths = transcripts::paths_in_subfolders(files, &paths::projects(config_dir))?;
        Ok(transcripts::kept(files, paths, id_of))
    }

    fn beginning(
        &self,
        files: &dyn Files,
        kept: &StoredConversation,
    ) -> io::Result<Option<Beginning>> {
        let found = first_records(files, &kept.transcript)?;
        Ok(found.and_then(|found| found.into_beginning(kept)))
    }

    fn open_conversations(&self, files: &dyn Files, place: &Place) -> Result<Vec<Live>> {
        registry::live(files, place)
    }

    fn user_messages_since(
        &self,
        files: &dyn Files,
        place: &Place,
        id: &VendorSessionId,
        offset: u64,
    ) -> Result<Vec<String>> {
        messages_since(files, &self.transcript(files, place, id), offset)
    }

    fn turns_back(
        &self,
        files: &dyn Files,
        transcript: &Path,
        each: &mut EachTurn<'_>,
    ) -> Result<()> {
        turns::read(files, transcript, ReadDirection::Back, each)
    }

    fn turns(&self, files: &dyn Files, transcript: &Path, each: &mut EachTurn<'_>) -> Result<()> {
        turns::read(files, transcript, ReadDirection::Forward, each)
    }
}

impl TranscriptFiles for Claude {
    fn write_mode(&self) -> WriteMode {
        WriteMode::Append
    }

    fn companion_folder(&self, place: &Place, id: &VendorSessionId) -> Option<PathBuf> {
        Some(paths::companion_folder(&place.config_dir, &place.cwd, id.as_str()))
    }
}

/// Reads a conversation. `None` if the file has no message: for Claude Code, such a file is no
/// conversation, either.
fn conversation_at(
    files: &dyn Files,
    path: &Path,
    id: &VendorSessionId,
) -> Result<Option<Conversation>> {
    read(files, path, id).map_err(|error| reading::unreadable(path, error))
}

/// Returns the id in a transcript's file name, by which Claude Code identifies the conversation.
fn id_of(path: &Path) -> Option<VendorSessionId> {
    ids::of_jsonl(path, paths::is_id)
}

/// Returns the user's messages from this byte offset on.
pub(super) fn messages_since(files: &dyn Files, path: &Path, offset: u64) -> Result<Vec<String>> {
    reading::messages_since(files, path, offset, |line| match ClaudeRecord::read(line)?.meaning() {
        ClaudeMeaning::Said(text) => Some(typing::normalize(&text)),
        _ => None,
    })
}

fn read(files: &dyn Files, path: &Path, id: &VendorSessionId) -> io::Result<Option<Conversation>> {
    let Some(facts) = files.facts(path)? else { return Ok(None) };
    let Some(beginning) = first_records(files, path)? else { return Ok(None) };
    let end = read_end(files, path, facts.length)?;
    Ok(Some(beginning.into_conversation(id, (path, &facts), end)))
}

fn first_records(files: &dyn Files, path: &Path) -> io::Result<Option<FirstRecords>> {
    FirstRecords::read(files, path, &BEGINNING_LIMITS_BYTES, |found, line| {
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
    /// Takes the next record, in order from the last to the first. In the first turn, the answer
    /// can be stored before its question. So the record with the newest timestamp counts, not the
    /// last one in the file.
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

/// Reads backwards until it is known whether the last turn has stopped, and what the last answer
/// is.
fn read_end(files: &dyn Files, path: &Path, length: u64) -> io::Result<(bool, Option<String>)> {
    let mut end = ClaudeTranscriptEnd::default();
    let stopped = reading::each_tail_line(files, path, length, |line| {
        ClaudeRecord::read(line).map_or(ControlFlow::Continue(()), |record| end.take(&record))
    })?;
    // If the last line is longer than the read limit, the end of the turn is unknown. The turn
    // counts as open.
    let is_open = end.newest.map_or(stopped == StopReason::LimitReached, |(is_open, _)| is_open);
    Ok((is_open, end.last_answer))
}

#[cfg(test)]
mod tests;
