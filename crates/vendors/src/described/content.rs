//! The content of a message, in any of many formats: text, tool calls and tool results.

use segue_core::model::{Role, Tool, Turn};
use serde_json::Value;

use super::words::{self, Fields};

const WORDS: [&str; 5] = ["text", "content", "parts", "value", "output"];
const IDS: [&str; 8] =
    ["tool_use_id", "tool_call_id", "toolUseId", "toolCallId", "call_id", "callId", "callID", "id"];
const NAMES: [&str; 4] = ["name", "tool_name", "toolName", "tool"];
const ARGUMENTS: [&str; 4] = ["arguments", "args", "input", "parameters"];
const RESULTS: [&str; 6] = ["content", "output", "result", "response", "text", "error"];
const CALLS: [&str; 4] = ["functionCall", "function_call", "function", "tool_call"];
const RESPONSES: [&str; 2] = ["functionResponse", "function_response"];

/// Collects the turns of a message from its content.
#[derive(Debug)]
pub(super) struct ContentReader {
    role: Role,
    words: String,
    turns: Vec<Turn>,
}

impl ContentReader {
    pub(super) fn new(role: Role) -> Self {
        Self { role, words: String::new(), turns: Vec::new() }
    }

    /// Takes the content of a message, or a part of it.
    pub(super) fn take(&mut self, value: &Value) {
        match value {
            Value::String(text) => self.say(text),
            Value::Array(parts) => parts.iter().for_each(|part| self.take(part)),
            Value::Object(fields) => self.take_part(fields),
            _ => {}
        }
    }

    pub(super) fn finish(mut self) -> Vec<Turn> {
        self.end_words();
        self.turns
    }

    fn take_part(&mut self, fields: &Fields) {
        if is_thought(fields) {
            return;
        }
        if let Some(tool) = call(fields).or_else(|| result(fields)) {
            self.end_words();
            self.turns.push(tool);
        } else if let Some(inside) = words::first(fields, &WORDS) {
            self.take(inside);
        }
    }

    fn say(&mut self, text: &str) {
        if !self.words.is_empty() && !text.is_empty() {
            self.words.push('\n');
        }
        self.words.push_str(text);
    }

    fn end_words(&mut self) {
        let words = std::mem::take(&mut self.words);
        if !words.trim().is_empty() {
            self.turns.push(Turn::new(self.role, words));
        }
    }
}

fn is_thought(fields: &Fields) -> bool {
    let kind = words::kind(fields);
    let is_named = ["thinking", "reasoning", "thought", "redactedthinking"].contains(&&*kind);
    is_named || words::is_so(fields, &["thought"])
}

/// Reads a tool call. `None` if the part is not a tool call.
pub(super) fn call(fields: &Fields) -> Option<Turn> {
    let is_named = ["toolcall", "tooluse", "functioncall"].contains(&&*words::kind(fields));
    let inner = words::first(fields, &CALLS).and_then(Value::as_object);
    let inner = inner.filter(|inner| words::text_of(inner, &NAMES).is_some());
    inner.or_else(|| is_named.then_some(fields)).map(|inner| made((fields, inner)))
}

/// Reads a tool call from a record that is known to be one.
pub(super) fn any_call(fields: &Fields) -> Turn {
    call(fields).unwrap_or_else(|| made((fields, fields)))
}

fn made((fields, inner): (&Fields, &Fields)) -> Turn {
    let arguments = match words::first(inner, &ARGUMENTS) {
        Some(Value::String(text)) => text.clone(),
        Some(arguments) => arguments.to_string(),
        None => "{}".to_owned(),
    };
    Turn::new(Role::ToolCall, arguments).with_tool(tool((fields, inner), false))
}

/// Reads a tool result. `None` if the part is not a tool result.
pub(super) fn result(fields: &Fields) -> Option<Turn> {
    let kinds = ["toolresult", "tooloutput", "functionresponse", "functioncalloutput"];
    let is_named = kinds.contains(&&*words::kind(fields));
    let inner = words::first(fields, &RESPONSES).and_then(Value::as_object);
    inner.or_else(|| is_named.then_some(fields)).map(|inner| told((fields, inner)))
}

/// Reads a tool result from a record that is known to be one.
pub(super) fn told((fields, inner): (&Fields, &Fields)) -> Turn {
    let text = words::first(inner, &RESULTS).map(flat).unwrap_or_default();
    let is_error = words::is_so(inner, &["is_error", "isError", "failed"]);
    let failed = is_error || inner.get("error").is_some_and(|error| !error.is_null());
    Turn::new(Role::ToolResult, text).with_tool(tool((fields, inner), failed))
}

fn tool((fields, inner): (&Fields, &Fields), failed: bool) -> Tool {
    let named = |names: &[&str]| words::text_of(inner, names).or(words::text_of(fields, names));
    let own = |names: &[&str]| named(names).unwrap_or_default().to_owned();
    Tool { id: own(&IDS), name: own(&NAMES), failed }
}

/// Returns the text in a value. If it is not only text, returns the value as JSON.
fn flat(value: &Value) -> String {
    let mut content = ContentReader::new(Role::ToolResult);
    content.take(value);
    match (content.finish().as_slice(), value) {
        ([only], _) if only.role == Role::ToolResult && only.tool.is_none() => only.text.clone(),
        (_, Value::String(text)) => text.clone(),
        (_, other) => other.to_string(),
    }
}
