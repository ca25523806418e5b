//! The Anthropic Messages API: parses requests, and writes answers and failures.

use std::sync::Arc;

use axum::http::HeaderMap;
use jiff::Timestamp;
use serde_json::{Value, json};
use uuid::Uuid;

use super::answer::{AnswerFormat, ApiFailure, FailureFormat, event, seconds_until};
use super::log::{Api, ExchangePart, SpeakerRole};
use super::request::ParsedRequest;
use super::tool::{ScriptedToolCall, ShellTool};

/// Claude Code puts this text before a message that arrived in the middle of a turn.
const QUEUED: &str = "The user sent a new message while you were working:";

/// Beginnings of the text that Claude Code puts after such a message, by version.
const AFTER_QUEUED: [&str; 2] = ["\n\nIMPORTANT:", "\n\nThis is how Claude Code surfaces"];

/// Beginnings of texts that Claude Code itself writes in the user's role.
const VENDOR_TEXTS: [&str; 10] = [
    "<local-command-",
    "<command-name>",
    "<command-message>",
    "<task-notification>",
    "[Request interrupted by user",
    "Stop hook feedback:",
    "Continue from where you left off.",
    "[SUGGESTION MODE:",
    "CRITICAL: Respond with TEXT ONLY.",
    "Tool loaded.",
];

/// Beginnings of the newest message in requests that no message of a person has caused.
const BACKGROUND: [&str; 3] = [
    "[SUGGESTION MODE:",
    "CRITICAL: Respond with TEXT ONLY.",
    "Your task is to create a detailed summary of the conversation so far",
];

/// Texts that Claude Code itself writes in the assistant's role.
const SYNTHETIC: [&str; 2] = ["No response requested.", "(no content)"];

/// The beginning of the summary of a compaction.
const SUMMARY: &str = "This session is being continued from a previous conversation";

/// Parses a request.
pub(crate) fn read(headers: &HeaderMap, body: Value) -> ParsedRequest {
    let tools: Vec<&Value> = body["tools"].as_array().into_iter().flatten().collect();
    let named = tools.iter().filter_map(|it| Some((it["name"].as_str()?, &it["input_schema"])));
    let session = headers.get("x-claude-code-session-id").and_then(|it| it.to_str().ok());
    ParsedRequest {
        api: Api::Anthropic,
        session: session.map(str::to_owned),
        turns: turns(&body),
        shell: ShellTool::among(named),
        has_tools: !tools.is_empty(),
        tools: body["tools"].clone(),
        is_background: tools.is_empty() || is_background(&body),
        schema: body["output_config"]["format"].get("schema").cloned(),
        body: Arc::new(body),
    }
}

fn messages(body: &Value) -> impl DoubleEndedIterator<Item = &Value> {
    body["messages"].as_array().into_iter().flatten()
}

/// Returns the blocks of a message. A plain text is one block.
fn blocks(message: &Value) -> Vec<Value> {
    match &message["content"] {
        Value::String(text) => vec![json!({"type": "text", "text": text})],
        Value::Array(blocks) => blocks.clone(),
        _ => Vec::new(),
    }
}

fn is_background(body: &Value) -> bool {
    let newest = messages(body).rfind(|message| message["role"] == "user");
    let texts = newest.map(blocks).unwrap_or_default();
    let begins = |text: &str| BACKGROUND.iter().any(|begin| text.trim_start().starts_with(begin));
    texts.iter().any(|block| block["text"].as_str().is_some_and(begins))
}

fn turns(body: &Value) -> Vec<ExchangePart> {
    let all = messages(body).flat_map(|message| {
        let role = message["role"].as_str().unwrap_or_default().to_owned();
        blocks(message).into_iter().flat_map(move |block| parts(&role, &block))
    });
    all.collect()
}

fn parts(role: &str, block: &Value) -> Vec<ExchangePart> {
    let text = block["text"].as_str().unwrap_or_default();
    match (role, block["type"].as_str().unwrap_or_default()) {
        ("user", "text") => user_messages(text),
        ("system", "text") => queued(text).into_iter().collect(),
        ("assistant", "text") if !SYNTHETIC.contains(&text.trim()) => {
            vec![ExchangePart::new(SpeakerRole::Assistant, text)]
        }
        ("assistant", "tool_use") => {
            let call = format!("{} {}", block["name"].as_str().unwrap_or_default(), block["input"]);
            vec![ExchangePart::new(SpeakerRole::ToolCall, call)]
        }
        ("user", "tool_result") => {
            vec![ExchangePart::new(SpeakerRole::ToolResult, result(&block["content"]))]
        }
        _ => Vec::new(),
    }
}

