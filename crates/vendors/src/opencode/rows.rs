//! Reads the messages of a conversation from the database, one page at a time.

use std::borrow::Cow;

use rusqlite::Row;
use rusqlite::types::ValueRef;
use segue_core::Result;
use serde_json::Value;

use super::part::OpencodePart;
use crate::shared::database::VendorDatabase;
use crate::shared::reading::ReadDirection;

/// How many messages one query returns.
const PAGE_ROWS: u32 = 16;

/// The messages after another message, in the order of the conversation.
const FORWARD_QUERY: &str = "SELECT id, data, time_created FROM message
    WHERE session_id = ?1 AND (time_created, id) > (?2, ?3) ORDER BY time_created, id LIMIT ?4";

/// The messages before another message, the last message first.
const BACK_QUERY: &str = "SELECT id, data, time_created FROM message
    WHERE session_id = ?1 AND (time_created, id) < (?2, ?3)
    ORDER BY time_created DESC, id DESC LIMIT ?4";

const PARTS_QUERY: &str = "SELECT id, data FROM part WHERE message_id = ?1 ORDER BY id";

const REVERT_QUERY: &str = "SELECT revert FROM session WHERE id = ?1";

const TIME_QUERY: &str = "SELECT time_created FROM message WHERE id = ?1 AND session_id = ?2";

/// A message without its parts.
#[derive(Debug)]
pub(super) struct MessageRow {
    pub(super) id: String,
    pub(super) data: Value,
    pub(super) time: i64,
}

impl MessageRow {
    /// Reads a row with the columns id, data and time.
    pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self { id: row.get(0)?, data: json(row.get_ref(1)?), time: row.get(2)? })
    }

    pub(super) fn is_from_user(&self) -> bool {
        self.data["role"] == "user"
    }

    /// Returns the ids and the JSON texts of the parts.
    pub(super) fn written_parts(&self, database: &VendorDatabase) -> Result<Vec<(String, String)>> {
        let read = |row: &Row<'_>| Ok((row.get(0)?, text(row.get_ref(1)?).into_owned()));
        database.rows(PARTS_QUERY, [&self.id], read)
    }

    /// Returns the ids and the contents of the parts.
    pub(super) fn parts(&self, database: &VendorDatabase) -> Result<Vec<(String, OpencodePart)>> {
        let read = |row: &Row<'_>| Ok((row.get(0)?, OpencodePart::read(&text(row.get_ref(1)?))));
        database.rows(PARTS_QUERY, [&self.id], read)
    }
}

/// Parses a column of JSON. Invalid JSON becomes null.
pub(super) fn json(column: ValueRef<'_>) -> Value {
    serde_json::from_str(&text(column)).unwrap_or_default()
}

fn text(column: ValueRef<'_>) -> Cow<'_, str> {
    match column {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => String::from_utf8_lossy(bytes),
        _ => Cow::Borrowed(""),
    }
}

/// Returns the messages of a conversation one after the other, and reads them page by page.
#[derive(Debug)]
pub(super) struct MessagePages<'a> {
    database: &'a VendorDatabase,
    session: &'a str,
    direction: ReadDirection,
    /// The time and the id of the last message that was returned.
    last: (i64, String),
    page: std::vec::IntoIter<MessageRow>,
}

impl<'a> MessagePages<'a> {
    pub(super) fn new(
        database: &'a VendorDatabase,
        session: &'a str,
        direction: ReadDirection,
    ) -> Self {
        let time = if direction == ReadDirection::Forward { i64::MIN } else { i64::MAX };
        Self {
            database,
            session,
            direction,
            last: (time, String::new()),
            page: Vec::new().into_iter(),
        }
    }

    /// Returns the messages that were created at this time or later, oldest first.
    pub(super) fn from_time(database: &'a VendorDatabase, session: &'a str, time: i64) -> Self {
        // Every id is greater than the empty one.
        let last = (time, String::new());
        Self { last, ..Self::new(database, session, ReadDirection::Forward) }
    }

    pub(super) fn next(&mut self) -> Result<Option<MessageRow>> {
        if self.page.len() == 0 {
            let query =
                if self.direction == ReadDirection::Forward { FORWARD_QUERY } else { BACK_QUERY };
            let parameters = (self.session, self.last.0, self.last.1.as_str(), PAGE_ROWS);
            self.page = self.database.rows(query, parameters, MessageRow::read)?.into_iter();
        }
        let message = self.page.next();
        if let Some(message) = &message {
            self.last = (message.time, message.id.clone());
        }
        Ok(message)
    }
}

/// The point at which the reverted messages of a conversation begin. OpenCode deletes the reverted
/// messages when the user sends the next message.
#[derive(Debug)]
pub(super) struct RevertPoint {
    time: i64,
    id: String,
    /// The id of the first reverted part of the message. `None` if the whole message was reverted.
    pub(super) part: Option<String>,
}

impl RevertPoint {
    /// Reads the revert point of a conversation. `None` if no message is reverted.
    pub(super) fn of(database: &VendorDatabase, session: &str) -> Result<Option<Self>> {
        let revert = database.row(REVERT_QUERY, [session], |row| Ok(json(row.get_ref(0)?)))?;
        let revert = revert.unwrap_or_default();
        let Some(id) = revert["messageID"].as_str() else { return Ok(None) };
        let time = database.row(TIME_QUERY, [id, session], |row| row.get(0))?;
        let part = revert["partID"].as_str().map(str::to_owned);
        Ok(time.map(|time| Self { time, id: id.to_owned(), part }))
    }

    /// Returns the time of the first reverted message.
    pub(super) fn time(&self) -> i64 {
        self.time
    }

    /// Returns whether the whole message is reverted.
    pub(super) fn reverts(&self, message: &MessageRow) -> bool {
        let (position, revert) = ((message.time, &message.id), (self.time, &self.id));
        position > revert || (position == revert && self.part.is_none())
    }

    /// Returns whether this part is reverted, in a message that is not reverted as a whole.
    pub(super) fn reverts_part(&self, message: &MessageRow, part: &str) -> bool {
        let from = self.part.as_deref().filter(|_| self.id == message.id);
        from.is_some_and(|from| part >= from)
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;

    #[test]
    fn queries_use_an_index_and_need_no_sorting() {
        let database = Connection::open_in_memory().unwrap();
        database.execute_batch(include_str!("fixtures/recorded.sql")).unwrap();
        for query in [FORWARD_QUERY, BACK_QUERY, PARTS_QUERY, REVERT_QUERY, TIME_QUERY] {
            let mut statement = database.prepare(&format!("EXPLAIN QUERY PLAN {query}")).unwrap();
            let parameters = vec!["1"; statement.parameter_count()];
            let plan = statement
                .query_map(rusqlite::params_from_iter(parameters), |row| row.get::<_, String>(3))
                .unwrap()
                .collect::<rusqlite::Result<Vec<_>>>()
                .unwrap()
                .join("; ");
            assert!(plan.contains("SEARCH") && !plan.contains("TEMP B-TREE"), "{query}: {plan}");
        }
    }
}
