//! Reads transcripts: a limited part of the beginning and a limited part of the end.

use std::io;
use std::path::{Path, PathBuf};

use segue_core::Result;
use segue_core::model::VendorSessionId;
use segue_core::ports::{Beginning, Conversation, Files, Place, StoredConversation};
use serde::Deserialize;

use super::home;
use super::records::DemoRecord;
use crate::shared::{ids, reading, stored};

const PIECE: usize = 64 * 1024;

/// How many bytes of the beginning and of the end are read at most.
const BUDGET: usize = 1024 * 1024;

/// Reads what decisions need about one conversation. `None` if the file is missing or has no
/// header.
pub(super) fn conversation(
    files: &dyn Files,
    path: &Path,
    id: &VendorSessionId,
) -> Result<Option<Conversation>> {
    read(files, path, id).map_err(|error| reading::unreadable(path, error))
}

/// Lists the conversations of a folder, the oldest first. Conversations that cannot be read are
/// left out.
pub(super) fn conversations(files: &dyn Files, place: &Place) -> Result<Vec<Conversation>> {
    let folder = home::transcripts(&place.config_dir, &place.cwd);
    let read = |path: &Path, id: &VendorSessionId| read(files, path, id);
    let mut found = stored::conversations_in(files, &folder, id_of, read)?;
    // Two working folders can share one folder of transcripts.
    found.retain(|conversation| conversation.cwd == place.cwd);
    Ok(found)
}

/// Returns the conversation's id from the name of its transcript. The name decides, as it does in
/// the agent.
fn id_of(path: &Path) -> Option<VendorSessionId> {
    ids::of_jsonl(path, home::is_id)
}

/// Lists the transcripts of all working folders.
pub(super) fn kept(files: &dyn Files, home: &Path) -> io::Result<Vec<StoredConversation>> {
    let paths = stored::in_folders_of(files, &home::conversations(home))?;
    Ok(stored::kept(files, paths, id_of))
}

/// Reads the beginning of a conversation. `None` if it has no message.
pub(super) fn beginning_of(files: &dyn Files, path: &Path) -> io::Result<Option<Beginning>> {
    Ok(read_beginning(files, path)?.filter(|found| found.first_message.is_some()))
}

fn read(files: &dyn Files, path: &Path, id: &VendorSessionId) -> io::Result<Option<Conversation>> {
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

/// Reads the beginning of a transcript. Reads few bytes first, because the first message is nearly
/// always near the beginning.
fn read_beginning(files: &dyn Files, path: &Path) -> io::Result<Option<Beginning>> {
    let bytes = files.head(path, PIECE)?;
    let found = beginning(&bytes);
    let is_enough = found.as_ref().is_some_and(|found| found.first_message.is_some());
    if is_enough || bytes.len() < PIECE {
        return Ok(found);
    }
    let bytes = files.head(path, BUDGET)?;
    let cut = if bytes.len() == BUDGET { cut_message(&bytes) } else { None };
    Ok(beginning(&bytes)
        .map(|found| Beginning { first_message: found.first_message.or(cut), ..found }))
}

fn beginning(bytes: &[u8]) -> Option<Beginning> {
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

/// Returns the part that was read of a first message that exceeds the budget. Without it, the
/// conversation would seem to have no message.
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
    let mut tail = Vec::new();
    let mut start = length;
    while start > 0 && tail.len() < BUDGET {
        let piece = start.min(PIECE as u64);
        start -= piece;
        let mut bytes = files.read_at(path, start, usize::try_from(piece).unwrap_or(PIECE))?;
        bytes.append(&mut tail);
        tail = bytes;
        if let Some(open) = last_word(&tail, start == 0) {
            return Ok(open);
        }
    }
    // A line that exceeds the budget is not the end of a turn.
    Ok(start > 0)
}

/// Returns whether a turn is open, according to the last complete line. `None` if no line shows it.
fn last_word(tail: &[u8], from_the_start: bool) -> Option<bool> {
    #[derive(Deserialize)]
    struct RecordType {
        #[serde(rename = "type")]
        kind: String,
    }
    let whole = if from_the_start {
        tail
    } else {
        let line_end = tail.iter().position(|byte| *byte == b'\n')?;
        &tail[line_end + 1..]
    };
    whole.rsplit(|byte| *byte == b'\n').find_map(|line| {
        let typed: RecordType = serde_json::from_str(&String::from_utf8_lossy(line)).ok()?;
        match typed.kind.as_str() {
            "turn_end" | "session" => Some(false),
            "user" | "assistant" | "tool_call" | "tool_result" => Some(true),
            _ => None,
        }
    })
}

/// Returns the agent's last message, if it is near the end.
fn last_answer(files: &dyn Files, path: &Path) -> io::Result<Option<String>> {
    let tail = files.tail(path, PIECE)?;
    let said = tail.rsplit(|byte| *byte == b'\n').find_map(|line| match DemoRecord::read(line) {
        Some(DemoRecord::Assistant { text, .. }) => Some(text),
        _ => None,
    });
    Ok(said)
}

/// Returns the messages of the user from this byte offset on.
pub(super) fn user_messages_since(
    files: &dyn Files,
    path: &Path,
    offset: u64,
) -> Result<Vec<String>> {
    reading::messages_since(files, path, offset, |line| match DemoRecord::read(line)? {
        DemoRecord::User { text, .. } => Some(text),
        _ => None,
    })
}

#[cfg(test)]
mod tests;
