//! Reads transcripts: a limited number of bytes at the beginning, and at the end.

use std::io;
use std::path::{Path, PathBuf};

use segue_core::model::VendorSessionId;
use segue_core::ports::{
    Beginning, Conversation, EachTurn, Files, Live, Place, StoredConversation, TranscriptFiles,
    TranscriptStorage, Transcripts, WriteMode,
};
use segue_core::{Error, Result};

use super::records::{Header, PiMeaning, PiRecord, PiRecordKind};
use super::{Pi, live, paths, turns, typing};
use crate::shared::reading::{self, ReadDirection, TurnMark};
use crate::shared::transcripts;

/// How many bytes of the beginning are read. The next limit applies if the first message is not
/// found.
const BEGINNING_LIMITS_BYTES: [usize; 3] = [16 * 1024, 256 * 1024, 4 * 1024 * 1024];

/// How many bytes of the first line are read. It contains paths and no messages.
const HEADER_LIMIT_BYTES: usize = 16 * 1024;

/// How many of the newest conversations are read.
const MOST_CONVERSATIONS: usize = 200;

impl Transcripts for Pi {
    fn storage(&self) -> TranscriptStorage<'_> {
        TranscriptStorage::Files(self)
    }

    fn transcript(&self, files: &dyn Files, place: &Place, id: &VendorSessionId) -> PathBuf {
        paths::transcript(files, place, id.as_str())
    }

    fn is_free(&self, files: &dyn Files, place: &Place, id: &VendorSessionId) -> bool {
        is_free_at(files, &self.transcript(files, place, id), id)
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
        let paths = files.list(&paths::transcripts_folder(place)).unwrap_or_default();
        // The file names begin with the start time of the conversation.
        let newest_first = transcripts::last_name_first(paths);
        let with_id = newest_first.iter().filter(|path| paths::id_of(path).is_some());
        let read = |path: &PathBuf| match PiBeginning::read_conversation(files, path) {
            // Two working folders can have the same folder of transcripts.
            Ok(PiBeginning::Header(header)) if header.cwd == place.cwd => {
                read_conversation(files, path, header).ok()?
            }
            _ => None,
        };
        Ok(transcripts::oldest_first(with_id.take(MOST_CONVERSATIONS).filter_map(read)))
    }

    fn list(&self, files: &dyn Files, config_dir: &Path) -> io::Result<Vec<StoredConversation>> {
        let paths = transcripts::paths_in_subfolders(files, &paths::sessions_folder(config_dir))?;
        Ok(transcripts::kept(files, paths, |path| paths::id_of(path).map(VendorSessionId::new)))
    }

    fn beginning(
        &self,
        files: &dyn Files,
        kept: &StoredConversation,
    ) -> io::Result<Option<Beginning>> {
        let path = &kept.transcript;
        let PiBeginning::Header(header) = PiBeginning::read_conversation(files, path)? else {
            return Ok(None);
        };
        let (Some(first), Some(began_at)) = (first_message(files, path)?, header.timestamp) else {
            return Ok(None);
        };
        Ok(Some(Beginning { cwd: header.cwd, began_at, first_message: Some(first) }))
    }

    fn open_conversations(&self, files: &dyn Files, place: &Place) -> Result<Vec<Live>> {
        Ok(live::live(files, place))
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

impl TranscriptFiles for Pi {
    fn write_mode(&self) -> WriteMode {
        WriteMode::Append
    }
}

/// The beginning of a transcript.
#[derive(Clone, Debug)]
pub(super) enum PiBeginning {
    Header(Header),
    /// The first line is not the header: the file was deleted, and Pi continued to write.
    Later,
    /// The first line is invalid. Pi would truncate the file and begin a new conversation.
    Damaged,
    Absent,
}

impl PiBeginning {
    pub(super) fn read_conversation(files: &dyn Files, path: &Path) -> io::Result<Self> {
        if files.facts(path)?.is_none() {
            return Ok(Self::Absent);
        }
        let bytes = files.head(path, HEADER_LIMIT_BYTES)?;
        let first = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
        Ok(match PiRecord::read(first) {
            Some(record) if record.kind != PiRecordKind::Session => Self::Later,
            Some(record) => record.header().map_or(Self::Damaged, Self::Header),
            None => Self::Damaged,
        })
    }
}

/// Returns an error if the file is missing, or if it does not begin with a valid header. Pi would
/// truncate such a file.
pub(super) fn check(files: &dyn Files, path: &Path, id: &VendorSessionId) -> Result<()> {
    match PiBeginning::read_conversation(files, path)
        .map_err(|error| reading::unreadable(path, error))?
    {
        PiBeginning::Header(header) if header.id == id.as_str() => Ok(()),
        PiBeginning::Absent => {
            Err(Error::vendor(format!("the transcript `{}` is missing", path.display())))
        }
        _ => Err(damaged(path, id)),
    }
}

fn damaged(path: &Path, id: &VendorSessionId) -> Error {
    Error::vendor(format!("the first line of `{}` is damaged", path.display()))
        .caused_by("Pi would truncate the file and begin a new conversation in it")
        .hint(format!(
            "repair the first line, which must name the conversation `{id}` and its folder"
        ))
}

/// Reads the facts of one conversation. `None` if the file is missing, has no header or has no
/// message. Fails if the header is damaged.
pub(super) fn conversation_at(
    files: &dyn Files,
    path: &Path,
    id: &VendorSessionId,
) -> Result<Option<Conversation>> {
    let failed = |error: io::Error| reading::unreadable(path, error);
    match PiBeginning::read_conversation(files, path).map_err(failed)? {
        PiBeginning::Header(header) => read_conversation(files, path, header).map_err(failed),
        PiBeginning::Damaged => Err(damaged(path, id)),
        PiBeginning::Later | PiBeginning::Absent => Ok(None),
    }
}

/// Returns whether a conversation can begin with this id: its transcript is missing or has no
/// message.
fn is_free_at(files: &dyn Files, path: &Path, id: &VendorSessionId) -> bool {
    match PiBeginning::read_conversation(files, path) {
        Ok(PiBeginning::Absent) => true,
        Ok(PiBeginning::Header(header)) if header.id == id.as_str() => {
            matches!(read_conversation(files, path, header), Ok(None))
        }
        _ => false,
    }
}

/// Returns the messages of the user from this byte offset on.
fn messages_since(files: &dyn Files, path: &Path, offset: u64) -> Result<Vec<String>> {
    reading::messages_since(files, path, offset, |line| match PiRecord::read(line)?.meaning() {
        PiMeaning::UserMessage(text) => Some(typing::normalize(&text)),
        _ => None,
    })
}

fn read_conversation(
    files: &dyn Files,
    path: &Path,
    header: Header,
) -> io::Result<Option<Conversation>> {
    let Some(facts) = files.facts(path)? else { return Ok(None) };
    let first_message = first_message(files, path)?;
    // If the transcript is longer than the read limit, its first message was not found, but it is
    // not empty.
    if first_message.is_none() && facts.length <= BEGINNING_LIMITS_BYTES[2] as u64 {
        return Ok(None);
    }
    let (turn_open, last_answer) = reading::read_end(files, path, facts.length, mark)?;
    Ok(Some(Conversation {
        id: VendorSessionId::new(header.id),
        transcript: path.to_owned(),
        cwd: header.cwd,
        began_at: header.timestamp.unwrap_or(facts.modified),
        first_message,
        turn_open,
        last_answer,
    }))
}

fn first_message(files: &dyn Files, path: &Path) -> io::Result<Option<String>> {
    reading::find_in_beginning(files, path, &BEGINNING_LIMITS_BYTES, |lines| {
        lines.filter_map(PiRecord::read).find_map(|record| match record.meaning() {
            // Segue may have added a space, so that Pi does not parse the message as a flag.
            PiMeaning::UserMessage(text) => Some(typing::without_space(&text)),
            _ => None,
        })
    })
}

fn mark(line: &[u8]) -> TurnMark {
    match PiRecord::read(line).map_or(PiMeaning::NoEffect, |record| record.meaning()) {
        PiMeaning::NoEffect => TurnMark::Nothing,
        PiMeaning::UserMessage(_) | PiMeaning::Continues => TurnMark::Open,
        PiMeaning::Failed(_) | PiMeaning::Interrupted => TurnMark::Ended,
        PiMeaning::Answered(text) => TurnMark::Answered(text),
    }
}

#[cfg(test)]
mod tests;
