//! Converts a transcript to turns.

use std::path::Path;

use jiff::Timestamp;
use segue_core::Result;
use segue_core::model::{Role, Tool, Turn, Usage};
use segue_core::ports::{EachTurn, Files};

use super::records::{PiMeaning, PiMessage, PiPart, PiRecord, PiRecordKind};
use super::tree::PiBranch;
use super::{conversion, typing, usage};
use crate::shared::reading::{self, MessageContent, ReadDirection, text_turn};

/// Reads the turns of the current conversation.
pub(super) fn read(
    files: &dyn Files,
    path: &Path,
    direction: ReadDirection,
    each: &mut EachTurn<'_>,
) -> Result<()> {
    reading::read_turns(files, path, PiBranch::default(), direction, each)
}

/// Returns the turns of a line.
pub(super) fn line_turns(line: &[u8]) -> Vec<Turn> {
    let Some(record) = PiRecord::read(line) else { return Vec::new() };
    let at = record.timestamp;
    match (record.kind, record.message, record.summary) {
        (PiRecordKind::Message, Some(message), _) => message_turns(message, at),
        (PiRecordKind::Compaction | PiRecordKind::BranchSummary, _, Some(summary)) => {
            text_turn(Role::Summary, summary, at).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

fn message_turns(message: PiMessage, at: Option<Timestamp>) -> Vec<Turn> {
    if message.is_result() {
        return result_turn(message, at).into_iter().collect();
    }
    match message.meaning() {
        PiMeaning::UserMessage(_) => {
            let text = typing::unescaped(&message.text_with_images());
            text_turn(Role::User, text, at).into_iter().collect()
        }
        PiMeaning::Continues | PiMeaning::Answered(_) => answer_turns(message, at),
        // Pi does not send failed or interrupted answers to the model.
        PiMeaning::Failed(_) | PiMeaning::Interrupted | PiMeaning::NoEffect => Vec::new(),
    }
}

fn result_turn(message: PiMessage, at: Option<Timestamp>) -> Option<Turn> {
    let text = message.text_with_images();
    let tool = Tool {
        id: message.tool_call_id?,
        name: message.tool_name.unwrap_or_default(),
        failed: message.is_error.unwrap_or_default(),
    };
    Some(Turn::new(Role::ToolResult, text).at(at).with_tool(tool))
}

fn answer_turns(message: PiMessage, at: Option<Timestamp>) -> Vec<Turn> {
    let model = message.model.filter(|value| value != conversion::UNKNOWN);
    let usage = message.usage.map(usage::usage);
    let usage = usage.filter(|usage| *usage != Usage::default());
    let with_model = |turn: Turn| Turn { model: model.clone(), usage, ..turn };
    match message.content {
        MessageContent::Text(text) => {
            text_turn(Role::Assistant, text, at).map(with_model).into_iter().collect()
        }
        MessageContent::Parts(parts) => {
            parts.into_iter().filter_map(|part| part_turn(part, at)).map(with_model).collect()
        }
    }
}

fn part_turn(part: PiPart, at: Option<Timestamp>) -> Option<Turn> {
    match part.kind.as_deref() {
        Some("text") => text_turn(Role::Assistant, part.text?, at),
        Some("toolCall") => {
            let tool = Tool { id: part.id?, name: part.name?, failed: false };
            let arguments =
                part.arguments.map_or_else(|| "{}".into(), |value| value.get().to_owned());
            Some(Turn::new(Role::ToolCall, arguments).at(at).with_tool(tool))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
