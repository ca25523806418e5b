//! Reads a conversation as turns, from the database or from a document.

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

/// The error of an interrupted answer. The text before the interruption counts.
const BROKEN_OFF: &str = "MessageAbortedError";

/// Reads the turns of a conversation. The path is that of a document, or stands for a conversation
/// in the database.
pub(super) fn read(
    files: &dyn Files,
    path: &Path,
    direction: ReadDirection,
    each: &mut EachTurn<'_>,
) -> Result<()> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return Ok(()) };
    // If the parent of the path is a file, that file is the database, and the name is a
    // conversation's id.
    match VendorDatabase::open(folder)? {
        Some(database) => of_database(&database, &name.to_string_lossy(), direction, each),
        None => of_document(files, path, direction, each),
    }
}

fn of_database(
    database: &VendorDatabase,
    session: &str,
    direction: ReadDirection,
    each: &mut EachTurn<'_>,
) -> Result<()> {
    let cut = RevertPoint::of(database, session)?;
    let mut messages = MessagePages::new(database, session, direction);
    while let Some(message) = messages.next()? {
        if cut.as_ref().is_some_and(|cut| cut.takes(&message)) {
            continue;
        }
        let mut parts = message.parts(database)?;
        if let Some(cut) = &cut {
            parts.retain(|(id, _)| !cut.takes_part(&message, id));
        }
        let parts = parts.into_iter().map(|(_, part)| part);
        if direction.visit(of_message(&message.data, parts), each).is_break() {
            break;
        }
    }
    Ok(())
}

fn of_document(
    files: &dyn Files,
    path: &Path,
    direction: ReadDirection,
    each: &mut EachTurn<'_>,
) -> Result<()> {
    if matches!(files.facts(path), Ok(None)) {
        return Ok(());
    }
    let failed = |error| reading::unreadable(path, error);
    let read = |span: &(u64, u64)| document::read(files, path, *span).map_err(failed);
    let Document { info, messages: mut spans } = Document::survey(files, path).map_err(failed)?;
    let info = info.as_ref().map_or(Ok(Value::Null), read)?;
    let revert = &info["revert"];
    let mut cut_part = None;
    if let Some(id) = revert["messageID"].as_str() {
        let place = position(&spans, |span| Ok(read(span)?["info"]["id"] == id))?;
        cut_part = revert["partID"].as_str().zip(place);
        spans.truncate(place.map_or(spans.len(), |at| at + usize::from(cut_part.is_some())));
    }
    let order: Box<dyn Iterator<Item = usize>> = match direction {
        ReadDirection::Forward => Box::new(0..spans.len()),
        ReadDirection::Back => Box::new((0..spans.len()).rev()),
    };
    for at in order {
        let DocumentItem { info, mut parts } =
            DocumentItem::read(files, path, spans[at]).map_err(failed)?;
        if let Some((part, _)) = cut_part.filter(|(_, place)| *place == at) {
            parts.retain(|it| it.data["id"].as_str().is_none_or(|id| id < part));
        }
        if direction.visit(of_message(&info, parts), each).is_break() {
            break;
        }
    }
    Ok(())
}

fn position<T>(all: &[T], is_it: impl Fn(&T) -> Result<bool>) -> Result<Option<usize>> {
    for (at, one) in all.iter().enumerate() {
        if is_it(one)? {
            return Ok(Some(at));
        }
    }
    Ok(None)
}

/// Returns the turns of one message, the oldest first.
fn of_message(info: &Value, parts: impl IntoIterator<Item = OpencodePart>) -> Vec<Turn> {
    let at = time(&info["time"]["created"]);
    match info["role"].as_str() {
        Some("user") => words(parts, Role::User, at).into_iter().collect(),
        Some("assistant") if info["summary"] == true => {
            // A summary that failed or is incomplete replaces nothing.
            let is_whole = info["error"].is_null() && !info["finish"].is_null();
            let turn = words(parts, Role::Summary, at).filter(|_| is_whole);
            turn.map(|turn| Turn { model: model(info), ..turn }).into_iter().collect()
        }
        Some("assistant") if info["error"].is_null() || info["error"]["name"] == BROKEN_OFF => {
            answer(info, parts, at)
        }
        _ => Vec::new(),
    }
}

