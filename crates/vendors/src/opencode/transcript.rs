//! Reads conversations from the database. The queries read few rows and use the database's indexes.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use rusqlite::Row;
use segue_core::Result;
use segue_core::model::VendorSessionId;
use segue_core::ports::{Beginning, Conversation, Place, StoredConversation};

use super::part::OpencodePart;
use super::rows::MessageRow;
use super::{home, typing};
use crate::shared::database::VendorDatabase;
use crate::shared::stored;

/// How many of the newest conversations are read.
const NEWEST: u32 = 200;

/// How many messages at the beginning are searched for the first text of a person.
const FIRST: u32 = 20;

/// A conversation's own row. Conversations with a parent belong to subagents.
const HEADER: &str = "SELECT directory, time_created FROM session WHERE id = ?1";

const OF_FOLDER: &str = "SELECT id FROM session WHERE directory = ?1 AND parent_id IS NULL
    ORDER BY time_updated DESC LIMIT ?2";

const ALL: &str = "SELECT id, time_updated FROM session WHERE parent_id IS NULL";

const LENGTH: &str = "SELECT count(*) FROM message WHERE session_id = ?1";

/// The messages after an offset, the oldest first.
const MESSAGES: &str = "SELECT id, data, time_created FROM message WHERE session_id = ?1
    ORDER BY time_created, id LIMIT ?2 OFFSET ?3";

const LAST_MESSAGE: &str = "SELECT id, data, time_created FROM message WHERE session_id = ?1
    ORDER BY time_created DESC, id DESC LIMIT 1";

/// Beginning of the error of a tool call that the user has refused.
const REFUSED: &str = "The user rejected permission to use this specific tool call";

impl MessageRow {
    /// Returns whether an answer is complete, successful or not.
    fn is_ended(&self, database: &VendorDatabase) -> Result<bool> {
        let has_failed = !self.data["error"].is_null();
        let calls_tools = self.data["finish"] == "tool-calls";
        let is_complete = !self.data["time"]["completed"].is_null();
        Ok(is_complete && (has_failed || !calls_tools || self.is_refused(database)?))
    }

    /// Returns whether the user has refused one of its tool calls. No further answer follows then.
    fn is_refused(&self, database: &VendorDatabase) -> Result<bool> {
        let is_refused = |(_, part): &(String, OpencodePart)| {
            let part = &part.data;
            let error = part["state"]["error"].as_str().unwrap_or_default();
            part["type"] == "tool" && error.starts_with(REFUSED)
        };
        Ok(self.parts(database)?.iter().any(is_refused))
    }

    /// Returns its text, without the parts that OpenCode has added. `None` if it has no text.
    fn words(&self, database: &VendorDatabase) -> Result<Option<String>> {
        let parts = self.parts(database)?.into_iter().map(|(_, part)| part.data);
        let texts = parts.filter(|part| part["type"] == "text" && part["synthetic"] != true);
        let texts: Vec<String> =
            texts.filter_map(|part| part["text"].as_str().map(str::to_owned)).collect();
        Ok((!texts.is_empty()).then(|| texts.join("\n")))
    }
}

/// Reads what decisions need about one conversation. `None` if it does not exist or has no message
/// of a person.
pub(super) fn conversation(
    config_dir: &Path,
    id: &VendorSessionId,
) -> Result<Option<Conversation>> {
    match VendorDatabase::open(&home::database(config_dir))? {
        Some(database) => read(&database, config_dir, id),
        None => Ok(None),
    }
}

/// Lists the newest conversations of a folder, the oldest of them first.
pub(super) fn conversations(place: &Place) -> Result<Vec<Conversation>> {
    let Some(database) = VendorDatabase::open(&home::database(&place.config_dir))? else {
        return Ok(Vec::new());
    };
    let cwd = place.cwd.display().to_string();
    let ids = database.rows(OF_FOLDER, (cwd, NEWEST), |row| row.get::<_, String>(0))?;
    let mut found = Vec::new();
    for id in ids {
        found.extend(read(&database, &place.config_dir, &VendorSessionId::new(id))?);
    }
    Ok(stored::oldest_first(found.into_iter()))
}

/// Returns whether a conversation can begin under this id: it does not exist, or it has no message.
/// If the database cannot be read, the id is not free.
pub(super) fn is_free(config_dir: &Path, id: &VendorSessionId) -> bool {
    matches!(conversation(config_dir, id), Ok(None))
}

