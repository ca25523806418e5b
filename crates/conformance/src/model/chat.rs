//! The `OpenAI` Chat Completions API: parses requests, and writes answers and failures.

use std::sync::Arc;

use axum::http::HeaderMap;
use jiff::Timestamp;
use serde_json::{Value, json};
use uuid::Uuid;

use super::answer::{AnswerFormat, ApiFailure, FailureFormat, data, seconds_until};
use super::log::{Api, ExchangePart, SpeakerRole};
use super::request::ParsedRequest;
use super::responses::Responses;
use super::tool::{ScriptedToolCall, ShellTool};

/// Headers in which vendors send the id of a conversation.
const SESSION_HEADERS: [&str; 2] = ["x-session-id", "x-session-affinity"];

/// XML elements that vendors put before or after a person's message.
const VENDOR_ELEMENTS: [&str; 3] = ["current_datetime", "system_reminder", "system-reminder"];

/// Beginnings of texts that vendors themselves write in the user's role.
const VENDOR_TEXTS: [&str; 1] = ["Generate a title for this conversation:"];

/// Beginnings of the summary of a compaction.
const SUMMARIES: [&str; 1] = ["The conversation history before this point was compacted"];

/// Parses a request.
pub(crate) fn read(headers: &HeaderMap, body: Value) -> ParsedRequest {
    let tools: Vec<&Value> = body["tools"].as_array().into_iter().flatten().collect();
    let functions = tools.iter().map(|it| &it["function"]);
    let named = functions.filter_map(|it| Some((it["name"].as_str()?, &it["parameters"])));
    let header = |name: &&str| headers.get(*name).and_then(|it| it.to_str().ok());
    ParsedRequest {
        api: Api::Chat,
        session: SESSION_HEADERS.iter().find_map(header).map(str::to_owned),
        turns: body["messages"].as_array().into_iter().flatten().flat_map(parts).collect(),
        shell: ShellTool::among(named),
        has_tools: !tools.is_empty(),
        tools: body["tools"].clone(),
        is_background: tools.is_empty(),
        schema: body["response_format"]["json_schema"].get("schema").cloned(),
        body: Arc::new(body),
    }
}

fn parts(message: &Value) -> Vec<ExchangePart> {
    match message["role"].as_str().unwrap_or_default() {
        "user" => texts(message).filter_map(user_message).collect(),
        "assistant" => {
            let texts = texts(message).filter(|it| !it.is_empty());
            let calls = message["tool_calls"].as_array().into_iter().flatten();
            texts
                .map(|it| ExchangePart::new(SpeakerRole::Assistant, it))
                .chain(calls.map(call))
                .collect()
        }
        "tool" => {
            vec![ExchangePart::new(SpeakerRole::ToolResult, texts(message).collect::<String>())]
        }
        _ => Vec::new(),
    }
}

fn texts(message: &Value) -> impl Iterator<Item = &str> {
    let parts = message["content"].as_array().into_iter().flatten();
    message["content"].as_str().into_iter().chain(parts.filter_map(|part| part["text"].as_str()))
}

fn call(call: &Value) -> ExchangePart {
    let text = |key: &str| call["function"][key].as_str().unwrap_or_default();
    ExchangePart::new(SpeakerRole::ToolCall, format!("{} {}", text("name"), text("arguments")))
}

/// Returns the user's message in a text. `None` if it contains none.
fn user_message(text: &str) -> Option<ExchangePart> {
    let begins = |begin: &&str| text.trim_start().starts_with(*begin);
    if SUMMARIES.iter().any(begins) {
        return Some(ExchangePart::new(SpeakerRole::Summary, text));
    }
    if VENDOR_TEXTS.iter().any(begins) {
        return None;
    }
    let outside = VENDOR_ELEMENTS.iter().fold(text.to_owned(), |text, name| without(&text, name));
    // A text without such elements keeps the whitespace around it.
    let message = if outside.len() == text.len() { outside.as_str() } else { outside.trim() };
    (!message.trim().is_empty()).then(|| ExchangePart::new(SpeakerRole::User, message))
}

/// Removes all elements of this name from a text.
fn without(text: &str, name: &str) -> String {
    let (begin, end) = (format!("<{name}>"), format!("</{name}>"));
    let (mut outside, mut rest) = (String::new(), text);
    while let Some((before, (_, after))) =
        rest.split_once(&begin).and_then(|(before, it)| Some((before, it.split_once(&end)?)))
    {
        outside.push_str(before);
        rest = after;
    }
    outside + rest
}

/// Writes an answer.
#[derive(Debug)]
pub(crate) struct Completion {
    is_streamed: bool,
    id: String,
    model: Value,
    text: String,
    calls: Vec<Value>,
}

