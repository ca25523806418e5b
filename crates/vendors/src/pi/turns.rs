//! Reads a transcript as turns.

use std::path::Path;

use jiff::Timestamp;
use segue_core::Result;
use segue_core::model::{self, Role, Tool, Turn};
use segue_core::ports::{EachTurn, Files};

use super::records::{PiMeaning, PiMessage, PiPart, PiRecord, PiRecordKind, PiUsage};
use super::tree::PiBranch;
use super::{conversion, typing};
use crate::shared::reading::{self, MessageContent};

/// Replaces an image, which has no text.
const IMAGE: &str = "[image]";

pub(super) fn turns_back(files: &dyn Files, path: &Path, each: &mut EachTurn<'_>) -> Result<()> {
    reading::turns_back(files, path, PiBranch::default(), each)
}

pub(super) fn turns(files: &dyn Files, path: &Path, each: &mut EachTurn<'_>) -> Result<()> {
    reading::turns(files, path, PiBranch::default(), each)
}

/// Returns the turns of a line.
pub(super) fn of_line(line: &[u8]) -> Vec<Turn> {
    let Some(record) = PiRecord::read(line) else { return Vec::new() };
    let at = record.timestamp;
    match (record.kind, record.message, record.summary) {
        (PiRecordKind::Message, Some(message), _) => of_message(message, at),
        (PiRecordKind::Compaction | PiRecordKind::BranchSummary, _, Some(summary)) => {
            said(Role::Summary, summary, at).into_iter().collect()
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
            let text = typing::meant(&words(message.content));
            said(Role::User, text, at).into_iter().collect()
        }
        PiMeaning::Continues | PiMeaning::Answered(_) => answers(message, at),
        // Pi does not send failed or interrupted answers to the model.
        PiMeaning::Failed(_) | PiMeaning::Interrupted | PiMeaning::Nothing => Vec::new(),
    }
}

/// Returns a turn with this text. `None` if the text is blank.
fn said(role: Role, text: String, at: Option<Timestamp>) -> Option<Turn> {
    (!text.trim().is_empty()).then(|| Turn::new(role, text).at(at))
}

fn result(message: PiMessage, at: Option<Timestamp>) -> Option<Turn> {
    let tool = Tool {
        id: message.tool_call_id?,
        name: message.tool_name.unwrap_or_default(),
        failed: message.is_error.unwrap_or_default(),
    };
    Some(Turn::new(Role::ToolResult, words(message.content)).at(at).with_tool(tool))
}

fn answers(message: PiMessage, at: Option<Timestamp>) -> Vec<Turn> {
    let (model, usage) = (message.model.filter(|it| it != conversion::UNKNOWN), message.usage);
    let usage = usage.map(tokens).filter(|usage| *usage != model::Usage::default());
    let known = |turn: Turn| Turn { model: model.clone(), usage, ..turn };
    match message.content {
        MessageContent::Text(text) => {
            said(Role::Assistant, text, at).map(known).into_iter().collect()
        }
        MessageContent::Parts(parts) => {
            parts.into_iter().filter_map(|part| answer(part, at)).map(known).collect()
        }
    }
}

fn answer(part: PiPart, at: Option<Timestamp>) -> Option<Turn> {
    match part.kind.as_deref() {
        Some("text") => said(Role::Assistant, part.text?, at),
        Some("toolCall") => {
            let tool = Tool { id: part.id?, name: part.name?, failed: false };
            let arguments = part.arguments.map_or_else(|| "{}".into(), |it| it.get().to_owned());
            Some(Turn::new(Role::ToolCall, arguments).at(at).with_tool(tool))
        }
        _ => None,
    }
}

/// Returns all texts of a message, with a placeholder for each image.
fn words(content: MessageContent<PiPart>) -> String {
    let word = |part: PiPart| match part.kind.as_deref() {
        Some("image") => Some(IMAGE.to_owned()),
        _ => part.text,
    };
    match content {
        MessageContent::Text(text) => text,
        MessageContent::Parts(parts) => {
            parts.into_iter().filter_map(word).collect::<Vec<_>>().join("\n")
        }
    }
}

fn tokens(usage: PiUsage) -> model::Usage {
    let cached = usage.cache_read.saturating_add(usage.cache_write);
    model::Usage { input: usage.input.saturating_add(cached), output: usage.output }
}

#[cfg(test)]
mod tests;
