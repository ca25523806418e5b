//! Converts messages to turns.

use std::collections::HashSet;

use jiff::Timestamp;
use segue_core::model::{Role, Tool, Turn};
use serde_json::Value;
use serde_json::value::RawValue;

use super::messages::{
    self, FunctionResponse, GeminiContent, GeminiKind, GeminiMessage, GeminiPart, GeminiToolCall,
};
use super::records::GeminiLine;
use super::typing;
use crate::shared::reading::text_turn;

/// The text that Gemini records as the model's answer to a summary of earlier turns.
const SUMMARY_ANSWER: &str = "Got it. Thanks for the additional context!";

/// The field of a response that contains the error of a failed tool.
const ERROR_FIELD: &str = "error";

/// The turns of one message.
pub(super) struct GeminiTurns {
    pub(super) id: String,
    pub(super) turns: Vec<Turn>,
    is_from_user: bool,
}

/// Converts the messages of a line to turns, the oldest first.
pub(super) fn of(line: &GeminiLine) -> Vec<GeminiTurns> {
    let messages = line.messages();
    let mut converted: Vec<GeminiTurns> = messages.iter().filter_map(message_turns).collect();
    remove_copied_results(messages, &mut converted);
    for index in 1..converted.len() {
        if let ([.., before], [answer, ..]) = converted.split_at_mut(index)
            && is_summary(&before.turns, &answer.turns)
        {
            before.turns.iter_mut().for_each(|turn| turn.role = Role::Summary);
            answer.turns.clear();
        }
    }
    converted
}

/// Removes tool results from messages of the user if the tool calls also contain these results. The
/// results in the tool calls have timestamps.
fn remove_copied_results(messages: &[GeminiMessage], converted: &mut [GeminiTurns]) {
    let completed = messages.iter().flat_map(GeminiMessage::tool_calls);
    let with_result: HashSet<&str> =
        completed.filter(|call| call.result.is_some()).map(|call| call.id.as_str()).collect();
    let has_result_elsewhere =
        |turn: &Turn| turn.tool.as_ref().is_some_and(|tool| with_result.contains(tool.id.as_str()));
    for copy in converted.iter_mut().filter(|converted| converted.is_from_user) {
        copy.turns.retain(|turn| turn.role != Role::ToolResult || !has_result_elsewhere(turn));
    }
}

/// Returns whether these turns are a summary and the model's answer to the summary.
fn is_summary(summary: &[Turn], answer: &[Turn]) -> bool {
    let ([summary], [answer]) = (summary, answer) else { return false };
    let is_answer = answer.role == Role::Assistant && answer.text == SUMMARY_ANSWER;
    is_answer && summary.role == Role::User
}

/// Converts a message to turns. `None` if the message has no id: Gemini ignores such messages.
fn message_turns(message: &GeminiMessage) -> Option<GeminiTurns> {
    let turns = match message.kind {
        GeminiKind::User => user_turns(message),
        GeminiKind::Gemini => model_turns(message),
        GeminiKind::Error | GeminiKind::Info | GeminiKind::Other => Vec::new(),
    };
    Some(GeminiTurns {
        id: message.id.clone()?,
        turns,
        is_from_user: message.kind == GeminiKind::User,
    })
}

fn user_turns(message: &GeminiMessage) -> Vec<Turn> {
    let (text, parts) = message.content();
    let results = parts.iter().filter_map(|part| part.function_response.as_ref());
    let mut turns: Vec<Turn> =
        results.map(|response| result_turn(response, false).at(message.timestamp)).collect();
    let visible_text =
        parts.iter().filter_map(visible_text).filter(|text| !messages::is_addition(text));
    let text: String = if parts.is_empty() && !messages::is_addition(text) {
        text.to_owned()
    } else {
        visible_text.collect()
    };
    let text = typing::unescaped(&text).to_owned();
    turns.extend(text_turn(Role::User, text, message.timestamp));
    turns
}

fn model_turns(message: &GeminiMessage) -> Vec<Turn> {
    let (text, parts) = message.content();
    let text: String = if parts.is_empty() {
        text.to_owned()
    } else {
        parts.iter().filter_map(visible_text).collect()
    };
    let mut turns: Vec<Turn> =
        text_turn(Role::Assistant, text, message.timestamp).into_iter().collect();
    let completed = message.tool_calls();
    for pending in parts.iter().filter_map(|part| part.function_call.as_ref()) {
        if completed.iter().all(|completed| completed.id != pending.id) {
            turns.push(
                call_turn((&pending.id, &pending.name), pending.args.as_deref())
                    .at(message.timestamp),
            );
        }
    }
    turns.extend(completed.iter().flat_map(|completed| tool_turns(completed, message.timestamp)));
    for turn in turns.iter_mut().filter(|turn| turn.role != Role::ToolResult) {
        turn.model.clone_from(&message.model);
    }
    if let Some(first) = turns.first_mut() {
        first.usage = message.usage();
    }
    turns
}

/// Returns the text of a part. `None` if the part is a thought or has no text.
fn visible_text(part: &GeminiPart) -> Option<&str> {
    part.text.as_deref().filter(|_| !part.thought)
}

/// Converts a completed tool call to a call and its result.
fn tool_turns(completed: &GeminiToolCall, at: Option<Timestamp>) -> Vec<Turn> {
    let failed = completed.status.as_deref().is_some_and(|status| status != "success");
    let response = match &completed.result {
        Some(GeminiContent::Text(text)) => Some(text_response(completed, text)),
        Some(GeminiContent::Parts(parts)) => own_response(completed, parts),
        None => None,
    };
    let call = call_turn((&completed.id, &completed.name), completed.args.as_deref()).at(at);
    let result =
        response.map(|response| result_turn(&response, failed).at(completed.timestamp.or(at)));
    [Some(call), result].into_iter().flatten().collect()
}

fn text_response(call: &GeminiToolCall, text: &str) -> FunctionResponse {
    FunctionResponse {
        id: call.id.clone(),
        name: call.name.clone(),
        response: Value::String(text.to_owned()),
    }
}

/// Finds the response to a tool call. Each tool call of an answer may contain the responses to all
/// tool calls of that answer.
fn own_response(call: &GeminiToolCall, parts: &[GeminiPart]) -> Option<FunctionResponse> {
    let mut responses = parts.iter().filter_map(|part| part.function_response.as_ref());
    let first = responses.clone().next();
    responses.find(|response| response.id == call.id).or(first).cloned()
}

fn call_turn((id, name): (&str, &str), arguments: Option<&RawValue>) -> Turn {
    let tool = Tool { id: id.to_owned(), name: name.to_owned(), failed: false };
    Turn::new(Role::ToolCall, arguments.map_or("{}", RawValue::get)).with_tool(tool)
}

fn result_turn(response: &FunctionResponse, failed: bool) -> Turn {
    let error = response.response.get(ERROR_FIELD);
    let text = match error.or_else(|| response.response.get("output")).unwrap_or(&response.response)
    {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    };
    let failed = failed || error.is_some();
    let tool = Tool { id: response.id.clone(), name: response.name.clone(), failed };
    Turn::new(Role::ToolResult, text).with_tool(tool)
}
