//! The `OpenAI` Responses API: parses requests, and writes answers and failures.

use std::sync::Arc;

use axum::http::HeaderMap;
use jiff::Timestamp;
use serde_json::{Value, json};
use uuid::Uuid;

use super::answer::{AnswerFormat, ApiFailure, FailureFormat, event, seconds_until};
use super::log::{Api, ExchangePart, SpeakerRole};
use super::request::ParsedRequest;
use super::tool::{ScriptedToolCall, ShellTool};

/// Beginnings of texts that Codex itself writes in the user's role.
const VENDOR_TEXTS: [&str; 9] = [
    COMPACTION,
    "<environment_context>",
    "<user_instructions>",
    "# AGENTS.md instructions",
    "<turn_aborted>",
    "<skill>",
    "<user_shell_command>",
    "<subagent_notification>",
    "<hook_",
];

/// The beginning of the newest text if Codex requests a compaction.
const COMPACTION: &str = "You are performing a CONTEXT CHECKPOINT COMPACTION";

/// The beginning of the summary of a compaction.
const SUMMARY: &str = "Another language model started to solve this problem";

/// Parses a request.
pub(crate) fn read(headers: &HeaderMap, body: Value) -> ParsedRequest {
    let tools = tools(&body);
    let named = tools.iter().filter_map(|it| Some((it["name"].as_str()?, &it["parameters"])));
    let header = |name: &str| headers.get(name).and_then(|it| it.to_str().ok());
    let session = header("thread-id").or_else(|| header("session-id")).map(str::to_owned);
    let items = || body["input"].as_array().into_iter().flatten();
    let is_compaction =
        items().next_back().is_some_and(|it| texts(it).any(|it| it.starts_with(COMPACTION)));
    ParsedRequest {
        api: Api::Responses,
        session,
        is_background: tools.is_empty() || is_compaction,
        turns: items().flat_map(parts).collect(),
        shell: ShellTool::among(named),
        has_tools: !tools.is_empty(),
        tools: tools.into_iter().cloned().collect(),
        schema: body["text"]["format"].get("schema").cloned(),
        body: Arc::new(body),
    }
}

/// Returns the tools of a request. Codex sends those of newer models in an item of the
/// conversation.
fn tools(body: &Value) -> Vec<&Value> {
    let items = body["input"].as_array().into_iter().flatten();
    let added = items.filter(|item| item["type"] == "additional_tools");
    let lists = [body].into_iter().chain(added).filter_map(|it| it["tools"].as_array());
    lists.flatten().collect()
}

fn parts(item: &Value) -> Vec<ExchangePart> {
    let text = |key: &str| item[key].as_str().unwrap_or_default();
    match (text("type"), text("role")) {
        ("message" | "", "user") => {
            texts(item).filter(|it| !is_vendor_text(it)).map(user_message).collect()
        }
        ("message" | "", "assistant") => {
            texts(item).map(|text| ExchangePart::new(SpeakerRole::Assistant, text)).collect()
        }
        ("function_call", _) => {
            let call = format!("{} {}", text("name"), text("arguments"));
            vec![ExchangePart::new(SpeakerRole::ToolCall, call)]
        }
        ("custom_tool_call", _) => {
            let call = format!("{} {}", text("name"), text("input"));
            vec![ExchangePart::new(SpeakerRole::ToolCall, call)]
        }
        ("function_call_output" | "custom_tool_call_output", _) => {
            vec![ExchangePart::new(SpeakerRole::ToolResult, output(&item["output"]))]
        }
        _ => Vec::new(),
    }
}

fn texts(item: &Value) -> impl Iterator<Item = &str> {
    let parts = item["content"].as_array().into_iter().flatten();
    item["content"].as_str().into_iter().chain(parts.filter_map(|part| part["text"].as_str()))
}

fn output(output: &Value) -> String {
    let Some(parts) = output.as_array() else {
        return output.as_str().unwrap_or_default().to_owned();
    };
    parts.iter().filter_map(|part| part["text"].as_str()).collect()
}

fn is_vendor_text(text: &str) -> bool {
    VENDOR_TEXTS.iter().any(|begin| text.trim_start().starts_with(begin))
}

fn user_message(text: &str) -> ExchangePart {
    let role = if text.starts_with(SUMMARY) { SpeakerRole::Summary } else { SpeakerRole::User };
    ExchangePart::new(role, text)
}

/// Writes an answer.
#[derive(Debug)]
pub(crate) struct Responses {
    is_streamed: bool,
    id: String,
    model: Value,
    /// The complete items.
    items: Vec<Value>,
    /// The id and the text of the message that is being written.
    open: Option<(String, String)>,
}

impl Responses {
    pub(crate) fn new(request: &ParsedRequest) -> Self {
        Self {
            is_streamed: request.wants_stream(),
            id: format!("resp_{}", Uuid::new_v4().simple()),
            model: request.body["model"].clone(),
            items: Vec::new(),
            open: None,
        }
    }

    fn write(&self, events: &[Value]) -> String {
        if self.is_streamed { events.iter().map(event).collect() } else { String::new() }
    }

    fn close(&mut self) -> String {
        let Some((id, text)) = self.open.take() else { return String::new() };
        let part = json!({"type": "output_text", "text": text, "annotations": []});
        self.add(message(&id, "completed", &[part]))
    }

    /// Adds a complete item.
    fn add(&mut self, item: Value) -> String {
        let index = self.items.len();
        let done =
            json!({"type": "response.output_item.done", "output_index": index, "item": item});
        self.items.push(item);
        self.write(&[done])
    }