/// Returns the text of a message as one turn. Text that OpenCode has added is left out.
fn words(
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

fn answer(
    info: &Value,
    parts: impl IntoIterator<Item = OpencodePart>,
    at: Option<Timestamp>,
) -> Vec<Turn> {
    let model = model(info);
    let mut turns = Vec::new();
    for OpencodePart { data: mut part, input } in parts {
        if part["type"] == "tool" {
            turns.extend(of_tool(&mut part, input, at));
        } else if let Some(text) = text(&mut part) {
            let at = time(&part["time"]["start"]).or(at);
            turns.push(Turn::new(Role::Assistant, text).at(at));
        }
    }
    for turn in turns.iter_mut().filter(|turn| turn.role != Role::ToolResult) {
        turn.model.clone_from(&model);
    }
    // One message is one request to the model, so only its last turn gets the token usage.
    if let Some(last) = turns.iter_mut().rfind(|turn| turn.role != Role::ToolResult) {
        last.usage = usage(&info["tokens"]);
    }
    turns
}

/// Takes the text out of a part. `None` if the part is not text, is empty, or was added by
/// OpenCode.
fn text(part: &mut Value) -> Option<String> {
    if part["type"] != "text" || part["synthetic"] == true || part["ignored"] == true {
        return None;
    }
    match part["text"].take() {
        Value::String(text) if !text.is_empty() => Some(text),
        _ => None,
    }
}

/// Returns the turn of a tool call and, if the call has ended, the turn of its result.
fn of_tool(part: &mut Value, input: Option<String>, at: Option<Timestamp>) -> Vec<Turn> {
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let tool = Tool { id: word(&part["callID"]), name: word(&part["tool"]), failed: false };
    let state = &mut part["state"];
    let told = |input: &Value| if input.is_null() { "{}".to_owned() } else { input.to_string() };
    let input = input.unwrap_or_else(|| told(&state["input"]));
    let (start, end) = (time(&state["time"]["start"]), time(&state["time"]["end"]));
    let call = Turn::new(Role::ToolCall, input).at(start.or(at)).with_tool(tool.clone());
    let failed = state["status"] == "error";
    let given = match state["status"].as_str() {
        Some("completed") => state["output"].take(),
        // The model receives the output that an interrupted tool had until then.
        Some("error") if state["metadata"]["interrupted"] == true => {
            let output = state["metadata"]["output"].take();
            if output.is_string() { output } else { state["error"].take() }
        }
        Some("error") => state["error"].take(),
        _ => return vec![call],
    };
    let text = if let Value::String(text) = given { text } else { String::new() };
    let result = Turn::new(Role::ToolResult, text).at(end.or(start).or(at));
    vec![call, result.with_tool(Tool { failed, ..tool })]
}

/// Returns the model as a user writes it, `provider/model`.
fn model(info: &Value) -> Option<String> {
    let (provider, model) = (info["providerID"].as_str()?, info["modelID"].as_str()?);
    Some(format!("{provider}/{model}"))
}

fn usage(tokens: &Value) -> Option<Usage> {
    let count = |value: &Value| value.as_u64().unwrap_or_default();
    let cached = [count(&tokens["cache"]["read"]), count(&tokens["cache"]["write"])];
    let output = count(&tokens["output"]).saturating_add(count(&tokens["reasoning"]));
    let usage = reading::usage_with_cache(count(&tokens["input"]), cached, output);
    (usage != Usage::default()).then_some(usage)
}

fn time(milliseconds: &Value) -> Option<Timestamp> {
    Timestamp::from_millisecond(milliseconds.as_i64()?).ok()
}

#[cfg(test)]
mod tests;
