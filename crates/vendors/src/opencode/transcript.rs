//! Reads conversations from the database. All queries use an index and read few rows.

use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use rusqlite::Row;
use segue_core::Result;
use segue_core::model::VendorSessionId;
use segue_core::ports::{
    Beginning, Conversation, EachTurn, Files, Live, Place, StoredConversation, TranscriptDatabase,
    TranscriptStorage, Transcripts,
};

use super::part::OpencodePart;
use super::rows::MessageRow;
use super::{OpenCode, export, live, paths, turns, typing};
use crate::shared::database::VendorDatabase;
use crate::shared::reading::ReadDirection;
use crate::shared::transcripts;

/// How many of the newest conversations are read.
const MOST_CONVERSATIONS: u32 = 200;

/// How many messages at the beginning are searched for the first text of the user.
const FIRST_MESSAGES: u32 = 20;

/// The folder and the start time of a conversation.
const HEADER_QUERY: &str = "SELECT directory, time_created FROM session WHERE id = ?1";

/// The newest conversations of a folder. Conversations with a parent belong to subagents.
const FOLDER_QUERY: &str = "SELECT id FROM session WHERE directory = ?1 AND parent_id IS NULL
    ORDER BY time_updated DESC LIMIT ?2";

const ALL_QUERY: &str = "SELECT id, time_updated FROM session WHERE parent_id IS NULL";

const COUNT_QUERY: &str = "SELECT count(*) FROM message WHERE session_id = ?1";

/// The messages after an offset, in the order of the conversation.
const MESSAGES_QUERY: &str = "SELECT id, data, time_created FROM message WHERE session_id = ?1
    ORDER BY time_created, id LIMIT ?2 OFFSET ?3";

const LAST_MESSAGE_QUERY: &str = "SELECT id, data, time_created FROM message WHERE session_id = ?1
    ORDER BY time_created DESC, id DESC LIMIT 1";

/// The beginning of the error of a tool call that the user has refused.
const REFUSED_PREFIX: &str = "The user rejected permission to use this specific tool call";

impl Transcripts for OpenCode {
    fn storage(&self) -> TranscriptStorage<'_> {
        TranscriptStorage::Database(self)
    }

    fn transcript(&self, _files: &dyn Files, place: &Place, id: &VendorSessionId) -> PathBuf {
        paths::transcript(&place.config_dir, id)
    }

    fn is_free(&self, files: &dyn Files, place: &Place, id: &VendorSessionId) -> bool {
        matches!(self.conversation(files, place, id), Ok(None))
    }

    fn length(&self, _files: &dyn Files, place: &Place, id: &VendorSessionId) -> Option<u64> {
        count_messages(&place.config_dir, id).ok().flatten()
    }

    fn conversation(
        &self,
        _files: &dyn Files,
        place: &Place,
        id: &VendorSessionId,
    ) -> Result<Option<Conversation>> {
        match paths::open_database(&place.config_dir)? {
            Some(database) => read_conversation(&database, &place.config_dir, id),
            None => Ok(None),
        }
    }

    fn conversations(&self, _files: &dyn Files, place: &Place) -> Result<Vec<Conversation>> {
        let Some(database) = paths::open_database(&place.config_dir)? else {
            return Ok(Vec::new());
        };
        let cwd = place.cwd.display().to_string();
        let ids = database
            .rows(FOLDER_QUERY, (cwd, MOST_CONVERSATIONS), |row| row.get::<_, String>(0))?;
        let mut found = Vec::new();
        for id in ids {
            found.extend(read_conversation(
                &database,
                &place.config_dir,
                &VendorSessionId::new(id),
            )?);
        }
        Ok(transcripts::oldest_first(found))
    }

    fn list(&self, _files: &dyn Files, config_dir: &Path) -> io::Result<Vec<StoredConversation>> {
        list_in(config_dir).map_err(io::Error::other)
    }

    fn beginning(
        &self,
        _files: &dyn Files,
        kept: &StoredConversation,
    ) -> io::Result<Option<Beginning>> {
        beginning_of(kept).map_err(io::Error::other)
    }

    fn open_conversations(&self, files: &dyn Files, place: &Place) -> Result<Vec<Live>> {
        Ok(live::live(files, place))
    }

    fn user_messages_since(
        &self,
        _files: &dyn Files,
        place: &Place,
        id: &VendorSessionId,
        offset: u64,
    ) -> Result<Vec<String>> {
        let Some(database) = paths::open_database(&place.config_dir)? else {
            return Ok(Vec::new());
        };
        let count = i64::try_from(offset).unwrap_or(i64::MAX);
        let rows = database.rows(MESSAGES_QUERY, (id.as_str(), -1, count), MessageRow::read)?;
        let mut messages = Vec::new();
        for row in rows.iter().filter(|row| row.is_from_user()) {
            messages.extend(row.text(&database)?.map(|text| typing::normalize(&text)));
        }
        Ok(messages)
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

impl TranscriptDatabase for OpenCode {
    fn export(&self, place: &Place, id: &VendorSessionId) -> Result<Option<Vec<u8>>> {
        export::export(&place.config_dir, id)
    }
}

impl MessageRow {
    /// Returns whether this answer is the complete or failed end of a turn.
    fn is_ended(&self, database: &VendorDatabase) -> Result<bool> {
        let has_failed = !self.data["error"].is_null();
        let calls_tools = self.data["finish"] == "tool-calls";
        let is_complete = !self.data["time"]["completed"].is_null();
        Ok(is_complete && (has_failed || !calls_tools || self.is_refused(database)?))
    }

    /// Returns whether the user has refused a tool call of this answer. A refusal ends the turn.
    fn is_refused(&self, database: &VendorDatabase) -> Result<bool> {
        let is_refused = |(_, part): &(String, OpencodePart)| {
            let part = &part.data;
            let error = part["state"]["error"].as_str().unwrap_or_default();
            part["type"] == "tool" && error.starts_with(REFUSED_PREFIX)
        };
        Ok(self.parts(database)?.iter().any(is_refused))
    }

    /// Returns the text of this message, without the parts that OpenCode has added. `None` if there
    /// is no text.
    fn text(&self, database: &VendorDatabase) -> Result<Option<String>> {
        let parts = self.parts(database)?.into_iter().map(|(_, part)| part.data);
        let texts = parts.filter(|part| part["type"] == "text" && part["synthetic"] != true);
        let texts: Vec<String> =
            texts.filter_map(|part| part["text"].as_str().map(str::to_owned)).collect();
        Ok((!texts.is_empty()).then(|| texts.join("\n")))
    }
}

/// Lists the conversations of all folders, except conversations of subagents.
fn list_in(config_dir: &Path) -> Result<Vec<StoredConversation>> {
    let Some(database) = paths::open_database(config_dir)? else {
        return Ok(Vec::new());
    };
    let read_row = |row: &Row<'_>| {
        let id = VendorSessionId::new(row.get::<_, String>(0)?);
        let transcript = paths::transcript(config_dir, &id);
        Ok(StoredConversation { id, transcript, modified: time(row.get(1)?) })
    };
    database.rows(ALL_QUERY, [], read_row)
}

