//! Reads conversations from the databases of OpenClaw's agents. The queries read few rows and use
//! an index.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use segue_core::Result;
use segue_core::model::VendorSessionId;
use segue_core::ports::{Conversation, Files};

use super::home;
use super::records::{OpenclawEvent, OpenclawMessage};
use crate::shared::database::VendorDatabase;

/// How many rows at each end of a conversation are read.
const NEAR: u32 = 50;

const LENGTH: &str = "SELECT max(seq) + 1 FROM transcript_events WHERE session_id = ?1";

/// Compressed rows have no `event_json`. They are old and not needed here.
const FIRST: &str = "SELECT event_json FROM transcript_events
    WHERE session_id = ?1 AND seq >= ?2 AND event_json IS NOT NULL ORDER BY seq LIMIT ?3";

const LAST: &str = "SELECT event_json FROM transcript_events
    WHERE session_id = ?1 AND event_json IS NOT NULL ORDER BY seq DESC LIMIT ?2";

/// Returns a path that stands for a conversation in its database. If no database has the
/// conversation, the path is in the default one. No file has this path.
pub(super) fn named(files: &dyn Files, config_dir: &Path, id: &VendorSessionId) -> PathBuf {
    let found = find(files, config_dir, id).ok().flatten();
    let database = found.map_or_else(|| home::usual_database(config_dir), |(path, _)| path);
    database.join(id.as_str())
}

/// Returns how many rows a conversation has. `None` if no database has it.
pub(super) fn length(
    files: &dyn Files,
    config_dir: &Path,
    id: &VendorSessionId,
) -> Result<Option<u64>> {
    let Some((_, database)) = find(files, config_dir, id)? else { return Ok(None) };
    rows(&database, id)
}

fn rows(database: &VendorDatabase, id: &VendorSessionId) -> Result<Option<u64>> {
    let count = database.row(LENGTH, [id.as_str()], |row| row.get::<_, Option<i64>>(0))?;
    Ok(count.flatten().and_then(|count| u64::try_from(count).ok()))
}

fn find(
    files: &dyn Files,
    config_dir: &Path,
    id: &VendorSessionId,
) -> Result<Option<(PathBuf, VendorDatabase)>> {
    for path in home::databases(files, config_dir) {
        if let Some(database) = VendorDatabase::open(&path)?
            && rows(&database, id)?.is_some()
        {
            return Ok(Some((path, database)));
        }
    }
    Ok(None)
}

/// Reads what decisions need about one conversation. `None` if it does not exist or has no message
/// of a person.
pub(super) fn conversation(
    files: &dyn Files,
    config_dir: &Path,
    id: &VendorSessionId,
) -> Result<Option<Conversation>> {
    let Some((path, database)) = find(files, config_dir, id)? else { return Ok(None) };
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

/// Returns the user's messages from this row on.
pub(super) fn user_messages_since(
    files: &dyn Files,
    config_dir: &Path,
    id: &VendorSessionId,
    offset: u64,
) -> Result<Vec<String>> {
    let Some((_, database)) = find(files, config_dir, id)? else { return Ok(Vec::new()) };
    let from = i64::try_from(offset).unwrap_or(i64::MAX);
    let events = events(&database, FIRST, (id.as_str(), from, u32::MAX))?;
    let said = messages(events).filter(|message| message.role == "user");
    Ok(said.map(|message| message.text().trim().to_owned()).collect())
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
