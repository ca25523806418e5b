//! Gemini's `generateContent` API: parses requests, and writes answers and failures.

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Value, json};
use uuid::Uuid;

use super::answer::{AnswerFormat, ApiFailure, FailureFormat, data, seconds_until};
use super::log::{Api, ExchangePart, SpeakerRole};
use super::request::ParsedRequest;
use super::tool::{ScriptedToolCall, ShellTool};

/// Beginnings of texts that Gemini CLI itself writes in the user's role.
const VENDOR_TEXTS: [&str; 5] = [
    "<session_context>",
    "<hook_context>",
    "<state_snapshot>",
    "This is the Gemini CLI.",
    "System: ",
];

/// The beginning of the summary of a compression.
const SUMMARY: &str = "<state_snapshot>";

/// Parses a request.
pub(crate) fn read(body: Value) -> ParsedRequest {
    let tools = body["tools"].as_array().into_iter().flatten();
    let declared: Vec<&Value> =
        tools.filter_map(|it| it["functionDeclarations"].as_array()).flatten().collect();
    let named = declared.iter().filter_map(|it| {
        let schema = it.get("parametersJsonSchema").unwrap_or(&it["parameters"]);
        Some((it["name"].as_str()?, schema))
    });
    let format = &body["generationConfig"];
    let schema = format.get("responseJsonSchema").or_else(|| format.get("responseSchema"));
    ParsedRequest {
        api: Api::Gemini,
        session: None,
        turns: turns(&body),
        shell: ShellTool::among(named),
        has_tools: !declared.is_empty(),
        tools: body["tools"].clone(),
        is_background: declared.is_empty(),
        schema: schema.cloned(),
        body: Arc::new(body),
    }
}

fn turns(body: &Value) -> Vec<ExchangePart> {
    let all = body["contents"].as_array().into_iter().flatten().flat_map(|content| {
        let parts = content["parts"].as_array().into_iter().flatten();
        parts.filter_map(|it| part(content["role"].as_str().unwrap_or("user"), it))
    });
    all.collect()
}

fn part(role: &str, part: &Value) -> Option<ExchangePart> {
    if let Some(call) = part.get("functionCall") {
        let name = call["name"].as_str().unwrap_or_default();
        return Some(ExchangePart::new(SpeakerRole::ToolCall, format!("{name} {}", call["args"])));
    }
    if let Some(answer) = part.get("functionResponse") {
        return Some(ExchangePart::new(SpeakerRole::ToolResult, result(&answer["response"])));
    }
    let text = part["text"].as_str().filter(|it| !it.is_empty() && part["thought"] != true)?;
    match role {
        "model" => Some(ExchangePart::new(SpeakerRole::Assistant, text)),
        _ if text.trim_start().starts_with(SUMMARY) => {
            Some(ExchangePart::new(SpeakerRole::Summary, text))
        }
        _ if VENDOR_TEXTS.iter().any(|begin| text.trim_start().starts_with(begin)) => None,
        _ => Some(ExchangePart::new(SpeakerRole::User, text)),
    }
}

fn result(response: &Value) -> String {
    let known = ["output", "error"].into_iter().find_map(|key| response[key].as_str());
    known.map_or_else(|| response.to_string(), str::to_owned)
}

/// Writes an answer.
#[derive(Debug)]
pub(crate) struct GeminiAnswer {
    is_streamed: bool,
    id: String,
    model: String,
    parts: Vec<Value>,
}

impl GeminiAnswer {
    pub(crate) fn new(model: &str, is_streamed: bool) -> Self {
        let id = Uuid::new_v4().simple().to_string();
        Self { is_streamed, id, model: model.to_owned(), parts: Vec::new() }
    }

    fn response(&self, parts: &[Value], finish_reason: Option<&str>) -> Value {
        let mut candidate = json!({"index": 0, "content": {"role": "model", "parts": parts}});
        if let Some(finish_reason) = finish_reason {
            candidate["finishReason"] = json!(finish_reason);
        }
        let usage =
            json!({"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15});
        json!({
            "candidates": [candidate], "usageMetadata": usage,
            "modelVersion": self.model, "responseId": self.id,
        })
    }

    fn add(&mut self, part: Value) -> String {
        let piece = if self.is_streamed {
            data(&self.response(std::slice::from_ref(&part), None))
        } else {
            String::new()
        };
        self.parts.push(part);
        piece
    }
}

impl AnswerFormat for GeminiAnswer {
    fn begin(&mut self) -> String {
        String::new()
    }

    fn text(&mut self, piece: &str) -> String {
        self.add(json!({"text": piece}))
    }

    fn call(&mut self, call: &ScriptedToolCall) -> String {
        self.add(json!({"functionCall": {"name": call.name, "args": call.arguments}}))
    }

    fn end(&mut self) -> String {
        if !self.is_streamed {
            return self.response(&self.parts, Some("STOP")).to_string();
        }
        data(&self.response(&[json!({"text": ""})], Some("STOP")))
    }

    fn is_streamed(&self) -> bool {
        self.is_streamed
    }
}

impl FailureFormat for GeminiAnswer {
    fn failure(status: u16) -> ApiFailure {
        let (name, message) = match status {
            401 => ("UNAUTHENTICATED", "API key not valid. Please pass a valid API key."),
            403 => ("PERMISSION_DENIED", "The caller does not have permission"),
            404 => ("NOT_FOUND", "models/scripted is not found for API version v1beta"),
            429 => ("RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota)."),
            503 => ("UNAVAILABLE", "The model is overloaded. Please try again later."),
            500.. => ("INTERNAL", "An internal error has occurred. Please retry."),
            _ => ("INVALID_ARGUMENT", "refused by the script"),
        };
        let error = json!({"code": status, "message": message, "status": name});
        ApiFailure { status, headers: Vec::new(), body: json!({"error": error}) }
    }

    fn limit(until: Timestamp) -> ApiFailure {
        let left = seconds_until(until);
        let violation = json!({
            "quotaMetric": "generativelanguage.googleapis.com/generate_content_requests",
            "quotaId": "GenerateRequestsPerDayPerProjectPerModel",
        });
        let kind = |name: &str| format!("type.googleapis.com/google.rpc.{name}");
        let details = json!([
            {"@type": kind("QuotaFailure"), "violations": [violation]},
            {"@type": kind("RetryInfo"), "retryDelay": format!("{left}s")},
        ]);
        let mut failure = Self::failure(429);
        let message = format!("You exceeded your current quota. Please retry in {left}s.");
        failure.body["error"]["message"] = json!(message);
        failure.body["error"]["details"] = details;
        failure
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_messages_of_a_person_have_the_user_role() {
        let body = json!({"contents": [
            {"role": "user", "parts": [{"text": "<session_context>\nx</session_context>"}]},
            {"role": "user", "parts": [{"text": "one"}, {"text": "more"}]},
            {"role": "model", "parts": [{"text": "t", "thought": true}, {"functionCall": {"name": "run_shell_command", "args": {"command": "ls"}}}]},
            {"role": "user", "parts": [{"functionResponse": {"response": {"output": "r"}}}]},
            {"role": "model", "parts": [{"text": "two"}]},
        ]});
        let request = read(body);
        let expected = [
            (SpeakerRole::User, "one"),
            (SpeakerRole::User, "more"),
            (SpeakerRole::ToolCall, "run_shell_command {\"command\":\"ls\"}"),
            (SpeakerRole::ToolResult, "r"),
            (SpeakerRole::Assistant, "two"),
        ];
        assert_eq!(request.turns, expected.map(|(role, text)| ExchangePart::new(role, text)));
        assert!(request.is_background);
    }
}