impl Completion {
    pub(crate) fn new(request: &ParsedRequest) -> Self {
        Self {
            is_streamed: request.wants_stream(),
            id: format!("chatcmpl-{}", Uuid::new_v4().simple()),
            model: request.body["model"].clone(),
            text: String::new(),
            calls: Vec::new(),
        }
    }

    fn finish_reason(&self) -> &'static str {
        if self.calls.is_empty() { "stop" } else { "tool_calls" }
    }

    fn envelope(&self, object: &str, choices: &[Value]) -> Value {
        json!({
            "id": self.id, "object": object, "created": Timestamp::now().as_second(),
            "model": self.model, "choices": choices,
        })
    }

    fn chunk(&self, delta: &Value, finish_reason: Option<&str>) -> String {
        if !self.is_streamed {
            return String::new();
        }
        let choice = json!({"index": 0, "delta": delta, "finish_reason": finish_reason});
        data(&self.envelope("chat.completion.chunk", &[choice]))
    }

    fn whole(&self) -> Value {
        let mut message = json!({"role": "assistant", "content": self.text});
        if !self.calls.is_empty() {
            message["tool_calls"] = json!(self.calls);
        }
        let choice = json!({"index": 0, "message": message, "finish_reason": self.finish_reason()});
        let mut whole = self.envelope("chat.completion", &[choice]);
        whole["usage"] = usage();
        whole
    }
}

fn usage() -> Value {
    json!({"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15})
}

impl AnswerFormat for Completion {
    fn begin(&mut self) -> String {
        self.chunk(&json!({"role": "assistant", "content": ""}), None)
    }

    fn text(&mut self, piece: &str) -> String {
        self.text.push_str(piece);
        self.chunk(&json!({"content": piece}), None)
    }

    fn call(&mut self, call: &ScriptedToolCall) -> String {
        let id = format!("call_{}", Uuid::new_v4().simple());
        let function = json!({"name": call.name, "arguments": call.arguments.to_string()});
        let mut call = json!({"id": id, "type": "function", "function": function});
        let index = self.calls.len();
        self.calls.push(call.clone());
        call["index"] = json!(index);
        self.chunk(&json!({"tool_calls": [call]}), None)
    }

    fn end(&mut self) -> String {
        if !self.is_streamed {
            return self.whole().to_string();
        }
        let mut last = self.envelope("chat.completion.chunk", &[]);
        last["usage"] = usage();
        self.chunk(&json!({}), Some(self.finish_reason())) + &data(&last) + "data: [DONE]\n\n"
    }

    fn is_streamed(&self) -> bool {
        self.is_streamed
    }
}

impl FailureFormat for Completion {
    fn failure(status: u16) -> ApiFailure {
        let mut failure = Responses::failure(status);
        if status == 429 {
            // Without this header, vendors increase the pause before each retry, to more than a
            // minute in total.
            failure.headers.push(("retry-after", "1".to_owned()));
        }
        failure
    }

    fn limit(until: Timestamp) -> ApiFailure {
        let left = seconds_until(until);
        let error = json!({
            "message": "You exceeded your current quota, please check your plan and billing details.",
            "type": "insufficient_quota", "param": null, "code": "insufficient_quota",
        });
        let headers = vec![
            ("retry-after", left.to_string()),
            ("x-ratelimit-remaining-requests", "0".to_owned()),
            ("x-ratelimit-reset-requests", format!("{left}s")),
        ];
        ApiFailure { status: 429, headers, body: json!({"error": error}) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_messages_of_a_person_have_the_user_role() {
        let function = json!({"name": "bash", "arguments": "{}"});
        let body = json!({"messages": [
            {"role": "system", "content": "rules"},
            {"role": "user", "content": "<current_datetime>now</current_datetime>\n\none\n\n<system_reminder>\nx</system_reminder>"},
            {"role": "assistant", "content": null, "tool_calls": [{"id": "c", "type": "function", "function": function}]},
            {"role": "tool", "tool_call_id": "c", "content": "r"},
            {"role": "assistant", "content": "two"},
            {"role": "user", "content": [{"type": "text", "text": " three <b>\n"}]},
        ]});
        let request = read(&HeaderMap::new(), body);
        let expected = [
            (SpeakerRole::User, "one"),
            (SpeakerRole::ToolCall, "bash {}"),
            (SpeakerRole::ToolResult, "r"),
            (SpeakerRole::Assistant, "two"),
            (SpeakerRole::User, " three <b>\n"),
        ];
        assert_eq!(request.turns, expected.map(|(role, text)| ExchangePart::new(role, text)));
        assert!(request.is_background);
    }
}
