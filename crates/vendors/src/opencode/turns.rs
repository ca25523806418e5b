//! Converts a conversation to turns, from the database or from a document.

use std::path::Path;

use jiff::Timestamp;
use segue_core::Result;
use segue_core::model::{Role, Tool, Turn, Usage};
use segue_core::ports::{EachTurn, Files};
use serde_json::Value;

use super::document::{self, Document, DocumentItem};
use super::part::OpencodePart;
use super::rows::{MessagePages, RevertPoint};
use crate::shared::database::VendorDatabase;
use crate::shared::reading::{self, ReadDirection};

/// The name of the error of an interrupted answer. Its text before the interruption is a turn.
const INTERRUPTED_ERROR: &str = "MessageAbortedError";

/// Reads the turns of a conversation. The path is that of a document, or that of the database
/// joined with a conversation id.
pub(super) fn read(
    files: &dyn Files,
    path: &Path,
    direction: ReadDirection,
    each: &mut EachTurn<'_>,
) -> Result<()> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return Ok(()) };
    // If the parent of the path is a file, it is the database.
    match VendorDatabase::open(folder)? {
        Some(database) => read_database(&database, &name.to_string_lossy(), direction, each),
        None => read_document(files, path, direction, each),
    }
}

fn read_database(
    database: &VendorDatabase,
    session: &str,
    direction: ReadDirection,
    each: &mut EachTurn<'_>,
) -> Result<()> {
    let revert = RevertPoint::of(database, session)?;
    let mut messages = MessagePages::new(database, session, direction);
    while let Some(message) = messages.next()? {
        if revert.as_ref().is_some_and(|revert| revert.reverts(&message)) {
            continue;
        }
        let mut parts = message.parts(database)?;
        if let Some(revert) = &revert {
            parts.retain(|(id, _)| !revert.reverts_part(&message, id));
        }
        let parts = parts.into_iter().map(|(_, part)| part);
        if direction.visit(message_turns(&message.data, parts), each).is_break() {
            break;
        }
    }
    Ok(())
}

fn read_document(
    files: &dyn Files,
    path: &Path,
    direction: ReadDirection,
    each: &mut EachTurn<'_>,
) -> Result<()> {
    if matches!(files.facts(path), Ok(None)) {
        return Ok(());
    }
    let failed = |error| reading::unreadable(path, error);
    let read = |range: &(u64, u64)| document::read(files, path, *range).map_err(failed);
    let Document { info, messages: mut ranges } =
        Document::find_ranges(files, path).map_err(failed)?;
    let info = info.as_ref().map_or(Ok(Value::Null), read)?;
    let revert = &info["revert"];
    let mut reverted_part = None;
    if let Some(id) = revert["messageID"].as_str() {
        let reverted = position(&ranges, |range| Ok(read(range)?["info"]["id"] == id))?;
        reverted_part = revert["partID"].as_str().zip(reverted);
        ranges.truncate(
            reverted.map_or(ranges.len(), |index| index + usize::from(reverted_part.is_some())),
        );
    }
    let order: Box<dyn Iterator<Item = usize>> = match direction {
        ReadDirection::Forward => Box::new(0..ranges.len()),
        ReadDirection::Back => Box::new((0..ranges.len()).rev()),
    };
    for index in order {
        let DocumentItem { info, mut parts } =
            DocumentItem::read(files, path, ranges[index]).map_err(failed)?;
        if let Some((first, _)) = reverted_part.filter(|(_, message)| *message == index) {
            parts.retain(|part| part.data["id"].as_str().is_none_or(|id| id < first));
        }
        if direction.visit(message_turns(&info, parts), each).is_break() {
            break;
        }
    }
    Ok(())
}

fn position<T>(all: &[T], matches: impl Fn(&T) -> Result<bool>) -> Result<Option<usize>> {
    for (at, item) in all.iter().enumerate() {
        if matches(item)? {
            return Ok(Some(at));
        }
    }
    Ok(None)
}

/// Returns the turns of one message, in the order of the conversation.
fn message_turns(info: &Value, parts: impl IntoIterator<Item = OpencodePart>) -> Vec<Turn> {
    let at = time(&info["time"]["created"]);
    match info["role"].as_str() {
        Some("user") => text_of_message(parts, Role::User, at).into_iter().collect(),
        Some("assistant") if info["summary"] == true => {
            // OpenCode ignores a failed or incomplete summary.
            let is_complete = info["error"].is_null() && !info["finish"].is_null();
            let turn = text_of_message(parts, Role::Summary, at).filter(|_| is_complete);
            turn.map(|turn| Turn { model: model(info), ..turn }).into_iter().collect()
        }
        Some("assistant")
            if info["error"].is_null() || info["error"]["name"] == INTERRUPTED_ERROR =>
        {
            answer_turns(info, parts, at)
        }
        _ => Vec::new(),
    }
}

