//! Reads transcripts: a limited number of bytes at the beginning, and at the end. Cursor does not
//! read transcripts itself. It resumes from its database, so Segue checks that there is a database.

use std::cmp::Reverse;
use std::io;
use std::path::{Path, PathBuf};

use segue_core::model::VendorSessionId;
use segue_core::ports::{
    Beginning, Conversation, EachTurn, Files, Live, Place, StoredConversation, TranscriptDatabase,
    TranscriptStorage, Transcripts,
};
use segue_core::{Error, Result};

use super::chats::{self, Chat};
use super::records::{self, CursorMeaning};
use super::{CursorVendor, paths, turns, typing};
use crate::shared::reading::{self, ReadDirection, TurnMark};
use crate::shared::{files, transcripts};

/// How many bytes of the beginning are read, one limit after the other, until the first message is
/// found.
const BEGINNING_LIMITS_BYTES: [usize; 3] = [16 * 1024, 256 * 1024, 4 * 1024 * 1024];

/// How many of the newest conversations are read at most.
const MOST_CONVERSATIONS: usize = 200;

impl Transcripts for CursorVendor {
    fn storage(&self) -> TranscriptStorage<'_> {
        TranscriptStorage::Database(self)
    }

    fn transcript(&self, files: &dyn Files, place: &Place, id: &VendorSessionId) -> PathBuf {
        paths::transcript(files, place, id.as_str())
    }

    /// Fails if there is a transcript and no database.
    fn conversation(
        &self,
        files: &dyn Files,
        place: &Place,
        id: &VendorSessionId,
    ) -> Result<Option<Conversation>> {
        let path = self.transcript(files, place, id);
        let has_transcript = files::exists(files, &path);
        match chat(files, place, id) {
            Some(chat) if chat.is_blank && !has_transcript => Ok(None),
            Some(chat) => read(files, place, (&path, id), &chat)
                .map(Some)
                .map_err(|error| reading::unreadable(&path, error)),
            None if has_transcript => Err(missing_database(id)),
            None => Ok(None),
        }
    }

    fn conversations(&self, files: &dyn Files, place: &Place) -> Result<Vec<Conversation>> {
        let mut kept = self.list(files, &place.config_dir).unwrap_or_default();
        kept.sort_by_key(|kept| Reverse(kept.modified));
        let is_own =
            |chat: &Chat| chat.cwd.as_deref() == Some(&*place.cwd) && chat.began_at.is_some();
        let conversation = |kept: StoredConversation| {
            let chat = chat(files, place, &kept.id).filter(is_own)?;
            read(files, place, (&kept.transcript, &kept.id), &chat).ok()
        };
        Ok(kept.into_iter().take(MOST_CONVERSATIONS).filter_map(conversation).collect())
    }

    fn list(&self, files: &dyn Files, config_dir: &Path) -> io::Result<Vec<StoredConversation>> {
        let projects = files.list(&paths::projects(config_dir))?;
        let folders = projects.iter().map(|project| project.join(paths::TRANSCRIPTS));
        let subfolders = folders.flat_map(|folder| files.list(&folder).unwrap_or_default());
        let paths = subfolders.filter_map(|folder| {
            let id = folder.file_name()?.to_str()?;
            Some(folder.join(format!("{id}.jsonl")))
        });
        let id_of = |path: &Path| {
            Some(VendorSessionId::new(paths::config_dir_and_id_of_transcript(path)?.1))
        };
        Ok(transcripts::kept(files, paths, id_of))
    }

    /// Returns `None` also for a conversation that cannot be resumed.
    fn beginning(
        &self,
        files: &dyn Files,
        kept: &StoredConversation,
    ) -> io::Result<Option<Beginning>> {
        let Some((config_dir, id)) = paths::config_dir_and_id_of_transcript(&kept.transcript)
        else {
            return Ok(None);
        };
        let chats = chats::all(files, config_dir, id);
        let known = chats.into_iter().find_map(|chat| Some((chat.cwd?, chat.began_at?)));
        let Some((cwd, began_at)) = known else { return Ok(None) };
        let first_message = first_message(files, &kept.transcript)?;
        Ok(first_message.map(|first| Beginning { cwd, began_at, first_message: Some(first) }))
    }

    /// Returns an empty list, because Cursor has no list of its processes. Cursor itself refuses a
    /// second process in the same conversation.
    fn open_conversations(&self, _files: &dyn Files, _place: &Place) -> Result<Vec<Live>> {
        Ok(Vec::new())
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

/// Cursor's database has more than one file, and a restored transcript is useless without the
/// database.
impl TranscriptDatabase for CursorVendor {}

/// Fails if Cursor has no database of this conversation. Cursor would begin a blank conversation
/// under its id.
pub(super) fn ensure_database(
    files: &dyn Files,
    place: &Place,
    id: &VendorSessionId,
) -> Result<()> {
    chat(files, place, id).map(drop).ok_or_else(|| missing_database(id))
}

fn chat(files: &dyn Files, place: &Place, id: &VendorSessionId) -> Option<Chat> {
    let id = Some(id.as_str()).filter(|id| paths::is_id(id))?;
    chats::find(files, &place.config_dir, &place.cwd, id)
}

fn missing_database(id: &VendorSessionId) -> Error {
    Error::vendor(format!("Cursor has no database of conversation `{id}` in this folder"))
        .caused_by("it would begin a blank conversation under the same id")
        .hint("if there is a copy of its folder, restore it below `chats` in Cursor's config dir")
}

/// Returns the messages of the user from this byte offset on. Fails if there is no transcript.
fn messages_since(files: &dyn Files, path: &Path, offset: u64) -> Result<Vec<String>> {
    let failed = |error: io::Error| reading::unreadable(path, error);
    if files.facts(path).map_err(failed)?.is_none() {
        return Err(Error::vendor(format!("there is no transcript `{}`", path.display())));
    }
    reading::messages_since(files, path, offset, |line| match records::meaning(line) {
        CursorMeaning::Said(text) => Some(typing::normalize(&text)),
        _ => None,
    })
}

fn read(
    files: &dyn Files,
    place: &Place,
    (path, id): (&Path, &VendorSessionId),
    chat: &Chat,
) -> io::Result<Conversation> {
    // If there is no transcript, only the database is known.
    let length = files.facts(path)?.map_or(0, |facts| facts.length);
    let first_message = if length > 0 { first_message(files, path)? } else { None };
    let (turn_open, last_answer) = reading::read_end(files, path, length, mark)?;
    Ok(Conversation {
        id: id.clone(),
        transcript: path.to_owned(),
        cwd: chat.cwd.clone().unwrap_or_else(|| place.cwd.clone()),
        began_at: chat.began_at.unwrap_or(chat.modified),
        first_message,
        turn_open,
        last_answer,
    })
}

fn first_message(files: &dyn Files, path: &Path) -> io::Result<Option<String>> {
    reading::find_in_beginning(files, path, &BEGINNING_LIMITS_BYTES, |lines| {
        lines.map(records::meaning).find_map(|meaning| match meaning {
            CursorMeaning::Said(text) => Some(typing::unescaped(&text)),
            _ => None,
        })
    })
}

/// Returns what a line shows about its turn. An answer without a tool call ends the turn, because
/// older versions do not record the end of a turn.
fn mark(line: &[u8]) -> TurnMark {
    match records::meaning(line) {
        CursorMeaning::Nothing => TurnMark::Nothing,
        CursorMeaning::Said(_) | CursorMeaning::Continues => TurnMark::Open,
        CursorMeaning::Ended => TurnMark::Ended,
        CursorMeaning::Answered(text) => TurnMark::Answered(text),
    }
}

#[cfg(test)]
mod tests;