/// Reads the beginning of a conversation. `None` if it does not exist or has no message of the
/// user.
fn beginning_of(kept: &StoredConversation) -> Result<Option<Beginning>> {
    let path = kept.transcript.parent().unwrap_or(&kept.transcript);
    let Some(database) = VendorDatabase::open(path)? else { return Ok(None) };
    let Some((cwd, began_at)) = header(&database, &kept.id)? else { return Ok(None) };
    let first_message = first_text(&database, &kept.id)?;
    let messages = first_message.is_some();
    Ok(messages.then_some(Beginning { cwd, began_at, first_message }))
}

/// Returns the number of messages in a conversation. `None` if the conversation does not exist.
fn count_messages(config_dir: &Path, id: &VendorSessionId) -> Result<Option<u64>> {
    let Some(database) = paths::open_database(config_dir)? else {
        return Ok(None);
    };
    if header(&database, id)?.is_none() {
        return Ok(None);
    }
    let count = database.row(COUNT_QUERY, [id.as_str()], |row| row.get::<_, i64>(0))?;
    Ok(count.and_then(|count| u64::try_from(count).ok()))
}

fn read_conversation(
    database: &VendorDatabase,
    config_dir: &Path,
    id: &VendorSessionId,
) -> Result<Option<Conversation>> {
    let Some((cwd, began_at)) = header(database, id)? else { return Ok(None) };
    let Some(first_message) = first_text(database, id)? else { return Ok(None) };
    let last = database.row(LAST_MESSAGE_QUERY, [id.as_str()], MessageRow::read)?;
    let ended = match last {
        Some(last) if !last.is_from_user() && last.is_ended(database)? => Some(last),
        _ => None,
    };
    let last_answer = match &ended {
        Some(last) => last.text(database)?,
        None => None,
    };
    Ok(Some(Conversation {
        id: id.clone(),
        transcript: paths::transcript(config_dir, id),
        cwd,
        began_at,
        first_message: Some(first_message),
        turn_open: ended.is_none(),
        last_answer,
    }))
}

fn header(database: &VendorDatabase, id: &VendorSessionId) -> Result<Option<(PathBuf, Timestamp)>> {
    let read = |row: &Row<'_>| Ok((PathBuf::from(row.get::<_, String>(0)?), time(row.get(1)?)));
    database.row(HEADER_QUERY, [id.as_str()], read)
}

fn first_text(database: &VendorDatabase, id: &VendorSessionId) -> Result<Option<String>> {
    let first =
        database.rows(MESSAGES_QUERY, (id.as_str(), FIRST_MESSAGES, 0), MessageRow::read)?;
    for message in first.iter().filter(|message| message.is_from_user()) {
        if let Some(text) = message.text(database)? {
            return Ok(Some(text));
        }
    }
    Ok(None)
}

fn time(milliseconds: i64) -> Timestamp {
    Timestamp::from_millisecond(milliseconds).unwrap_or_default()
}

#[cfg(test)]
mod tests;