    fn response(&self, status: &str) -> Value {
        json!({
            "id": self.id, "object": "response", "status": status, "model": self.model,
            "output": self.items, "error": null, "incomplete_details": null,
            "usage": {
                "input_tokens": 10, "input_tokens_details": {"cached_tokens": 0},
                "output_tokens": 5, "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": 15,
            },
        })
    }
}

fn message(id: &str, status: &str, content: &[Value]) -> Value {
    json!({"type": "message", "id": id, "status": status, "role": "assistant", "content": content})
}

impl AnswerFormat for Responses {
    fn begin(&mut self) -> String {
        self.write(&[json!({"type": "response.created", "response": self.response("in_progress")})])
    }

    fn text(&mut self, piece: &str) -> String {
        let index = self.items.len();
        let mut events = Vec::new();
        if self.open.is_none() {
            let id = format!("msg_{}", Uuid::new_v4().simple());
            let item = message(&id, "in_progress", &[]);
            events.push(
                json!({"type": "response.output_item.added", "output_index": index, "item": item}),
            );
            self.open = Some((id, String::new()));
        }
        if let Some((id, text)) = &mut self.open {
            text.push_str(piece);
            events.push(json!({
                "type": "response.output_text.delta", "item_id": id, "output_index": index,
                "content_index": 0, "delta": piece,
            }));
        }
        self.write(&events)
    }

    fn call(&mut self, call: &ScriptedToolCall) -> String {
        let closed = self.close();
        let id = Uuid::new_v4().simple();
        let mut item = json!({
            "type": "function_call", "id": format!("fc_{id}"), "call_id": format!("call_{id}"),
            "name": call.name, "arguments": call.arguments.to_string(), "status": "completed",
        });
        if call.takes_text {
            item["type"] = json!("custom_tool_call");
            item["id"] = json!(format!("ctc_{id}"));
            item["input"] = call.arguments.clone();
            item.as_object_mut().expect("an object").remove("arguments");
        }
        if let Some(namespace) = &call.namespace {
            item["namespace"] = json!(namespace);
        }
        closed + &self.add(item)
    }

    fn end(&mut self) -> String {
        let closed = self.close();
        let response = self.response("completed");
        if !self.is_streamed {
            return response.to_string();
        }
        closed + &self.write(&[json!({"type": "response.completed", "response": response})])
    }

    fn is_streamed(&self) -> bool {
        self.is_streamed
    }
}

impl FailureFormat for Responses {
    fn failure(status: u16) -> ApiFailure {
        let (kind, code, message) = match status {
            401 => {
                ("invalid_request_error", json!("invalid_api_key"), "Incorrect API key provided.")
            }
            403 => (
                "invalid_request_error",
                json!("unsupported_country_region_territory"),
                "Country, region, or territory not supported",
            ),
            404 => (
                "invalid_request_error",
                json!("model_not_found"),
                "The model does not exist or you do not have access to it.",
            ),
            429 => (
                "requests",
                json!("rate_limit_exceeded"),
                "Rate limit reached for requests per min (RPM).",
            ),
            500.. => (
                "server_error",
                Value::Null,
                "The server had an error while processing your request. Sorry about that!",
            ),
            _ => ("invalid_request_error", Value::Null, "refused by the script"),
        };
        let error = json!({"message": message, "type": kind, "param": null, "code": code});
        let id = format!("req_{}", Uuid::new_v4().simple());
        ApiFailure { status, headers: vec![("x-request-id", id)], body: json!({"error": error}) }
    }

    fn limit(until: Timestamp) -> ApiFailure {
        let error = json!({
            "type": "usage_limit_reached", "message": "The usage limit has been reached",
            "plan_type": "plus", "resets_at": until.as_second(),
            "resets_in_seconds": seconds_until(until),
        });
        let headers = vec![
            ("x-codex-primary-used-percent", "100".to_owned()),
            ("x-codex-primary-window-minutes", "300".to_owned()),
            ("x-codex-primary-reset-at", until.as_second().to_string()),
        ];
        ApiFailure { status: 429, headers, body: json!({"error": error}) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_of_the_conversation_and_their_calls_are_read() {
        let group = json!({"type": "namespace", "name": "functions", "tools": [{"name": "exec"}]});
        let body = json!({"input": [
            {"type": "additional_tools", "role": "developer", "tools": [group]},
            {"type": "custom_tool_call", "name": "exec", "input": "text(1)"},
            {"type": "custom_tool_call_output", "output": "1"},
        ]});
        let request = read(&HeaderMap::new(), body);
        assert!(request.has_tools && !request.is_background);
        assert_eq!(request.tools, json!([group]));
        let expected = [(SpeakerRole::ToolCall, "exec text(1)"), (SpeakerRole::ToolResult, "1")];
        assert_eq!(request.turns, expected.map(|(role, text)| ExchangePart::new(role, text)));
    }

    #[test]
    fn only_messages_of_a_person_have_the_user_role() {
        let message = |role: &str, text: &str| json!({"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]});
        let body = json!({"tools": [], "input": [
            message("developer", "<permissions instructions>"),
            message("user", "<environment_context>\n</environment_context>"),
            message("user", "one"),
            {"type": "function_call", "name": "exec_command", "arguments": "{}"},
            {"type": "function_call_output", "output": "r"},
            message("assistant", "two"),
        ]});
        let request = read(&HeaderMap::new(), body);
        let expected = [
            (SpeakerRole::User, "one"),
            (SpeakerRole::ToolCall, "exec_command {}"),
            (SpeakerRole::ToolResult, "r"),
            (SpeakerRole::Assistant, "two"),
        ];
        assert_eq!(request.turns, expected.map(|(role, text)| ExchangePart::new(role, text)));
        assert!(request.is_background);
    }
}