fn result(content: &Value) -> String {
    let Some(blocks) = content.as_array() else {
        return content.as_str().unwrap_or_default().to_owned();
    };
    blocks.iter().filter_map(|block| block["text"].as_str()).collect()
}

/// Returns the user's messages in a text. Leaves out the vendor's reminders, but not the messages
/// inside them.
fn user_messages(text: &str) -> Vec<ExchangePart> {
    let (mut outside, mut found, mut rest) = (String::new(), Vec::new(), text);
    while let Some((before, after)) = rest.split_once("<system-reminder>") {
        outside.push_str(before);
        let (reminder, behind) = after.split_once("</system-reminder>").unwrap_or((after, ""));
        found.extend(queued(reminder));
        rest = behind;
    }
    outside.push_str(rest);
    // If two messages of the user follow each other, Claude Code ends the first one with a newline.
    let whole = outside.strip_suffix('\n').unwrap_or(&outside);
    let message = if outside.len() == text.len() { whole } else { outside.trim() };
    let begins_with = |begin: &str| message.trim_start().starts_with(begin);
    if begins_with(QUEUED) {
        found.extend(queued(message));
    } else if begins_with(SUMMARY) {
        found.insert(0, ExchangePart::new(SpeakerRole::Summary, message));
    } else if !message.trim().is_empty() && !VENDOR_TEXTS.into_iter().any(begins_with) {
        found.insert(0, ExchangePart::new(SpeakerRole::User, message));
    }
    found
}

/// Returns the message that a reminder contains. `None` if it contains none.
fn queued(reminder: &str) -> Option<ExchangePart> {
    let (_, after) = reminder.split_once(QUEUED)?;
    let end = AFTER_QUEUED.iter().filter_map(|begin| after.find(begin)).min();
    let text = &after[..end.unwrap_or(after.len())];
    Some(ExchangePart::new(SpeakerRole::User, text.trim()))
}

/// Writes an answer.
#[derive(Debug)]
pub(crate) struct AnthropicAnswer {
    is_streamed: bool,
    id: String,
    model: Value,
    /// The complete blocks.
    blocks: Vec<Value>,
    /// The text of the block that is being written.
    open: Option<String>,
    has_tool_call: bool,
}

impl AnthropicAnswer {
    pub(crate) fn new(request: &ParsedRequest) -> Self {
        Self {
            is_streamed: request.wants_stream(),
            id: format!("msg_{}", Uuid::new_v4().simple()),
            model: request.body["model"].clone(),
            blocks: Vec::new(),
            open: None,
            has_tool_call: false,
        }
    }

    fn write(&self, events: &[Value]) -> String {
        if self.is_streamed { events.iter().map(event).collect() } else { String::new() }
    }

    fn close(&mut self) -> String {
        let Some(text) = self.open.take() else { return String::new() };
        let stop = json!({"type": "content_block_stop", "index": self.blocks.len()});
        self.blocks.push(json!({"type": "text", "text": text}));
        self.write(&[stop])
    }

    fn stop_reason(&self) -> &'static str {
        if self.has_tool_call { "tool_use" } else { "end_turn" }
    }

    fn message(&self, stop_reason: Option<&str>) -> Value {
        json!({
            "id": self.id, "type": "message", "role": "assistant", "model": self.model,
            "content": self.blocks, "stop_reason": stop_reason, "stop_sequence": null,
            "usage": {"input_tokens": 10, "output_tokens": 5},
        })
    }
}

impl AnswerFormat for AnthropicAnswer {
    fn begin(&mut self) -> String {
        self.write(&[json!({"type": "message_start", "message": self.message(None)})])
    }

    fn text(&mut self, piece: &str) -> String {
        let index = self.blocks.len();
        let mut events = Vec::new();
        if self.open.is_none() {
            let block = json!({"type": "text", "text": ""});
            events.push(
                json!({"type": "content_block_start", "index": index, "content_block": block}),
            );
        }
        self.open.get_or_insert_default().push_str(piece);
        let delta = json!({"type": "text_delta", "text": piece});
        events.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        self.write(&events)
    }