/// Lists the conversations of all folders, without those of subagents.
pub(super) fn kept(config_dir: &Path) -> Result<Vec<StoredConversation>> {
    let Some(database) = VendorDatabase::open(&home::database(config_dir))? else {
        return Ok(Vec::new());
    };
    let one = |row: &Row<'_>| {
        let id = VendorSessionId::new(row.get::<_, String>(0)?);
        let transcript = home::transcript(config_dir, &id);
        Ok(StoredConversation { id, transcript, modified: time(row.get(1)?) })
    };
    database.rows(ALL, [], one)
}

/// Reads the beginning of a conversation. `None` if it does not exist or has no message of a
/// person.
pub(super) fn beginning(kept: &StoredConversation) -> Result<Option<Beginning>> {
    let path = kept.transcript.parent().unwrap_or(&kept.transcript);
    let Some(database) = VendorDatabase::open(path)? else { return Ok(None) };
    let Some((cwd, began_at)) = header(&database, &kept.id)? else { return Ok(None) };
    let first_message = first_words(&database, &kept.id)?;
    let said = first_message.is_some();
    Ok(said.then_some(Beginning { cwd, began_at, first_message }))
}

/// Returns how many messages a conversation has. `None` if it does not exist.
pub(super) fn length(config_dir: &Path, id: &VendorSessionId) -> Result<Option<u64>> {
    let Some(database) = VendorDatabase::open(&home::database(config_dir))? else {
        return Ok(None);
    };
    if header(&database, id)?.is_none() {
        return Ok(None);
    }
    let count = database.row(LENGTH, [id.as_str()], |row| row.get::<_, i64>(0))?;
    Ok(count.and_then(|count| u64::try_from(count).ok()))
}

/// Returns the user's messages that come after the first `offset` messages.
pub(super) fn user_messages_since(
    config_dir: &Path,
    id: &VendorSessionId,
    offset: u64,
) -> Result<Vec<String>> {
    let Some(database) = VendorDatabase::open(&home::database(config_dir))? else {
        return Ok(Vec::new());
    };
    let offset = i64::try_from(offset).unwrap_or(i64::MAX);
    let messages = database.rows(MESSAGES, (id.as_str(), -1, offset), MessageRow::read)?;
    let mut said = Vec::new();
    for message in messages.iter().filter(|message| message.is_users()) {
        said.extend(message.words(&database)?.map(|words| typing::normal(&words)));
    }
    Ok(said)
}

fn read(
    database: &VendorDatabase,
    config_dir: &Path,
    id: &VendorSessionId,
) -> Result<Option<Conversation>> {
    let Some((cwd, began_at)) = header(database, id)? else { return Ok(None) };
    let Some(first_message) = first_words(database, id)? else { return Ok(None) };
    let last = database.row(LAST_MESSAGE, [id.as_str()], MessageRow::read)?;
    let ended = match last {
        Some(last) if !last.is_users() && last.is_ended(database)? => Some(last),
        _ => None,
    };
    let last_answer = match &ended {
        Some(last) => last.words(database)?,
        None => None,
    };
    Ok(Some(Conversation {
        id: id.clone(),
        transcript: home::transcript(config_dir, id),
        cwd,
        began_at,
        first_message: Some(first_message),
        turn_open: ended.is_none(),
        last_answer,
    }))
}

fn header(database: &VendorDatabase, id: &VendorSessionId) -> Result<Option<(PathBuf, Timestamp)>> {
    let read = |row: &Row<'_>| Ok((PathBuf::from(row.get::<_, String>(0)?), time(row.get(1)?)));
    database.row(HEADER, [id.as_str()], read)
}

fn first_words(database: &VendorDatabase, id: &VendorSessionId) -> Result<Option<String>> {
    let first = database.rows(MESSAGES, (id.as_str(), FIRST, 0), MessageRow::read)?;
    for message in first.iter().filter(|message| message.is_users()) {
        if let Some(words) = message.words(database)? {
            return Ok(Some(words));
        }
    }
    Ok(None)
}

fn time(milliseconds: i64) -> Timestamp {
    Timestamp::from_millisecond(milliseconds).unwrap_or_default()
}

#[cfg(test)]
mod tests;
