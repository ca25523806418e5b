//! The messages of the protocol, version 1, as far as Segue uses them.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The version of the protocol.
pub(crate) const PROTOCOL_VERSION: u16 = 1;

/// The kinds of errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ErrorCode {
    Parse = -32700,
    InvalidRequest = -32600,
    UnknownMethod = -32601,
    InvalidParams = -32602,
    Internal = -32603,
    NotFound = -32002,
}

/// A message of the editor. A request has an id and a method, a notification only a method, an answer
/// only an id.
#[derive(Debug, Deserialize)]
pub(crate) struct EditorMessage {
    /// `Some(Null)` if the id is `null`.
    #[serde(default, deserialize_with = "present")]
    pub(crate) id: Option<Value>,
    pub(crate) method: Option<String>,
    #[serde(default)]
    pub(crate) params: Value,
    pub(crate) result: Option<Value>,
    pub(crate) error: Option<Value>,
}

fn present<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(from).map(Some)
}

/// The parameters of `session/new`. They have no `Debug`: the servers can hold secrets.
#[derive(Deserialize)]
pub(crate) struct NewParams {
    pub(crate) cwd: PathBuf,
    #[serde(default, rename = "mcpServers")]
    pub(crate) mcp_servers: Value,
}

/// The parameters of requests about one session. They have no `Debug`: the servers can hold secrets.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SessionParams {
    pub(crate) session_id: String,
    #[serde(default)]
    pub(crate) mcp_servers: Value,
}

/// The parameters of `session/set_mode`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ModeParams {
    pub(crate) session_id: String,
    pub(crate) mode_id: String,
}

/// The parameters of `session/set_config_option`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ConfigOptionParams {
    pub(crate) session_id: String,
    pub(crate) config_id: String,
    pub(crate) value: Value,
}

/// The parameters of `session/list`.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct ListParams {
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) cursor: Option<String>,
}

/// The parameters of `session/prompt`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PromptParams {
    pub(crate) session_id: String,
    pub(crate) prompt: Vec<PromptBlock>,
}

/// A part of a prompt.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum PromptBlock {
    Text {
        text: String,
    },
    ResourceLink {
        uri: String,
    },
    Resource {
        resource: PromptResource,
    },
    /// Images, audio, and what later versions add.
    #[serde(other)]
    Unsupported,
}

/// A file that is part of a prompt.
#[derive(Debug, Deserialize)]
pub(crate) struct PromptResource {
    pub(crate) uri: String,
    /// `None` if the file is not text.
    pub(crate) text: Option<String>,
}

/// The parameters of `$/cancel_request`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CancelParams {
    pub(crate) request_id: Value,
}

/// The answer to `session/request_permission`.
#[derive(Debug, Deserialize)]
pub(crate) struct PermissionAnswer {
    pub(crate) outcome: PermissionOutcome,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub(crate) enum PermissionOutcome {
    #[serde(rename_all = "camelCase")]
    Selected {
        option_id: String,
    },
    Cancelled,
}

/// How a prompt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum PromptStopReason {
    EndTurn,
    Cancelled,
}

/// A change of a session that the editor shows.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "sessionUpdate", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub(crate) enum SessionUpdate {
    UserMessageChunk { content: TextBlock, message_id: String },
    AgentMessageChunk { content: TextBlock, message_id: String },
    ToolCall(ToolCallState),
    ToolCallUpdate(ToolCallState),
    Plan { entries: Vec<PlanEntry> },
    SessionInfoUpdate { title: String },
    CurrentModeUpdate { current_mode_id: String },
    ConfigOptionUpdate { config_options: Vec<ConfigOption> },
    AvailableCommandsUpdate { available_commands: Vec<EditorCommand> },
}

/// The modes of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SessionModes {
    pub(crate) current_mode_id: String,
    pub(crate) available_modes: Vec<EditorMode>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct EditorMode {
    pub(crate) id: &'static str,
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
}

/// A setting that the editor shows as a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ConfigOption {
    pub(crate) id: &'static str,
    pub(crate) name: &'static str,
    pub(crate) category: &'static str,
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    pub(crate) current_value: String,
    pub(crate) options: Vec<ConfigValue>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct ConfigValue {
    pub(crate) value: String,
    pub(crate) name: String,
}

/// A command that the editor offers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct EditorCommand {
    pub(crate) name: String,
    pub(crate) description: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) input: Option<CommandHint>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct CommandHint {
    pub(crate) hint: String,
}

/// A text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename = "text")]
pub(crate) struct TextBlock {
    pub(crate) text: String,
}

/// A tool call, or what has changed about it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ToolCallState {
    pub(crate) tool_call_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) kind: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) status: Option<CallStatus>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) content: Vec<CallContent>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) locations: Vec<CallLocation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) raw_input: Option<Value>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum CallStatus {
    Pending,
    InProgress,
    Completed,
    Failed,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub(crate) enum CallContent {
    Content {
        content: TextBlock,
    },
    Diff {
        path: PathBuf,
        #[serde(skip_serializing_if = "Option::is_none")]
        old_text: Option<String>,
        new_text: String,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct CallLocation {
    pub(crate) path: PathBuf,
}

/// A step of the agent's plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct PlanEntry {
    pub(crate) content: String,
    /// Agents do not write priorities, and the protocol needs one.
    pub(crate) priority: &'static str,
    pub(crate) status: &'static str,
}

/// An answer that the editor can give to a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PermissionOption {
    pub(crate) option_id: String,
    pub(crate) name: String,
    pub(crate) kind: &'static str,
}

/// Returns the answer to `initialize`. An editor with another version of the protocol decides itself
/// whether it continues with this one.
pub(crate) fn initialize_result() -> Value {
    json!({
        "protocolVersion": PROTOCOL_VERSION,
        "agentInfo": {"name": "segue", "title": "Segue", "version": env!("CARGO_PKG_VERSION")},
        "authMethods": [],
        "agentCapabilities": {
            "loadSession": true,
            "promptCapabilities": {"image": false, "audio": false, "embeddedContext": true},
            "mcpCapabilities": {"http": false, "sse": false},
            "sessionCapabilities": {"list": {}, "resume": {}, "close": {}},
        },
    })
}
