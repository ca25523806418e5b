//! Parses the content of a message in various formats: text, tool calls and tool results.

use segue_core::model::{Role, Tool, Turn};
use serde_json::Value;

use super::fields::{self, Fields};

const TEXT_FIELDS: [&str; 5] = ["text", "content", "parts", "value", "output"];
const ID_FIELDS: [&str; 8] =
    ["tool_use_id", "tool_call_id", "toolUseId", "toolCallId", "call_id", "callId", "callID", "id"];
const NAME_FIELDS: [&str; 4] = ["name", "tool_name", "toolName", "tool"];
const ARGUMENT_FIELDS: [&str; 4] = ["arguments", "args", "input", "parameters"];
const RESULT_FIELDS: [&str; 6] = ["content", "output", "result", "response", "text", "error"];
const CALL_FIELDS: [&str; 4] = ["functionCall", "function_call", "function", "tool_call"];
const RESPONSE_FIELDS: [&str; 2] = ["functionResponse", "function_response"];

/// Collects the turns of a message from its content.
#[derive(Debug)]
pub(super) struct ContentReader {
    role: Role,
    text: String,
    turns: Vec<Turn>,
}

impl ContentReader {
    pub(super) fn new(role: Role) -> Self {
        Self { role, text: String::new(), turns: Vec::new() }
    }

    /// Adds the content of a message, or a part of it.
    pub(super) fn add(&mut self, value: &Value) {
        match value {
            Value::String(text) => self.add_text(text),
            Value::Array(parts) => parts.iter().for_each(|part| self.add(part)),
            Value::Object(fields) => self.add_part(fields),
            _ => {}
        }
    }

    pub(super) fn finish(mut self) -> Vec<Turn> {
        self.end_text();
        self.turns
    }

    fn add_part(&mut self, fields: &Fields) {
        if is_thought(fields) {
            return;
        }
        if let Some(tool) = parse_call(fields).or_else(|| parse_result(fields)) {
            self.end_text();
            self.turns.push(tool);
        } else if let Some(content) = fields::first(fields, &TEXT_FIELDS) {
            self.add(content);
        }
    }

    fn add_text(&mut self, text: &str) {
        if !self.text.is_empty() && !text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(text);
    }

    fn end_text(&mut self) {
        let text = std::mem::take(&mut self.text);
        if !text.trim().is_empty() {
            self.turns.push(Turn::new(self.role, text));
        }
    }
}

fn is_thought(fields: &Fields) -> bool {
    let kind = fields::kind(fields);
    let has_kind = ["thinking", "reasoning", "thought", "redactedthinking"].contains(&&*kind);
    has_kind || fields::is_true(fields, &["thought"])
}

/// Parses a part as a tool call. `None` if it is not a tool call.
pub(super) fn parse_call(fields: &Fields) -> Option<Turn> {
    let has_kind = ["toolcall", "tooluse", "functioncall"].contains(&&*fields::kind(fields));
    let inner = fields::first(fields, &CALL_FIELDS).and_then(Value::as_object);
    let inner = inner.filter(|inner| fields::text(inner, &NAME_FIELDS).is_some());
    inner.or_else(|| has_kind.then_some(fields)).map(|inner| call_turn((fields, inner)))
}

/// Parses a record that is a tool call, even if it has no type.
pub(super) fn parse_bare_call(fields: &Fields) -> Turn {
    parse_call(fields).unwrap_or_else(|| call_turn((fields, fields)))
}

fn call_turn((fields, inner): (&Fields, &Fields)) -> Turn {
    let arguments = match fields::first(inner, &ARGUMENT_FIELDS) {
        Some(Value::String(text)) => text.clone(),
        Some(arguments) => arguments.to_string(),
        None => "{}".to_owned(),
    };
    Turn::new(Role::ToolCall, arguments).with_tool(tool((fields, inner), false))
}

/// Parses a part as a tool result. `None` if it is not a tool result.
pub(super) fn parse_result(fields: &Fields) -> Option<Turn> {
    let kinds = ["toolresult", "tooloutput", "functionresponse", "functioncalloutput"];
    let has_kind = kinds.contains(&&*fields::kind(fields));
    let inner = fields::first(fields, &RESPONSE_FIELDS).and_then(Value::as_object);
    inner.or_else(|| has_kind.then_some(fields)).map(|inner| result_turn((fields, inner)))
}

/// Converts a record that is a tool result to a turn. `inner` contains the result; it may be
/// `fields` itself.
pub(super) fn result_turn((fields, inner): (&Fields, &Fields)) -> Turn {
    let text = fields::first(inner, &RESULT_FIELDS).map(text_or_json).unwrap_or_default();
    let is_error = fields::is_true(inner, &["is_error", "isError", "failed"]);
    let failed = is_error || inner.get("error").is_some_and(|error| !error.is_null());
    Turn::new(Role::ToolResult, text).with_tool(tool((fields, inner), failed))
}

fn tool((fields, inner): (&Fields, &Fields), failed: bool) -> Tool {
    let find = |names: &[&str]| fields::text(inner, names).or(fields::text(fields, names));
    let find_or_empty = |names: &[&str]| find(names).unwrap_or_default().to_owned();
    Tool { id: find_or_empty(&ID_FIELDS), name: find_or_empty(&NAME_FIELDS), failed }
}

/// Returns the text of a value, or the value as JSON if it contains more than text.
fn text_or_json(value: &Value) -> String {
    let mut content = ContentReader::new(Role::ToolResult);
    content.add(value);
    match (content.finish().as_slice(), value) {
        ([only], _) if only.role == Role::ToolResult && only.tool.is_none() => only.text.clone(),
        (_, Value::String(text)) => text.clone(),
        (_, other) => other.to_string(),
    }
}
