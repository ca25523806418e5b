//! Converts single messages to turns.

use std::collections::HashSet;

use jiff::Timestamp;
use segue_core::model::{Role, Tool, Turn};
use serde_json::Value;
use serde_json::value::RawValue;

use super::records::{
    self, FunctionResponse, GeminiContent, GeminiKind, GeminiLine, GeminiMessage, GeminiPart,
    GeminiToolCall,
};
use super::typing;
use crate::shared::reading::text_turn;

/// The text that Gemini records as the model's answer to a summary of earlier turns.
const TO_SUMMARY: &str = "Got it. Thanks for the additional context!";

/// The field in which a failed tool reports the reason.
const ERROR: &str = "error";

/// The turns of one message.
pub(super) struct GeminiTurns {
    pub(super) id: String,
    pub(super) turns: Vec<Turn>,
    is_users: bool,
}

/// Converts the messages of a line to turns, the oldest first.
pub(super) fn of(line: &GeminiLine) -> Vec<GeminiTurns> {
    let messages = line.messages();
    let mut said: Vec<GeminiTurns> = messages.iter().filter_map(message).collect();
    forget_copies(messages, &mut said);
    for at in 1..said.len() {
        if let ([.., before], [answer, ..]) = said.split_at_mut(at)
            && is_summed_up(&before.turns, &answer.turns)
        {
            before.turns.iter_mut().for_each(|turn| turn.role = Role::Summary);
            answer.turns.clear();
        }
    }
    said
}

/// Removes tool results from messages of the user if the tool calls have these results, too. In the
/// tool calls, results have timestamps of their own.
fn forget_copies(messages: &[GeminiMessage], said: &mut [GeminiTurns]) {
    let ended = messages.iter().flat_map(GeminiMessage::tool_calls);
    let told: HashSet<&str> =
        ended.filter(|call| call.result.is_some()).map(|call| call.id.as_str()).collect();
    let is_told = |turn: &Turn| turn.tool.as_ref().is_some_and(|it| told.contains(it.id.as_str()));
    for copy in said.iter_mut().filter(|said| said.is_users) {
        copy.turns.retain(|turn| turn.role != Role::ToolResult || !is_told(turn));
    }
}

/// Returns whether these turns are a summary and the model's answer to it.
fn is_summed_up(summary: &[Turn], answer: &[Turn]) -> bool {
    let ([summary], [answer]) = (summary, answer) else { return false };
    let is_answer = answer.role == Role::Assistant && answer.text == TO_SUMMARY;
    is_answer && summary.role == Role::User
}

/// Converts a message. Returns `None` if it has no id, because Gemini ignores such a message.
fn message(message: &GeminiMessage) -> Option<GeminiTurns> {
    let turns = match message.kind {
        GeminiKind::User => of_user(message),
        GeminiKind::Gemini => of_model(message),
        GeminiKind::Error | GeminiKind::Info | GeminiKind::Other => Vec::new(),
    };
    Some(GeminiTurns { id: message.id.clone()?, turns, is_users: message.kind == GeminiKind::User })
}

fn of_user(message: &GeminiMessage) -> Vec<Turn> {
    let (text, parts) = message.content();
    let results = parts.iter().filter_map(|part| part.function_response.as_ref());
    let mut turns: Vec<Turn> =
        results.map(|response| result(response, false).at(message.timestamp)).collect();
    let words = parts.iter().filter_map(words).filter(|text| !records::is_addition(text));
    let text: String = if parts.is_empty() && !records::is_addition(text) {
        text.to_owned()
    } else {
        words.collect()
    };
    let text = typing::without_guard(&text).to_owned();
    turns.extend(text_turn(Role::User, text, message.timestamp));
    turns
}

fn of_model(message: &GeminiMessage) -> Vec<Turn> {
    let (text, parts) = message.content();
    let text: String =
        if parts.is_empty() { text.to_owned() } else { parts.iter().filter_map(words).collect() };
    let mut turns: Vec<Turn> =
        text_turn(Role::Assistant, text, message.timestamp).into_iter().collect();
    let ended = message.tool_calls();
    for open in parts.iter().filter_map(|part| part.function_call.as_ref()) {
        if ended.iter().all(|ended| ended.id != open.id) {
            turns.push(call((&open.id, &open.name), open.args.as_deref()).at(message.timestamp));
        }
    }
    turns.extend(ended.iter().flat_map(|ended| of_tool(ended, message.timestamp)));
    for turn in turns.iter_mut().filter(|turn| turn.role != Role::ToolResult) {
        turn.model.clone_from(&message.model);
    }
    if let Some(first) = turns.first_mut() {
        first.usage = message.usage();
    }
    turns
}

/// Returns the text of a part, or `None` if the part is a thought.
fn words(part: &GeminiPart) -> Option<&str> {
    part.text.as_deref().filter(|_| !part.thought)
}

/// Returns a completed tool call and its result.
fn of_tool(ended: &GeminiToolCall, at: Option<Timestamp>) -> Vec<Turn> {
    let failed = ended.status.as_deref().is_some_and(|status| status != "success");
    let told = match &ended.result {
        Some(GeminiContent::Text(text)) => Some(plain(ended, text)),
        Some(GeminiContent::Parts(parts)) => own(ended, parts),
        None => None,
    };
    let call = call((&ended.id, &ended.name), ended.args.as_deref()).at(at);
    let result = told.map(|told| result(&told, failed).at(ended.timestamp.or(at)));
    [Some(call), result].into_iter().flatten().collect()
}

fn plain(call: &GeminiToolCall, text: &str) -> FunctionResponse {
    FunctionResponse {
        id: call.id.clone(),
        name: call.name.clone(),
        response: Value::String(text.to_owned()),
    }
}

/// Finds the result of a call. Each call of an answer may have the results of all calls of that
/// answer.
fn own(call: &GeminiToolCall, parts: &[GeminiPart]) -> Option<FunctionResponse> {
    let mut responses = parts.iter().filter_map(|part| part.function_response.as_ref());
    let first = responses.clone().next();
    responses.find(|response| response.id == call.id).or(first).cloned()
}

fn call((id, name): (&str, &str), arguments: Option<&RawValue>) -> Turn {
    let tool = Tool { id: id.to_owned(), name: name.to_owned(), failed: false };
    Turn::new(Role::ToolCall, arguments.map_or("{}", RawValue::get)).with_tool(tool)
}

fn result(told: &FunctionResponse, failed: bool) -> Turn {
    let error = told.response.get(ERROR);
    let text = match error.or_else(|| told.response.get("output")).unwrap_or(&told.response) {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    };
    let failed = failed || error.is_some();
    let tool = Tool { id: told.id.clone(), name: told.name.clone(), failed };
    Turn::new(Role::ToolResult, text).with_tool(tool)
}