/// Returns the text of a message as one turn, without text that OpenCode has added.
fn text_of_message(
    parts: impl IntoIterator<Item = OpencodePart>,
    role: Role,
    at: Option<Timestamp>,
) -> Option<Turn> {
    let mut turn: Option<Turn> = None;
    for OpencodePart { data: mut part, .. } in parts {
        let Some(text) = text(&mut part) else { continue };
        match &mut turn {
            Some(turn) => turn.text = format!("{}\n{text}", turn.text),
            None => turn = Some(Turn::new(role, text).at(time(&part["time"]["start"]).or(at))),
        }
    }
    turn
}

fn answer_turns(
    info: &Value,
    parts: impl IntoIterator<Item = OpencodePart>,
    at: Option<Timestamp>,
) -> Vec<Turn> {
    let model = model(info);
    let mut turns = Vec::new();
    for OpencodePart { data: mut part, input } in parts {
        if part["type"] == "tool" {
            turns.extend(tool_turns(&mut part, input, at));
        } else if let Some(text) = text(&mut part) {
            let at = time(&part["time"]["start"]).or(at);
            turns.push(Turn::new(Role::Assistant, text).at(at));
        }
    }
    for turn in turns.iter_mut().filter(|turn| turn.role != Role::ToolResult) {
        turn.model.clone_from(&model);
    }
    // A message is one request to the model, so only its last turn has the token usage.
    if let Some(last) = turns.iter_mut().rfind(|turn| turn.role != Role::ToolResult) {
        last.usage = usage(&info["tokens"]);
    }
    turns
}

/// Removes the text from a part and returns it. `None` if the part is not a text, is empty, or was
/// added by OpenCode.
fn text(part: &mut Value) -> Option<String> {
    if part["type"] != "text" || part["synthetic"] == true || part["ignored"] == true {
        return None;
    }
    match part["text"].take() {
        Value::String(text) if !text.is_empty() => Some(text),
        _ => None,
    }
}

/// Returns the turn of a tool call, and the turn of its result if the call has ended. Empty if the
/// model is still writing the call: its arguments are missing then.
fn tool_turns(part: &mut Value, input: Option<String>, at: Option<Timestamp>) -> Vec<Turn> {
    if part["state"]["status"] == "pending" {
        return Vec::new();
    }
    let text_of = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let tool = Tool { id: text_of(&part["callID"]), name: text_of(&part["tool"]), failed: false };
    let state = &mut part["state"];
    let as_text = |input: &Value| if input.is_null() { "{}".to_owned() } else { input.to_string() };
    let input = input.unwrap_or_else(|| as_text(&state["input"]));
    let (start, end) = (time(&state["time"]["start"]), time(&state["time"]["end"]));
    let call = Turn::new(Role::ToolCall, input).at(start.or(at)).with_tool(tool.clone());
    let failed = state["status"] == "error";
    let output = match state["status"].as_str() {
        Some("completed") => state["output"].take(),
        // The model gets the output of an interrupted tool before the interruption.
        Some("error") if state["metadata"]["interrupted"] == true => {
            let output = state["metadata"]["output"].take();
            if output.is_string() { output } else { state["error"].take() }
        }
        Some("error") => state["error"].take(),
        _ => return vec![call],
    };
    let text = if let Value::String(text) = output { text } else { String::new() };
    let result = Turn::new(Role::ToolResult, text).at(end.or(start).or(at));
    vec![call, result.with_tool(Tool { failed, ..tool })]
}

/// Returns the name of the model, such as `provider/model`.
fn model(info: &Value) -> Option<String> {
    let (provider, model) = (info["providerID"].as_str()?, info["modelID"].as_str()?);
    Some(format!("{provider}/{model}"))
}

/// Returns the usage of a message. `None` if it is zero.
pub(super) fn usage(tokens: &Value) -> Option<Usage> {
    let count = |value: &Value| value.as_u64().unwrap_or_default();
    let cache = (count(&tokens["cache"]["read"]), count(&tokens["cache"]["write"]));
    let output = count(&tokens["output"]).saturating_add(count(&tokens["reasoning"]));
    let usage = reading::usage_with_cache(count(&tokens["input"]), cache, output);
    (usage != Usage::default()).then_some(usage)
}

fn time(milliseconds: &Value) -> Option<Timestamp> {
    Timestamp::from_millisecond(milliseconds.as_i64()?).ok()
}

#[cfg(test)]
mod tests;
