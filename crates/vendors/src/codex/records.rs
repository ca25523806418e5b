//! The lines of a rollout, with the fields that decisions need. Lines that cannot be parsed are
//! ignored.

use std::path::PathBuf;

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::shared::reading;

/// Beginnings of texts that Codex itself adds, and records as messages of the user.
const ADDED_TEXT_PREFIXES: [&str; 9] = [
    "<environment_context>",
    "<user_instructions>",
    "# AGENTS.md instructions",
    "<turn_aborted>",
    "<skill>",
    "<user_shell_command>",
    "<subagent_notification>",
    "<hook_",
    "<ide_",
];

/// The field with Codex's metadata about a message of the user. Parts whose kind begins with
/// `USER_KIND_PREFIX` come from the user.
pub(super) const METADATA_FIELD: &str = "internal_chat_message_metadata_passthrough";
const USER_KIND_PREFIX: &str = "user.";

/// One line of a rollout.
#[derive(Clone, Debug)]
pub(super) struct RolloutLine {
    pub(super) at: Timestamp,
    pub(super) record: RolloutRecord,
}

/// The content of a line.
#[derive(Clone, Debug)]
pub(super) enum RolloutRecord {
    Meta(RolloutHeader),
    TurnBegan,
    TurnEnded(CodexTurnEnd),
    /// A message of the user. Codex writes this record when it accepts the message.
    UserMessage(String),
    /// A message of the user in the model's history. It may exist without a `UserMessage`.
    HistoryUserMessage(String),
    /// A message of the model.
    ModelMessage(String),
    /// A tool call. Its result is another record.
    ToolCalled(CodexToolCall),
    ToolReturned(CodexToolResult),
    /// A summary that replaces everything before it in the model's history.
    Compacted(String),
    /// The account's usage limits: when the used-up limit ends, or `None` if no limit is used up.
    UsageLimits(Option<Timestamp>),
    Other,
}

/// The beginnings of lines with the exit code of a command.
const EXIT_CODES: [&str; 2] = ["Process exited with code ", "Exit code: "];

/// The beginnings of results of tools that have failed.
const FAILED_PREFIXES: [&str; 2] = ["apply_patch verification failed", "Script failed"];

/// A call of a tool.
#[derive(Clone, Debug)]
pub(super) struct CodexToolCall {
    pub(super) id: String,
    pub(super) name: String,
    /// The arguments as JSON.
    pub(super) arguments: String,
}

/// The result of a tool.
#[derive(Clone, Debug)]
pub(super) struct CodexToolResult {
    pub(super) id: String,
    pub(super) text: String,
    pub(super) failed: bool,
}

/// The header of a rollout.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct RolloutHeader {
    pub(super) id: String,
    pub(super) timestamp: Timestamp,
    pub(super) cwd: PathBuf,
    #[serde(default)]
    source: Value,
    #[serde(default)]
    thread_source: Option<String>,
    #[serde(default)]
    history_mode: Value,
    #[serde(default)]
    history_base: Value,
    #[serde(default)]
    forked_from_id: Value,
    #[serde(default)]
    forked_from_ordinal_exclusive: Value,
}

impl RolloutHeader {
    /// Returns whether this is a conversation with the user. Codex has other conversations for
    /// titles and for its helpers.
    pub(super) fn is_with_user(&self) -> bool {
        let by_user = self.thread_source.as_deref().is_none_or(|source| source == "user");
        by_user && (self.source.is_string() || self.source.is_null())
    }

    /// Returns whether the lines have ordinals.
    pub(super) fn is_numbered(&self) -> bool {
        self.history_mode == "paginated"
    }

    /// Returns the rollout that this one continues, and the ordinal of the first line there that
    /// does not belong to this conversation. Forks and rolled-back conversations have such a base.
    pub(super) fn base(&self) -> Option<(Uuid, u64)> {
        let base = &self.history_base;
        let named = (&base["thread_id"], &base["end_ordinal_exclusive"]);
        let forked = (&self.forked_from_id, &self.forked_from_ordinal_exclusive);
        [named, forked]
            .into_iter()
            .find_map(|(id, end)| Some((Uuid::parse_str(id.as_str()?).ok()?, end.as_u64()?)))
    }
}

/// How a turn ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CodexTurnEnd {
    pub(super) answer: Option<String>,
    /// The error message of Codex.
    pub(super) error: Option<String>,
    /// When the usage limit ends that was used up in this turn.
    pub(super) resets_at: Option<Timestamp>,
    pub(super) aborted: bool,
}

#[derive(Deserialize)]
struct RolloutJson {
    timestamp: Timestamp,
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    payload: Value,
}

impl RolloutLine {
    /// Parses a line. Returns `None` if the line is torn or invalid.
    pub(super) fn read(line: &[u8]) -> Option<Self> {
        let written: RolloutJson = reading::parse_json(line)?;
        let record = match written.kind.as_str() {
            "session_meta" => RolloutHeader::deserialize(written.payload)
                .map_or(RolloutRecord::Other, RolloutRecord::Meta),
            "event_msg" => event(&written.payload),
            "response_item" => history_item(&written.payload),
            "compacted" => non_blank(&written.payload["message"], RolloutRecord::Compacted),
            _ => RolloutRecord::Other,
        };
        Some(Self { at: written.timestamp, record })
    }
}

