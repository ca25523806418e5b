//! Reads a conversation as turns.
//!
//! The rows form a tree. The newest row is the current end of the conversation, and only its
//! ancestors belong to the conversation.

use std::ops::ControlFlow;
use std::path::Path;

use jiff::Timestamp;
use rusqlite::Row;
use rusqlite::types::ValueRef;
use segue_core::Result;
use segue_core::model::{Role, Tool, Turn, Usage};
use segue_core::ports::EachTurn;

use super::records::{Link, OpenclawEvent, OpenclawMessage, OpenclawPart, Tokens};
use crate::shared::database::VendorDatabase;
use crate::shared::reading::{self, MessageContent, ReadDirection};

/// How many rows are held in memory at once.
const PAGE: u32 = 16;

/// A compressed row has only `navigation_json`, which contains its place in the tree.
const BEFORE: &str = "SELECT seq, event_json, navigation_json FROM transcript_events
    WHERE session_id = ?1 AND seq < ?2 ORDER BY seq DESC LIMIT ?3";

const AFTER: &str = "SELECT seq, event_json, navigation_json FROM transcript_events
    WHERE session_id = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3";

/// Reads the turns of a conversation. The path of the transcript consists of the database's path
/// and the conversation's id.
pub(super) fn read(
    transcript: &Path,
    direction: ReadDirection,
    each: &mut EachTurn<'_>,
) -> Result<()> {
    let Some((database, id)) = open(transcript)? else { return Ok(()) };
    match direction {
        ReadDirection::Forward => read_forward(&database, &id, each),
        ReadDirection::Back => read_back(&database, &id, each),
    }
}

fn read_back(database: &VendorDatabase, id: &str, each: &mut EachTurn<'_>) -> Result<()> {
    let mut branch = OpenclawBranch::default();
    each_row(database, BEFORE, (id, i64::MAX), |row| {
        if branch.has(row) {
            ReadDirection::Back.visit(of_row(row), each)?;
        }
        branch.told()
    })
}

fn read_forward(database: &VendorDatabase, id: &str, each: &mut EachTurn<'_>) -> Result<()> {
    let (mut branch, mut wanted) = (OpenclawBranch::default(), Vec::new());
    each_row(database, BEFORE, (id, i64::MAX), |row| {
        if branch.has(row) {
            wanted.push(row.number);
        }
        branch.told()
    })?;
    let Some(first) = wanted.last() else { return Ok(()) };
    each_row(database, AFTER, (id, first.saturating_sub(1)), |row| match wanted.last() {
        None => ControlFlow::Break(()),
        Some(next) if *next != row.number => ControlFlow::Continue(()),
        Some(_) => {
            wanted.pop();
            ReadDirection::Forward.visit(of_row(row), each)
        }
    })
}

fn open(transcript: &Path) -> Result<Option<(VendorDatabase, String)>> {
    let (Some(path), Some(id)) = (transcript.parent(), transcript.file_name()) else {
        return Ok(None);
    };
    let database = VendorDatabase::open(path)?;
    Ok(database.map(|database| (database, id.to_string_lossy().into_owned())))
}

/// A row of a conversation.
#[derive(Debug)]
struct OpenclawRow {
    number: i64,
    /// `None` if the row is compressed.
    event: Option<String>,
    navigation: Option<String>,
}

impl OpenclawRow {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let text = |column: ValueRef<'_>| match column {
            ValueRef::Text(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
            _ => None,
        };
        let (event, navigation) = (text(row.get_ref(1)?), text(row.get_ref(2)?));
        Ok(Self { number: row.get(0)?, event, navigation })
    }
}

/// Calls back with each row that the query returns, page by page, starting at this number. Stops
/// when the callback breaks.
fn each_row(
    database: &VendorDatabase,
    query: &str,
    (id, mut number): (&str, i64),
    mut each: impl FnMut(&OpenclawRow) -> ControlFlow<()>,
) -> Result<()> {
    loop {
        let rows = database.rows(query, (id, number, PAGE), OpenclawRow::read)?;
        let Some(last) = rows.last() else { return Ok(()) };
        number = last.number;
        if rows.iter().try_for_each(&mut each).is_break() {
            return Ok(());
        }
    }
}