    fn call(&mut self, call: &ScriptedToolCall) -> String {
        let closed = self.close();
        self.has_tool_call = true;
        let index = self.blocks.len();
        let id = format!("toolu_{}", Uuid::new_v4().simple());
        let block =
            |input: Value| json!({"type": "tool_use", "id": id, "name": call.name, "input": input});
        let delta = json!({"type": "input_json_delta", "partial_json": call.arguments.to_string()});
        let empty = block(json!({}));
        let events = [
            json!({"type": "content_block_start", "index": index, "content_block": empty}),
            json!({"type": "content_block_delta", "index": index, "delta": delta}),
            json!({"type": "content_block_stop", "index": index}),
        ];
        self.blocks.push(block(call.arguments.clone()));
        closed + &self.write(&events)
    }

    fn end(&mut self) -> String {
        let closed = self.close();
        if !self.is_streamed {
            return self.message(Some(self.stop_reason())).to_string();
        }
        let delta = json!({"stop_reason": self.stop_reason(), "stop_sequence": null});
        let usage = json!({"output_tokens": 5});
        let events = [
            json!({"type": "message_delta", "delta": delta, "usage": usage}),
            json!({"type": "message_stop"}),
        ];
        closed + &self.write(&events)
    }

    fn is_streamed(&self) -> bool {
        self.is_streamed
    }
}

impl FailureFormat for AnthropicAnswer {
    fn failure(status: u16) -> ApiFailure {
        let (kind, message) = match status {
            401 => ("authentication_error", "invalid x-api-key"),
            403 => ("permission_error", "Your API key does not have permission to use this model."),
            404 => ("not_found_error", "model: scripted"),
            413 => ("request_too_large", "Request exceeds the maximum size"),
            429 => ("rate_limit_error", "This request would exceed your account's rate limit."),
            529 => ("overloaded_error", "Overloaded"),
            500.. => ("api_error", "Internal server error"),
            _ => ("invalid_request_error", "messages: refused by the script"),
        };
        let id = format!("req_{}", Uuid::new_v4().simple());
        let error = json!({"type": kind, "message": message});
        let body = json!({"type": "error", "error": error, "request_id": id});
        ApiFailure { status, headers: vec![("request-id", id)], body }
    }

    fn limit(until: Timestamp) -> ApiFailure {
        let mut failure = Self::failure(429);
        failure.headers.extend([
            ("retry-after", seconds_until(until).to_string()),
            ("anthropic-ratelimit-requests-remaining", "0".to_owned()),
            ("anthropic-ratelimit-requests-reset", until.to_string()),
            ("anthropic-ratelimit-unified-status", "rejected".to_owned()),
            ("anthropic-ratelimit-unified-representative-claim", "five_hour".to_owned()),
            ("anthropic-ratelimit-unified-reset", until.as_second().to_string()),
            ("anthropic-ratelimit-unified-5h-status", "rejected".to_owned()),
            ("anthropic-ratelimit-unified-5h-reset", until.as_second().to_string()),
        ]);
        failure
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user_texts(text: &str) -> Vec<String> {
        user_messages(text).into_iter().map(|part| part.text).collect()
    }

    #[test]
    fn only_messages_of_a_person_have_the_user_role() {
        assert_eq!(user_texts(" a <b>\n\tc\n"), [" a <b>\n\tc"]);
        assert_eq!(user_texts("<system-reminder>\nx\n</system-reminder>\n\n"), [""; 0]);
        assert_eq!(user_texts("hello\n<system-reminder>x</system-reminder>"), ["hello"]);
        assert_eq!(user_texts("<command-name>/clear</command-name>"), [""; 0]);
        let queued =
            format!("<system-reminder>\n{QUEUED}\nstop it\n\nIMPORTANT: x</system-reminder>");
        assert_eq!(user_texts(&queued), ["stop it"]);
        let newer = format!("{QUEUED}\nstop it\n\nThis is how Claude Code surfaces messages");
        assert_eq!(user_texts(&newer), ["stop it"]);
    }

    #[test]
    fn tool_calls_and_results_have_their_own_roles() {
        let body = json!({"messages": [
            {"role": "user", "content": "q"},
            {"role": "assistant", "content": [{"type": "tool_use", "name": "Bash", "input": {"command": "ls"}}]},
            {"role": "user", "content": [{"type": "tool_result", "content": [{"type": "text", "text": "r"}]}]},
            {"role": "assistant", "content": [{"type": "text", "text": "No response requested."}]},
        ]});
        let found = turns(&body);
        let expected = [
            (SpeakerRole::User, "q"),
            (SpeakerRole::ToolCall, "Bash {\"command\":\"ls\"}"),
            (SpeakerRole::ToolResult, "r"),
        ];
        assert_eq!(found, expected.map(|(role, text)| ExchangePart::new(role, text)));
    }
}
