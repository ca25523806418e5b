//! Converts a conversation to turns.
//!
//! The rows form a tree. The last row is the current end of the conversation. Only this row and its
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

/// How many rows one query returns.
const PAGE_ROWS: u32 = 16;

/// Rows from the end of the conversation. A compressed row has no `event_json`; its
/// `navigation_json` contains its position in the tree.
const BACK_QUERY: &str = "SELECT seq, event_json, navigation_json FROM transcript_events
    WHERE session_id = ?1 AND seq < ?2 ORDER BY seq DESC LIMIT ?3";

pub(super) const FORWARD_QUERY: &str =
    "SELECT seq, event_json, navigation_json FROM transcript_events
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
    each_row(database, BACK_QUERY, (id, i64::MAX), |row| {
        if branch.contains(row) {
            ReadDirection::Back.visit(row_turns(row), each)?;
        }
        branch.flow()
    })
}

fn read_forward(database: &VendorDatabase, id: &str, each: &mut EachTurn<'_>) -> Result<()> {
    let (mut branch, mut branch_rows) = (OpenclawBranch::default(), Vec::new());
    each_row(database, BACK_QUERY, (id, i64::MAX), |row| {
        if branch.contains(row) {
            branch_rows.push(row.seq);
        }
        branch.flow()
    })?;
    let Some(first) = branch_rows.last() else { return Ok(()) };
    each_row(database, FORWARD_QUERY, (id, first.saturating_sub(1)), |row| {
        match branch_rows.last() {
            None => ControlFlow::Break(()),
            Some(next) if *next != row.seq => ControlFlow::Continue(()),
            Some(_) => {
                branch_rows.pop();
                ReadDirection::Forward.visit(row_turns(row), each)
            }
        }
    })
}

/// Opens the database of a transcript. Returns it with the id of the conversation.
pub(super) fn open(transcript: &Path) -> Result<Option<(VendorDatabase, String)>> {
    let (Some(path), Some(id)) = (transcript.parent(), transcript.file_name()) else {
        return Ok(None);
    };
    let database = VendorDatabase::open(path)?;
    Ok(database.map(|database| (database, id.to_string_lossy().into_owned())))
}

/// A row of a conversation.
#[derive(Debug)]
pub(super) struct OpenclawRow {
    pub(super) seq: i64,
    /// `None` if the row is compressed.
    pub(super) event: Option<String>,
    navigation: Option<String>,
}

impl OpenclawRow {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let text = |column: ValueRef<'_>| match column {
            ValueRef::Text(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
            _ => None,
        };
        let (event, navigation) = (text(row.get_ref(1)?), text(row.get_ref(2)?));
        Ok(Self { seq: row.get(0)?, event, navigation })
    }
}

/// Calls `each` with the rows before or after this row, one page after the other. Stops if `each`
/// breaks.
pub(super) fn each_row(
    database: &VendorDatabase,
    query: &str,
    (id, mut seq): (&str, i64),
    mut each: impl FnMut(&OpenclawRow) -> ControlFlow<()>,
) -> Result<()> {
    loop {
        let rows = database.rows(query, (id, seq, PAGE_ROWS), OpenclawRow::read)?;
        let Some(last) = rows.last() else { return Ok(()) };
        seq = last.seq;
        if rows.iter().try_for_each(&mut each).is_break() {
            return Ok(());
        }
    }
}

/// Follows the conversation from its end to its beginning.
#[derive(Debug, Default)]
struct OpenclawBranch {
    next: NextRow,
}

#[derive(Debug, Default, PartialEq, Eq)]
enum NextRow {
    /// Any row: no row was read yet, or the last row could not be parsed.
    #[default]
    Any,
    This(String),
    Nothing,
}

impl OpenclawBranch {
    /// Returns whether the next row, on the way from the end, belongs to the conversation.
    fn contains(&mut self, row: &OpenclawRow) -> bool {
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

    fn flow(&self) -> ControlFlow<()> {
        if self.next == NextRow::Nothing {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

/// Returns the turns of a row, in the order of the conversation.
fn row_turns(row: &OpenclawRow) -> Vec<Turn> {
    let event = row.event.as_deref().and_then(|text| serde_json::from_str(text).ok());
    match event {
        Some(OpenclawEvent::Compaction { summary, timestamp }) if !summary.is_empty() => {
            vec![Turn::new(Role::Summary, summary).at(timestamp)]
        }
        Some(OpenclawEvent::Message { message, timestamp }) => message_turns(message, timestamp),
        _ => Vec::new(),
    }
}

fn message_turns(message: OpenclawMessage, at: Option<Timestamp>) -> Vec<Turn> {
    match message.role.as_str() {
        "user" => text_turn(Role::User, message.text(), at).into_iter().collect(),
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

fn text_turn(role: Role, text: String, at: Option<Timestamp>) -> Option<Turn> {
    (!text.is_empty()).then(|| Turn::new(role, text).at(at))
}

fn answer(message: OpenclawMessage, at: Option<Timestamp>) -> Vec<Turn> {
    let model = message
        .provider
        .zip(message.model)
        .map(|(provider, model_name)| format!("{provider}/{model_name}"));
    let mut turns: Vec<Turn> = match message.content {
        MessageContent::Text(text) => text_turn(Role::Assistant, text, at).into_iter().collect(),
        MessageContent::Parts(parts) => {
            parts.into_iter().filter_map(|part| part_turn(part, at)).collect()
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

fn part_turn(part: OpenclawPart, at: Option<Timestamp>) -> Option<Turn> {
    match part.r#type.as_str() {
        "text" => text_turn(Role::Assistant, part.text?, at),
        "toolCall" => {
            let tool = Tool { id: part.id, name: part.name, failed: false };
            let arguments =
                if part.arguments.is_null() { "{}".into() } else { part.arguments.to_string() };
            Some(Turn::new(Role::ToolCall, arguments).at(at).with_tool(tool))
        }
        _ => None,
    }
}

pub(super) fn usage(tokens: Tokens) -> Option<Usage> {
    let cache = (tokens.cache_read, tokens.cache_write);
    let usage = reading::usage_with_cache(tokens.input, cache, tokens.output);
    (usage != Usage::default()).then_some(usage)
}

#[cfg(test)]
mod tests;