/// Follows the conversation from its current end to its beginning.
#[derive(Debug, Default)]
struct OpenclawBranch {
    next: NextRow,
}

#[derive(Debug, Default, PartialEq, Eq)]
enum NextRow {
    /// Any row: nothing is known yet, or a row on the way could not be read.
    #[default]
    Any,
    This(String),
    Nothing,
}

impl OpenclawBranch {
    /// Returns whether the next row from the end belongs to the conversation.
    fn has(&mut self, row: &OpenclawRow) -> bool {
        let text = row.event.as_deref().or(row.navigation.as_deref()).unwrap_or_default();
        let link = serde_json::from_str::<Link>(text).ok();
        if link.as_ref().is_some_and(|link| link.r#type == "session") {
            return false;
        }
        let Some(Link { id: Some(id), parent_id, .. }) = link else {
            self.next = NextRow::Any;
            return false;
        };
        if self.next != NextRow::Any && self.next != NextRow::This(id) {
            return false;
        }
        self.next = parent_id.map_or(NextRow::Nothing, NextRow::This);
        true
    }

    fn told(&self) -> ControlFlow<()> {
        if self.next == NextRow::Nothing {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

/// Returns the turns of a row, the oldest first.
fn of_row(row: &OpenclawRow) -> Vec<Turn> {
    let event = row.event.as_deref().and_then(|text| serde_json::from_str(text).ok());
    match event {
        Some(OpenclawEvent::Compaction { summary, timestamp }) if !summary.is_empty() => {
            vec![Turn::new(Role::Summary, summary).at(timestamp)]
        }
        Some(OpenclawEvent::Message { message, timestamp }) => of_message(message, timestamp),
        _ => Vec::new(),
    }
}

fn of_message(message: OpenclawMessage, at: Option<Timestamp>) -> Vec<Turn> {
    match message.role.as_str() {
        "user" => said(Role::User, message.text(), at).into_iter().collect(),
        "assistant" if !message.is_failed() => answer(message, at),
        "toolResult" => {
            let text = message.text();
            let OpenclawMessage { tool_call_id: id, tool_name: name, is_error: failed, .. } =
                message;
            vec![Turn::new(Role::ToolResult, text).at(at).with_tool(Tool { id, name, failed })]
        }
        _ => Vec::new(),
    }
}

fn said(role: Role, text: String, at: Option<Timestamp>) -> Option<Turn> {
    (!text.is_empty()).then(|| Turn::new(role, text).at(at))
}

fn answer(message: OpenclawMessage, at: Option<Timestamp>) -> Vec<Turn> {
    let model = message.provider.zip(message.model).map(|(one, other)| format!("{one}/{other}"));
    let mut turns: Vec<Turn> = match message.content {
        MessageContent::Text(text) => said(Role::Assistant, text, at).into_iter().collect(),
        MessageContent::Parts(parts) => {
            parts.into_iter().filter_map(|part| of_part(part, at)).collect()
        }
    };
    for turn in &mut turns {
        turn.model.clone_from(&model);
    }
    if let Some(last) = turns.last_mut() {
        last.usage = message.usage.and_then(usage);
    }
    turns
}

fn of_part(part: OpenclawPart, at: Option<Timestamp>) -> Option<Turn> {
    match part.r#type.as_str() {
        "text" => said(Role::Assistant, part.text?, at),
        "toolCall" => {
            let tool = Tool { id: part.id, name: part.name, failed: false };
            let given =
                if part.arguments.is_null() { "{}".into() } else { part.arguments.to_string() };
            Some(Turn::new(Role::ToolCall, given).at(at).with_tool(tool))
        }
        _ => None,
    }
}

fn usage(tokens: Tokens) -> Option<Usage> {
    let cached = [tokens.cache_read, tokens.cache_write];
    let usage = reading::usage_with_cache(tokens.input, cached, tokens.output);
    (usage != Usage::default()).then_some(usage)
}

#[cfg(test)]
mod tests;
