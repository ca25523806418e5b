//! Reads conversations from the databases of OpenClaw's agents. The queries read few rows and use
//! an index.

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

/// How many rows at each end of a conversation are read.
const NEAR: u32 = 50;

const LENGTH: &str = "SELECT max(seq) + 1 FROM transcript_events WHERE session_id = ?1";

/// Compressed rows have no `event_json`. They are old and not needed here.
const FIRST: &str = "SELECT event_json FROM transcript_events
    WHERE session_id = ?1 AND seq >= ?2 AND event_json IS NOT NULL ORDER BY seq LIMIT ?3";

const LAST: &str = "SELECT event_json FROM transcript_events
    WHERE session_id = ?1 AND event_json IS NOT NULL ORDER BY seq DESC LIMIT ?2";

impl Transcripts for OpenClaw {
    fn storage(&self) -> TranscriptStorage<'_> {
        TranscriptStorage::Database(self)
    }

    /// Returns a path that stands for a conversation in its database. If no database has the
    /// conversation, the path is in the default one. No file has this path.
    fn transcript(&self, files: &dyn Files, place: &Place, id: &VendorSessionId) -> PathBuf {
        let found = find(files, &place.config_dir, id).ok().flatten();
        let default = || paths::usual_database(&place.config_dir);
        let database = found.map_or_else(default, |(path, _)| path);
        database.join(id.as_str())
    }

    fn is_free(&self, files: &dyn Files, place: &Place, id: &VendorSessionId) -> bool {
        matches!(self.conversation(files, place, id), Ok(None))
    }

    fn length(&self, files: &dyn Files, place: &Place, id: &VendorSessionId) -> Option<u64> {
        let (_, database) = find(files, &place.config_dir, id).ok().flatten()?;
        rows(&database, id).ok().flatten()
    }

    fn conversation(
        &self,
        files: &dyn Files,
        place: &Place,
        id: &VendorSessionId,
    ) -> Result<Option<Conversation>> {
        let Some((path, database)) = find(files, &place.config_dir, id)? else { return Ok(None) };
        let first = events(&database, FIRST, (id.as_str(), 0, NEAR))?;
        let Some((cwd, began_at)) = first.iter().find_map(begun) else { return Ok(None) };
        let first_message = messages(first).find(|it| it.role == "user").map(|it| it.text());
        if first_message.is_none() {
            return Ok(None);
        }
        let last: Vec<OpenclawMessage> =
            messages(events(&database, LAST, (id.as_str(), NEAR))?).collect();
        Ok(Some(Conversation {
            id: id.clone(),
            transcript: path.join(id.as_str()),
            cwd,
            began_at,
            first_message,
            turn_open: last.first().is_some_and(|message| !message.is_end()),
            last_answer: last.iter().find(|it| it.is_answer()).map(OpenclawMessage::text),
        }))
    }

    /// Returns an empty list: OpenClaw's conversations belong to no folder, and Segue only looks
    /// for known ids.
    fn conversations(&self, _files: &dyn Files, _place: &Place) -> Result<Vec<Conversation>> {
        Ok(Vec::new())
    }

    /// Returns an empty list: OpenClaw does not show which process has which conversation open.
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
        let Some((_, database)) = find(files, &place.config_dir, id)? else {
            return Ok(Vec::new());
        };
        let first = i64::try_from(offset).unwrap_or(i64::MAX);
        let events = events(&database, FIRST, (id.as_str(), first, u32::MAX))?;
        let said = messages(events).filter(|message| message.role == "user");
        Ok(said.map(|message| message.text().trim().to_owned()).collect())
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

fn rows(database: &VendorDatabase, id: &VendorSessionId) -> Result<Option<u64>> {
    let count = database.row(LENGTH, [id.as_str()], |row| row.get::<_, Option<i64>>(0))?;
    Ok(count.flatten().and_then(|count| u64::try_from(count).ok()))
}

fn find(
    files: &dyn Files,
    config_dir: &Path,
    id: &VendorSessionId,
) -> Result<Option<(PathBuf, VendorDatabase)>> {
    for path in paths::databases(files, config_dir) {
        if let Some(database) = VendorDatabase::open(&path)?
            && rows(&database, id)?.is_some()
        {
            return Ok(Some((path, database)));
        }
    }
    Ok(None)
}

fn begun(event: &OpenclawEvent) -> Option<(PathBuf, Timestamp)> {
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
    given: impl rusqlite::Params,
) -> Result<Vec<OpenclawEvent>> {
    let rows = database.rows(query, given, |row| row.get::<_, String>(0))?;
    // Rows that cannot be parsed are ignored.
    Ok(rows.iter().filter_map(|row| serde_json::from_str(row).ok()).collect())
}

#[cfg(test)]
mod tests;