fn event(payload: &Value) -> RolloutRecord {
    let text = |key: &str| payload[key].as_str().map(str::to_owned);
    match payload["type"].as_str().unwrap_or_default() {
        "task_started" => RolloutRecord::TurnBegan,
        "task_complete" => RolloutRecord::TurnEnded(CodexTurnEnd {
            answer: text("last_agent_message"),
            error: payload["error"]["message"].as_str().map(str::to_owned),
            ..CodexTurnEnd::default()
        }),
        "token_count" => RolloutRecord::UsageLimits(end_of_used_up_limits(&payload["rate_limits"])),
        "turn_aborted" => {
            RolloutRecord::TurnEnded(CodexTurnEnd { aborted: true, ..CodexTurnEnd::default() })
        }
        "user_message" => text("message").map_or(RolloutRecord::Other, RolloutRecord::UserMessage),
        "item_completed" if payload["item"]["type"] == "UserMessage" => {
            RolloutRecord::UserMessage(joined_texts(&payload["item"]["content"]))
        }
        _ => RolloutRecord::Other,
    }
}

/// Returns the end of the used-up limit that ends last. `None` if no limit is used up.
fn end_of_used_up_limits(limits: &Value) -> Option<Timestamp> {
    let windows = ["primary", "secondary"].map(|window| &limits[window]);
    let full = windows.iter().filter(|window| window["used_percent"].as_f64() >= Some(100.0));
    let ends = full.filter_map(|window| Timestamp::from_second(window["resets_at"].as_i64()?).ok());
    ends.max()
}

fn history_item(payload: &Value) -> RolloutRecord {
    match payload["type"].as_str().unwrap_or_default() {
        "message" if payload["role"] == "user" => history_user_message(payload),
        "message" if payload["role"] == "assistant" => {
            non_blank(&Value::from(joined_texts(&payload["content"])), RolloutRecord::ModelMessage)
        }
        "function_call" | "custom_tool_call" | "local_shell_call" => {
            RolloutRecord::ToolCalled(tool_call(payload))
        }
        "function_call_output" | "custom_tool_call_output" => {
            RolloutRecord::ToolReturned(tool_result(payload))
        }
        _ => RolloutRecord::Other,
    }
}

/// Returns the message of the user. The metadata may name the kind of each part. Without it, texts
/// that Codex added are recognized by their beginnings.
fn history_user_message(payload: &Value) -> RolloutRecord {
    let kinds = payload[METADATA_FIELD]["content_item_kinds"].as_array();
    let is_user_part =
        |kind: &Value| kind.as_str().is_some_and(|kind| kind.starts_with(USER_KIND_PREFIX));
    if let Some(kinds) = kinds.filter(|kinds| kinds.iter().any(is_user_part)) {
        let parts = payload["content"].as_array().into_iter().flatten().zip(kinds);
        let own = parts.filter(|(_, kind)| is_user_part(kind));
        return RolloutRecord::HistoryUserMessage(
            own.filter_map(|(part, _)| part["text"].as_str()).collect(),
        );
    }
    let text = joined_texts(&payload["content"]);
    if is_synthetic(&text) { RolloutRecord::Other } else { RolloutRecord::HistoryUserMessage(text) }
}

/// Returns the record of a text that Codex or the model wrote. A blank text is `Other`.
fn non_blank(text: &Value, record: fn(String) -> RolloutRecord) -> RolloutRecord {
    let text = text.as_str().unwrap_or_default();
    if text.trim().is_empty() { RolloutRecord::Other } else { record(text.to_owned()) }
}

fn tool_call(payload: &Value) -> CodexToolCall {
    let text = |key: &str| payload[key].as_str().map(str::to_owned);
    let (name, arguments) = match payload["type"].as_str() {
        Some("local_shell_call") => ("local_shell".to_owned(), payload["action"].to_string()),
        Some("custom_tool_call") => {
            (text("name").unwrap_or_default(), json!({"input": payload["input"]}).to_string())
        }
        _ => (text("name").unwrap_or_default(), text("arguments").unwrap_or_default()),
    };
    let id = text("call_id").or_else(|| text("id")).unwrap_or_default();
    CodexToolCall { id, name, arguments }
}

fn tool_result(payload: &Value) -> CodexToolResult {
    let output = &payload["output"];
    let text = text_of_output(output);
    let success = [payload, output].iter().find_map(|value| value["success"].as_bool());
    let failed = success.map_or_else(|| has_failed(&text), |success| !success);
    let id = payload["call_id"].as_str().unwrap_or_default().to_owned();
    CodexToolResult { id, text, failed }
}

/// Returns the text of a tool's result. The result is a string, a list of parts, or an object with
/// either of them as its `content`.
fn text_of_output(output: &Value) -> String {
    match output {
        Value::String(text) => text.clone(),
        Value::Array(_) => joined_texts(output),
        Value::Object(fields) => match fields.get("content") {
            Some(Value::String(text)) => text.clone(),
            Some(content) => joined_texts(content),
            None => output.to_string(),
        },
        _ => String::new(),
    }
}

/// Returns whether Codex reports a failure at the beginning of a result: the exit code of a command,
/// a patch that does not fit, or a program that has thrown an error.
fn has_failed(text: &str) -> bool {
    if FAILED_PREFIXES.iter().any(|begin| text.starts_with(begin)) {
        return true;
    }
    let head = text.lines().take_while(|line| *line != "Output:").take(8);
    let code = |line| EXIT_CODES.iter().find_map(|begin| str::strip_prefix(line, begin));
    head.filter_map(code).next().is_some_and(|code| code.trim() != "0")
}

fn joined_texts(content: &Value) -> String {
    let parts = content.as_array().into_iter().flatten();
    parts.filter_map(|part| part["text"].as_str()).collect()
}

/// Returns whether a message of the user is empty or looks like a text that Codex added.
pub(super) fn is_synthetic(text: &str) -> bool {
    let text = text.trim_start();
    text.is_empty() || ADDED_TEXT_PREFIXES.iter().any(|begin| text.starts_with(begin))
}
