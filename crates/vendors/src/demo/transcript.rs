//! Reads transcripts: a limited number of bytes at the beginning, and at the end.

use std::io;
use std::path::{Path, PathBuf};

use segue_core::Result;
use segue_core::model::VendorSessionId;
use segue_core::ports::{
    Beginning, Conversation, EachTurn, Files, Live, Place, StoredConversation, TranscriptFiles,
    TranscriptStorage, Transcripts,
};
use serde::Deserialize;

use super::records::DemoRecord;
use super::{Demo, paths, registry, turns};
use crate::shared::reading::{self, ReadDirection, StopReason};
use crate::shared::{ids, transcripts};

/// How many bytes of the beginning are read first.
const SHORT_READ_BYTES: usize = 64 * 1024;

/// How many bytes of the beginning and of the end are read at most.
const READ_LIMIT_BYTES: usize = 1024 * 1024;

impl Transcripts for Demo {
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
        let folder = paths::transcripts_folder(&place.config_dir, &place.cwd);
        let read = |path: &Path, id: &VendorSessionId| read_conversation(files, path, id);
        transcripts::conversations_in(files, (place, &folder), id_of, read)
    }

    fn list(&self, files: &dyn Files, config_dir: &Path) -> io::Result<Vec<StoredConversation>> {
        let paths =
            transcripts::paths_in_subfolders(files, &paths::conversations_folder(config_dir))?;
        Ok(transcripts::kept(files, paths, id_of))
    }

    fn beginning(
        &self,
        files: &dyn Files,
        kept: &StoredConversation,
    ) -> io::Result<Option<Beginning>> {
        let beginning = read_beginning(files, &kept.transcript)?;
        Ok(beginning.filter(|beginning| beginning.first_message.is_some()))
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

impl TranscriptFiles for Demo {}

/// Reads the facts of one conversation. `None` if the file is missing or has no header.
fn conversation_at(
    files: &dyn Files,
    path: &Path,
    id: &VendorSessionId,
) -> Result<Option<Conversation>> {
    read_conversation(files, path, id).map_err(|error| reading::unreadable(path, error))
}

/// Returns the conversation id from the file name of its transcript. The agent uses the file name,
/// too, and not the id in the header.
fn id_of(path: &Path) -> Option<VendorSessionId> {
    ids::of_jsonl(path, paths::is_id)
}

fn read_conversation(
    files: &dyn Files,
    path: &Path,
    id: &VendorSessionId,
) -> io::Result<Option<Conversation>> {
    let Some(facts) = files.facts(path)? else { return Ok(None) };
    let Some(beginning) = read_beginning(files, path)? else { return Ok(None) };
    let turn_open = is_turn_open(files, path, facts.length)?;
    Ok(Some(Conversation {
        id: id.clone(),
        transcript: path.to_owned(),
        cwd: beginning.cwd,
        began_at: beginning.began_at,
        first_message: beginning.first_message,
        turn_open,
        last_answer: if turn_open { None } else { last_answer(files, path)? },
    }))
}

/// Reads the beginning of a transcript. Reads `SHORT_READ_BYTES` first, which nearly always contain
/// the first message.
fn read_beginning(files: &dyn Files, path: &Path) -> io::Result<Option<Beginning>> {
    let bytes = files.head(path, SHORT_READ_BYTES)?;
    let found = parse_beginning(&bytes);
    let is_enough = found.as_ref().is_some_and(|found| found.first_message.is_some());
    if is_enough || bytes.len() < SHORT_READ_BYTES {
        return Ok(found);
    }
    let bytes = files.head(path, READ_LIMIT_BYTES)?;
    let cut = if bytes.len() == READ_LIMIT_BYTES { cut_message(&bytes) } else { None };
    Ok(parse_beginning(&bytes)
        .map(|found| Beginning { first_message: found.first_message.or(cut), ..found }))
}

fn parse_beginning(bytes: &[u8]) -> Option<Beginning> {
    let mut lines = bytes.split(|byte| *byte == b'\n');
    let Some(DemoRecord::Session { cwd, at, .. }) = DemoRecord::read(lines.next()?) else {
        return None;
    };
    let first_message = lines.find_map(|line| match DemoRecord::read(line) {
        Some(DemoRecord::User { text, .. }) => Some(text),
        _ => None,
    });
    Some(Beginning { cwd: PathBuf::from(cwd), began_at: at, first_message })
}

/// Returns the beginning of a first message that is longer than `READ_LIMIT_BYTES`. Without this
/// function, the conversation would have no first message.
fn cut_message(bytes: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct CutMessage {
        text: String,
    }
    let line = String::from_utf8_lossy(bytes.rsplit(|byte| *byte == b'\n').next()?).into_owned();
    let line = line.trim_end_matches('\u{fffd}');
    if !line.starts_with(r#"{"type":"user","text":""#) {
        return None;
    }
    // The cut may be inside an escape sequence of up to six characters, or of twelve for a
    // surrogate pair.
    let ends = line.char_indices().rev().map(|(at, _)| &line[..at]).take(12);
    let mut closed = ends.map(|part| format!("{part}\"}}"));
    closed.find_map(|part| serde_json::from_str::<CutMessage>(&part).ok()).map(|cut| cut.text)
}

/// Reads backwards until a line shows whether the last turn has ended.
fn is_turn_open(files: &dyn Files, path: &Path, length: u64) -> io::Result<bool> {
    let (is_open, stopped) =
        reading::find_in_tail(files, path, (length, READ_LIMIT_BYTES), is_open_after)?;
    // A line that is longer than `READ_LIMIT_BYTES` is not the end of a turn.
    Ok(is_open.unwrap_or(stopped == StopReason::LimitReached))
}

/// Returns whether a turn is open after the last complete record. `None` if the tail contains no
/// complete record of a known type.
fn is_open_after(tail: &[u8]) -> Option<bool> {
    #[derive(Deserialize)]
    struct RecordType {
        #[serde(rename = "type")]
        kind: String,
    }
    tail.rsplit(|byte| *byte == b'\n').find_map(|line| {
        let typed: RecordType = reading::parse_json(line)?;
        match typed.kind.as_str() {
            "turn_end" | "session" => Some(false),
            "user" | "assistant" | "tool_call" | "tool_result" => Some(true),
            _ => None,
        }
    })
}

/// Returns the agent's last message. `None` if it is not in the last `SHORT_READ_BYTES`.
fn last_answer(files: &dyn Files, path: &Path) -> io::Result<Option<String>> {
    let tail = files.tail(path, SHORT_READ_BYTES)?;
    let text = tail.rsplit(|byte| *byte == b'\n').find_map(|line| match DemoRecord::read(line) {
        Some(DemoRecord::Assistant { text, .. }) => Some(text),
        _ => None,
    });
    Ok(text)
}

/// Returns the messages of the user from this byte offset on.
fn messages_since(files: &dyn Files, path: &Path, offset: u64) -> Result<Vec<String>> {
    reading::messages_since(files, path, offset, |line| match DemoRecord::read(line)? {
        DemoRecord::User { text, .. } => Some(text),
        _ => None,
    })
}

#[cfg(test)]
mod tests;
