//! Reads a transcript as turns.

use std::path::Path;

use jiff::Timestamp;
use segue_core::Result;
use segue_core::model::{Role, Tool, Turn, Usage};
use segue_core::ports::{EachTurn, Files};

use super::records::{PiMeaning, PiMessage, PiPart, PiRecord, PiRecordKind};
use super::tree::PiBranch;
use super::{conversion, typing};
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
pub(super) fn of_line(line: &[u8]) -> Vec<Turn> {
    let Some(record) = PiRecord::read(line) else { return Vec::new() };
    let at = record.timestamp;
    match (record.kind, record.message, record.summary) {
        (PiRecordKind::Message, Some(message), _) => of_message(message, at),
        (PiRecordKind::Compaction | PiRecordKind::BranchSummary, _, Some(summary)) => {
            text_turn(Role::Summary, summary, at).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

fn of_message(message: PiMessage, at: Option<Timestamp>) -> Vec<Turn> {
    if message.is_result() {
        return result(message, at).into_iter().collect();
    }
    match message.meaning() {
        PiMeaning::Said(_) => {
            let text = typing::meant(&message.text_with_images());
            text_turn(Role::User, text, at).into_iter().collect()
        }
        PiMeaning::Continues | PiMeaning::Answered(_) => answers(message, at),
        // Pi does not send failed or interrupted answers to the model.
        PiMeaning::Failed(_) | PiMeaning::Interrupted | PiMeaning::Nothing => Vec::new(),
    }
}

fn result(message: PiMessage, at: Option<Timestamp>) -> Option<Turn> {
    let text = message.text_with_images();
    let tool = Tool {
        id: message.tool_call_id?,
        name: message.tool_name.unwrap_or_default(),
        failed: message.is_error.unwrap_or_default(),
    };
    Some(Turn::new(Role::ToolResult, text).at(at).with_tool(tool))
}

fn answers(message: PiMessage, at: Option<Timestamp>) -> Vec<Turn> {
    let model = message.model.filter(|it| it != conversion::UNKNOWN);
    let usage = message.usage.map(|usage| {
        let cached = [usage.cache_read, usage.cache_write];
        reading::usage_with_cache(usage.input, cached, usage.output)
    });
    let usage = usage.filter(|usage| *usage != Usage::default());
    let known = |turn: Turn| Turn { model: model.clone(), usage, ..turn };
    match message.content {
        MessageContent::Text(text) => {
            text_turn(Role::Assistant, text, at).map(known).into_iter().collect()
        }
        MessageContent::Parts(parts) => {
            parts.into_iter().filter_map(|part| answer(part, at)).map(known).collect()
        }
    }
}

fn answer(part: PiPart, at: Option<Timestamp>) -> Option<Turn> {
    match part.kind.as_deref() {
        Some("text") => text_turn(Role::Assistant, part.text?, at),
        Some("toolCall") => {
            let tool = Tool { id: part.id?, name: part.name?, failed: false };
            let arguments = part.arguments.map_or_else(|| "{}".into(), |it| it.get().to_owned());
            Some(Turn::new(Role::ToolCall, arguments).at(at).with_tool(tool))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
