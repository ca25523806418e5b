//! Converts a transcript to turns.

use std::path::Path;

use jiff::Timestamp;
use segue_core::Result;
use segue_core::model::{Role, Tool, Turn};
use segue_core::ports::{EachTurn, Files};
use serde::Deserialize;

use super::records::{
    ClaudeBlock, ClaudeMeaning, ClaudeRecord, ClaudeRecordKind, SYNTHETIC_MODEL, as_typed,
};
use super::tree::ClaudeBranch;
use super::{tip, usage};
use crate::shared::reading::{self, MessageContent, ReadDirection, text_turn};

/// Reads the turns of the current conversation.
pub(super) fn read(
    files: &dyn Files,
    path: &Path,
    direction: ReadDirection,
    each: &mut EachTurn<'_>,
) -> Result<()> {
    match tip::find(files, path)? {
        Some(tip) => reading::read_turns(files, path, ClaudeBranch::to(tip), direction, each),
        None => Ok(()),
    }
}

/// Returns the turns of a line.
pub(super) fn turns_of_line(line: &[u8]) -> Vec<Turn> {
    match record_of_line(line) {
        Some(record) => turns_of_record(record),
        None => turn_of_queued_message(line).into_iter().collect(),
    }
}

/// Parses the record of a line, even if it follows a torn record.
pub(super) fn record_of_line(line: &[u8]) -> Option<ClaudeRecord> {
    ClaudeRecord::read(line).or_else(|| record_after_torn_record(line))
}

/// Parses a record that follows a torn record on the same line.
fn record_after_torn_record(line: &[u8]) -> Option<ClaudeRecord> {
    let at = memchr::memmem::rfind(line, b"{\"parentUuid\":").filter(|at| *at > 0)?;
    ClaudeRecord::read(&line[at..])
}

fn turns_of_record(record: ClaudeRecord) -> Vec<Turn> {
    let at = record.timestamp;
    match record.kind {
        ClaudeRecordKind::User if record.is_compact_summary => {
            text_turn(Role::Summary, record.message.content.text(), at).into_iter().collect()
        }
        ClaudeRecordKind::User => match record.meaning() {
            ClaudeMeaning::Said(_) => {
                let text = as_typed(record.message.content.text_with_images());
                text_turn(Role::User, text, at).into_iter().collect()
            }
            ClaudeMeaning::ToolResult => result_turns(record.message.content, at),
            _ => Vec::new(),
        },
        ClaudeRecordKind::Assistant => answer_turns(record),
    }
}

fn result_turns(content: MessageContent<ClaudeBlock>, at: Option<Timestamp>) -> Vec<Turn> {
    let MessageContent::Parts(blocks) = content else { return Vec::new() };
    let result = |block: ClaudeBlock| {
        let id = block.tool_use_id.filter(|_| block.kind == "tool_result")?;
        let tool = Tool { id, name: String::new(), failed: block.is_error.unwrap_or_default() };
        let text = block.content.map(|content| content.text_with_images()).unwrap_or_default();
        Some(Turn::new(Role::ToolResult, text).at(at).with_tool(tool))
    };
    blocks.into_iter().filter_map(result).collect()
}

fn answer_turns(record: ClaudeRecord) -> Vec<Turn> {
    if record.is_not_from_model() {
        return Vec::new();
    }
    let (at, model) =
        (record.timestamp, record.message.model.filter(|model| model != SYNTHETIC_MODEL));
    let usage = record.message.usage.map(usage::usage);
    let with_model_and_usage = |turn: Turn| Turn { model: model.clone(), usage, ..turn };
    let blocks = match record.message.content {
        MessageContent::Text(text) => {
            return text_turn(Role::Assistant, text, at)
                .map(with_model_and_usage)
                .into_iter()
                .collect();
        }
        MessageContent::Parts(blocks) => blocks,
    };
    blocks
        .into_iter()
        .filter_map(|block| turn_of_block(block, at))
        .map(with_model_and_usage)
        .collect()
}

fn turn_of_block(block: ClaudeBlock, at: Option<Timestamp>) -> Option<Turn> {
    match block.kind.as_str() {
        "text" => text_turn(Role::Assistant, block.text?, at),
        "tool_use" => {
            let tool = Tool { id: block.id?, name: block.name?, failed: false };
            let input = block.input.map_or_else(|| "{}".to_owned(), |input| input.get().to_owned());
            Some(Turn::new(Role::ToolCall, input).at(at).with_tool(tool))
        }
        _ => None,
    }
}

/// A message that the user typed while the agent worked. The agent received it in the middle of its
/// turn.
#[derive(Deserialize)]
struct QueuedMessage {
    attachment: Attachment,
    timestamp: Option<Timestamp>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Attachment {
    #[serde(rename = "type")]
    kind: String,
    prompt: MessageContent<ClaudeBlock>,
    command_mode: Option<String>,
    #[serde(default)]
    is_meta: bool,
}

fn turn_of_queued_message(line: &[u8]) -> Option<Turn> {
    memchr::memmem::find(line, b"\"queued_command\"")?;
    let QueuedMessage { attachment, timestamp } = reading::parse_json(line)?;
    let is_prompt = attachment.kind == "queued_command"
        && !attachment.is_meta
        && attachment.command_mode.as_deref() == Some("prompt");
    is_prompt
        .then(|| text_turn(Role::User, attachment.prompt.text_with_images(), timestamp))
        .flatten()
}

#[cfg(test)]
mod tests;
