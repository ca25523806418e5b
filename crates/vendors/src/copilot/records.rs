//! The lines of a transcript, as far as Segue uses them.

use std::path::PathBuf;

use jiff::Timestamp;
use segue_core::model::{Failure, WaitingFor};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::failures::CopilotError;

/// One line of a transcript.
#[derive(Clone, Debug)]
pub(super) struct CopilotRecord {
    pub(super) at: Option<Timestamp>,
    pub(super) event: CopilotEvent,
}

/// The event that a line records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CopilotEvent {
    /// A process began the conversation, in this working folder.
    Began(Option<PathBuf>),
    /// A process resumed the conversation.
    Resumed,
    /// The user sent this message.
    UserMessage(String),
    /// A request to the model begins. One turn of the user can have several requests.
    RequestBegan,
    /// The model's message, with its tool calls.
    ModelMessage(CopilotMessage),
    /// The result of a tool call.
    ToolReturned(CopilotToolResult),
    /// The summary that replaced everything before it in the model's context.
    Compacted(String),
    /// The model's context was cleared: everything before this event is forgotten.
    Cleared,
    /// A request to the model ended, with or without success.
    RequestEnded,
    /// The turn was interrupted.
    Aborted,
    /// The turn failed.
    Failed(Failure),
    /// Copilot waits for the user's answer to the request with this id.
    InputRequested(String, WaitingFor),
    /// The request with this id was answered or withdrawn.
    InputCompleted(String),
    Other,
}

/// A message of the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CopilotMessage {
    pub(super) text: String,
    pub(super) model: Option<String>,
    pub(super) calls: Vec<CopilotToolCall>,
}

/// A tool call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CopilotToolCall {
    pub(super) id: String,
    pub(super) name: String,
    /// The arguments as JSON.
    pub(super) arguments: String,
}

/// The result of a tool call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CopilotToolResult {
    pub(super) id: String,
    pub(super) text: String,
    pub(super) failed: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CopilotLine<'a> {
    #[serde(rename = "type")]
    kind: String,
    timestamp: Option<Timestamp>,
    /// Set if the line comes from a subagent.
    agent_id: Option<String>,
    #[serde(borrow)]
    data: Option<&'a RawValue>,
}

impl CopilotRecord {
    /// Parses a line. `None` if it is truncated or not valid JSON.
    pub(super) fn read(line: &[u8]) -> Option<Self> {
        let line = String::from_utf8_lossy(line);
        let line: CopilotLine<'_> = serde_json::from_str(&line).ok()?;
        let at = line.timestamp;
        let event = if line.agent_id.is_some() { CopilotEvent::Other } else { event(&line) };
        Some(Self { at, event })
    }
}

fn event(line: &CopilotLine<'_>) -> CopilotEvent {
    let json = line.data.map_or("null", RawValue::get);
    let data: &Value = &serde_json::from_str(json).unwrap_or_default();
    // A subagent wrote the line. It runs within a tool call.
    if !data["parentToolCallId"].is_null() {
        return CopilotEvent::Other;
    }
    match line.kind.as_str() {
        "session.start" => CopilotEvent::Began(data["context"]["cwd"].as_str().map(PathBuf::from)),
        "session.resume" => CopilotEvent::Resumed,
        "user.message" => user_message(data),
        "assistant.turn_start" => CopilotEvent::RequestBegan,
        "assistant.turn_end" => CopilotEvent::RequestEnded,
        "assistant.message" => CopilotEvent::ModelMessage(message(data, json)),
        // If the user started the tool, its result is not part of the model's context.
        "tool.execution_complete" if data["isUserRequested"] != true => {
            CopilotEvent::ToolReturned(tool_result(data))
        }
        "session.compaction_complete" if data["success"] == true => {
            CopilotEvent::Compacted(text(data, "summaryContent"))
        }
        "session.context_cleared" => CopilotEvent::Cleared,
        "abort" => CopilotEvent::Aborted,
        "session.error" => {
            let error: CopilotError = serde_json::from_str(json).unwrap_or_default();
            CopilotEvent::Failed(error.failure())
        }
        "permission.requested" => {
            CopilotEvent::InputRequested(text(data, "requestId"), WaitingFor::Permission)
        }
        "user_input.requested" | "elicitation.requested" | "exit_plan_mode.requested" => {
            CopilotEvent::InputRequested(text(data, "requestId"), WaitingFor::Question)
        }
        "permission.completed"
        | "user_input.completed"
        | "elicitation.completed"
        | "exit_plan_mode.completed" => CopilotEvent::InputCompleted(text(data, "requestId")),
        _ => CopilotEvent::Other,
    }
}

/// Returns the message if the user sent it. A message from a skill or another agent has another
/// `source` than `user`. A message from Copilot's own loop is marked as a continuation.
fn user_message(data: &Value) -> CopilotEvent {
    let is_from_user = data["source"].as_str().is_none_or(|source| source == "user");
    if is_from_user && data["isAutopilotContinuation"] != true {
        CopilotEvent::UserMessage(text(data, "content"))
    } else {
        CopilotEvent::Other
    }
}

fn message(data: &Value, json: &str) -> CopilotMessage {
    let arguments: CallArguments<'_> = serde_json::from_str(json).unwrap_or_default();
    let mut arguments = arguments.tool_requests.into_iter().map(|request| request.arguments);
    let calls = data["toolRequests"].as_array().into_iter().flatten();
    let calls = calls.map(|data| tool_call(data, arguments.next().flatten())).collect();
    let model = data["model"].as_str().map(str::to_owned);
    CopilotMessage { text: text(data, "content"), model, calls }
}

/// The arguments of tool calls, unchanged as they are in the line.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct CallArguments<'a> {
    #[serde(borrow)]
    tool_requests: Vec<CallRequest<'a>>,
}

#[derive(Deserialize)]
struct CallRequest<'a> {
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

fn tool_call(data: &Value, json: Option<&RawValue>) -> CopilotToolCall {
    let arguments = match &data["arguments"] {
        // Some tools take a string instead of an object.
        Value::String(input) => json!({"input": input}).to_string(),
        Value::Null => "{}".to_owned(),
        arguments => json.map_or_else(|| arguments.to_string(), |json| json.get().to_owned()),
    };
    CopilotToolCall { id: text(data, "toolCallId"), name: text(data, "name"), arguments }
}

fn tool_result(data: &Value) -> CopilotToolResult {
    let succeeded = data["success"] == true;
    let exit = data["shellExecution"]["exitCode"].as_i64().unwrap_or_default();
    let text_of = |text: &Value| text.as_str().map(str::to_owned);
    let user_message = text_of(&data["result"]["content"]).filter(|_| succeeded);
    let error = || text_of(&data["error"]["message"]).or(text_of(&data["result"]["content"]));
    CopilotToolResult {
        id: text(data, "toolCallId"),
        text: user_message.or_else(error).unwrap_or_default(),
        failed: !succeeded || exit != 0,
    }
}

fn text(data: &Value, key: &str) -> String {
    data[key].as_str().unwrap_or_default().to_owned()
}
