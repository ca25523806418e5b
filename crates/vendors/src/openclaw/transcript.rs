//! Reads conversations from the databases of OpenClaw's agents. All queries use an index and read
//! few rows.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use segue_core::Result;
use segue_core::model::VendorSessionId;
use segue_core::ports::{
    Conversation, EachTurn, Files, Live, Place, TranscriptDatabase, TranscriptStorage, Transcripts,
};

use super::records::{OpenclawEvent, OpenclawMessage};
use super::{OpenClaw, paths, turns};
use crate::shared::database::VendorDatabase;
use crate::shared::reading::ReadDirection;

/// How many rows at the beginning of a conversation are read, and how many at its end.
const END_ROWS: u32 = 50;

const ROW_COUNT_QUERY: &str = "SELECT max(seq) + 1 FROM transcript_events WHERE session_id = ?1";

/// Rows in the order of the conversation. Skips compressed rows, which are old and have no
/// `event_json`.
const FORWARD_QUERY: &str = "SELECT event_json FROM transcript_events
    WHERE session_id = ?1 AND seq >= ?2 AND event_json IS NOT NULL ORDER BY seq LIMIT ?3";

const BACK_QUERY: &str = "SELECT event_json FROM transcript_events
    WHERE session_id = ?1 AND event_json IS NOT NULL ORDER BY seq DESC LIMIT ?2";

impl Transcripts for OpenClaw {
    fn storage(&self) -> TranscriptStorage<'_> {
        TranscriptStorage::Database(self)
    }

    /// Returns the path of the conversation's database, joined with the id. No file has this path.
    /// If no database contains the conversation, uses the path of the default database.
    fn transcript(&self, files: &dyn Files, place: &Place, id: &VendorSessionId) -> PathBuf {
        let found = find_database(files, &place.config_dir, id).ok().flatten();
        let default = || paths::default_database(&place.config_dir);
        let database = found.map_or_else(default, |(path, _)| path);
        database.join(id.as_str())
    }

    fn is_free(&self, files: &dyn Files, place: &Place, id: &VendorSessionId) -> bool {
        matches!(self.conversation(files, place, id), Ok(None))
    }

    fn length(&self, files: &dyn Files, place: &Place, id: &VendorSessionId) -> Option<u64> {
        let (_, database) = find_database(files, &place.config_dir, id).ok().flatten()?;
        row_count(&database, id).ok().flatten()
    }

    fn conversation(
        &self,
        files: &dyn Files,
        place: &Place,
        id: &VendorSessionId,
    ) -> Result<Option<Conversation>> {
        let Some((path, database)) = find_database(files, &place.config_dir, id)? else {
            return Ok(None);
        };
        let first = events(&database, FORWARD_QUERY, (id.as_str(), 0, END_ROWS))?;
        let Some((cwd, began_at)) = first.iter().find_map(cwd_and_start) else { return Ok(None) };
        let first_message =
            messages(first).find(|message| message.role == "user").map(|message| message.text());
        if first_message.is_none() {
            return Ok(None);
        }
        let last: Vec<OpenclawMessage> =
            messages(events(&database, BACK_QUERY, (id.as_str(), END_ROWS))?).collect();
        Ok(Some(Conversation {
            id: id.clone(),
            transcript: path.join(id.as_str()),
            cwd,
            began_at,
            first_message,
            turn_open: last.first().is_some_and(|message| !message.is_end()),
            last_answer: last.iter().find(|message| message.is_answer()).map(OpenclawMessage::text),
        }))
    }

    /// Returns an empty list, because OpenClaw's conversations belong to no folder.
    fn conversations(&self, _files: &dyn Files, _place: &Place) -> Result<Vec<Conversation>> {
        Ok(Vec::new())
    }

    /// Returns an empty list, because OpenClaw does not show which process has a conversation open.
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
        let Some((_, database)) = find_database(files, &place.config_dir, id)? else {
            return Ok(Vec::new());
        };
        let first = i64::try_from(offset).unwrap_or(i64::MAX);
        let events = events(&database, FORWARD_QUERY, (id.as_str(), first, u32::MAX))?;
        let messages = messages(events).filter(|message| message.role == "user");
        Ok(messages.map(|message| message.text().trim().to_owned()).collect())
    }

    fn turns_back(
        &self,
        _files: &dyn Files,
        transcript: &Path,
        each: &mut EachTurn<'_>,
    ) -> Result<()> {
        turns::read(transcript, ReadDirection::Back, each)
    }

    fn turns(&self, _files: &dyn Files, transcript: &Path, each: &mut EachTurn<'_>) -> Result<()> {
        turns::read(transcript, ReadDirection::Forward, each)
    }
}

impl TranscriptDatabase for OpenClaw {}

fn row_count(database: &VendorDatabase, id: &VendorSessionId) -> Result<Option<u64>> {
    let count = database.row(ROW_COUNT_QUERY, [id.as_str()], |row| row.get::<_, Option<i64>>(0))?;
    Ok(count.flatten().and_then(|count| u64::try_from(count).ok()))
}

fn find_database(
    files: &dyn Files,
    config_dir: &Path,
    id: &VendorSessionId,
) -> Result<Option<(PathBuf, VendorDatabase)>> {
    for path in paths::databases(files, config_dir) {
        if let Some(database) = VendorDatabase::open(&path)?
            && row_count(&database, id)?.is_some()
        {
            return Ok(Some((path, database)));
        }
    }
    Ok(None)
}

fn cwd_and_start(event: &OpenclawEvent) -> Option<(PathBuf, Timestamp)> {
    match event {
        OpenclawEvent::Session { cwd, timestamp } => Some((cwd.clone(), (*timestamp)?)),
        _ => None,
    }
}

fn messages(events: Vec<OpenclawEvent>) -> impl Iterator<Item = OpenclawMessage> {
    events.into_iter().filter_map(|event| match event {
        OpenclawEvent::Message { message, .. } => Some(message),
        _ => None,
    })
}

fn events(
    database: &VendorDatabase,
    query: &str,
    parameters: impl rusqlite::Params,
) -> Result<Vec<OpenclawEvent>> {
    let rows = database.rows(query, parameters, |row| row.get::<_, String>(0))?;
    // Skips rows that cannot be parsed.
    Ok(rows.iter().filter_map(|row| serde_json::from_str(row).ok()).collect())
}

#[cfg(test)]
mod tests;
