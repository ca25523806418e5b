//! Reads transcripts: a limited number of bytes at the beginning, and at the end.

use std::io;
use std::path::{Path, PathBuf};

use segue_core::Result;
use segue_core::model::VendorSessionId;
use segue_core::ports::{
    Beginning, Conversation, EachTurn, Files, Live, Place, StoredConversation, TranscriptFiles,
    TranscriptStorage, Transcripts, WriteMode,
};

use super::records::{CopilotEvent, CopilotRecord};
use super::{Copilot, lock, paths, turns, typing};
use crate::shared::reading::{self, FirstRecords, ReadDirection, TurnMark};
use crate::shared::{files, transcripts};

/// How many bytes of the beginning are read, one limit after the other, until the first message is
/// found.
const BEGINNING_LIMITS_BYTES: [usize; 3] = [16 * 1024, 1024 * 1024, 8 * 1024 * 1024];

/// Beginning of the element that is recorded in place of a long pasted text.
const PASTE_ELEMENT_PREFIX: &str = "<pasted_content file=\"";
const LONGEST_PASTE_BYTES: usize = 8 * 1024 * 1024;

impl Transcripts for Copilot {
    fn storage(&self) -> TranscriptStorage<'_> {
        TranscriptStorage::Files(self)
    }

    fn transcript(&self, _files: &dyn Files, place: &Place, id: &VendorSessionId) -> PathBuf {
        paths::transcript(&place.config_dir, id.as_str())
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
        let folder = paths::conversations(&place.config_dir);
        let folders = files::list(files, &folder, "conversations")?;
        let names = folders.iter().filter_map(|folder| folder.file_name()?.to_str());
        let ids = names.filter(|name| paths::is_id(name)).map(VendorSessionId::new);
        Ok(transcripts::oldest_first(ids.filter_map(|id| conversation_begun_in(files, place, &id))))
    }

    fn list(&self, files: &dyn Files, config_dir: &Path) -> io::Result<Vec<StoredConversation>> {
        let folders = files.list(&paths::conversations(config_dir))?;
        let paths = folders.iter().map(|folder| paths::transcript_in(folder));
        Ok(transcripts::kept(files, paths, |path| {
            paths::id_of_file_in_conversation(path).map(VendorSessionId::new)
        }))
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
        lock::live(files, place)
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

    fn repeatable_part<'text>(&self, result: &'text str) -> &'text str {
        turns::repeatable_part(result)
    }

    fn turns(&self, files: &dyn Files, transcript: &Path, each: &mut EachTurn<'_>) -> Result<()> {
        turns::read(files, transcript, ReadDirection::Forward, each)
    }
}

impl TranscriptFiles for Copilot {
    fn write_mode(&self) -> WriteMode {
        WriteMode::Append
    }

    fn companion_folder(&self, place: &Place, id: &VendorSessionId) -> Option<PathBuf> {
        paths::pastes(&paths::transcript(&place.config_dir, id.as_str()))
    }
}

/// Reads a conversation. `None` if the file is missing or has no record.
fn conversation_at(
    files: &dyn Files,
    path: &Path,
    id: &VendorSessionId,
) -> Result<Option<Conversation>> {
    read(files, path, id).map_err(|error| reading::unreadable(path, error))
}

/// Reads a conversation if it was begun in this folder. Reads only the beginning of other
/// conversations.
fn conversation_begun_in(
    files: &dyn Files,
    place: &Place,
    id: &VendorSessionId,
) -> Option<Conversation> {
    let path = paths::transcript(&place.config_dir, id.as_str());
    files.facts(&path).ok()??;
    let beginning = first_records(files, &path).ok()??;
    (beginning.cwd.as_deref() == Some(&place.cwd)).then_some(())?;
    read(files, &path, id).ok()?
}

/// Returns the user's messages from this byte offset on.
fn messages_since(files: &dyn Files, path: &Path, offset: u64) -> Result<Vec<String>> {
    reading::messages_since(files, path, offset, |line| match CopilotRecord::read(line)?.event {
        CopilotEvent::UserMessage(text) => {
            Some(typing::normalize(&with_pastes(files, path, &text)))
        }
        _ => None,
    })
}

/// Replaces references to pasted texts by the texts. Copilot stores a long pasted text in a file in
/// the conversation's folder. A reference to any other file stays as it is.
pub(super) fn with_pastes(files: &dyn Files, transcript: &Path, text: &str) -> String {
    let (mut whole, mut rest) = (String::new(), text);
    while let Some((before, element)) = rest.split_once(PASTE_ELEMENT_PREFIX) {
        let parts =
            element.split_once('"').and_then(|(file, rest)| Some((file, rest.split_once("/>")?)));
        let pastes_folder = paths::pastes(transcript);
        let Some((file, (_, after))) = parts else { break };
        let is_own = pastes_folder
            .is_some_and(|pastes_folder| Path::new(file).parent() == Some(&pastes_folder));
        let Some(pasted) = files.head(Path::new(file), LONGEST_PASTE_BYTES).ok().filter(|_| is_own)
        else {
            break;
        };
        whole.push_str(before);
        whole.push_str(&String::from_utf8_lossy(&pasted));
        rest = after;
    }
    whole + rest
}

fn read(files: &dyn Files, path: &Path, id: &VendorSessionId) -> io::Result<Option<Conversation>> {
    let Some(facts) = files.facts(path)? else { return Ok(None) };
    let Some(beginning) = first_records(files, path)? else { return Ok(None) };
    let end = reading::read_end(files, path, facts.length, mark)?;
    Ok(Some(beginning.into_conversation(id, (path, &facts), end)))
}

fn first_records(files: &dyn Files, path: &Path) -> io::Result<Option<FirstRecords>> {
    FirstRecords::read(files, path, &BEGINNING_LIMITS_BYTES, |found, line| {
        let Some(record) = CopilotRecord::read(line) else { return false };
        found.began_at = found.began_at.or(record.at);
        match record.event {
            CopilotEvent::Began(cwd) => found.cwd = found.cwd.take().or(cwd),
            CopilotEvent::UserMessage(text) => found.first_message = Some(text),
            _ => {}
        }
        true
    })
}

fn mark(line: &[u8]) -> TurnMark {
    match CopilotRecord::read(line).map(|record| record.event) {
        Some(CopilotEvent::UserMessage(_)) => TurnMark::Open,
        Some(CopilotEvent::ModelMessage(message)) if !message.calls.is_empty() => TurnMark::Open,
        // A message without text ends the turn, and an earlier message is the last answer.
        Some(CopilotEvent::ModelMessage(message)) if message.text.is_empty() => TurnMark::Ended,
        Some(CopilotEvent::ModelMessage(message)) => TurnMark::Answered(message.text),
        Some(CopilotEvent::Aborted | CopilotEvent::Failed(_)) => TurnMark::Ended,
        _ => TurnMark::Nothing,
    }
}

#[cfg(test)]
mod tests;
