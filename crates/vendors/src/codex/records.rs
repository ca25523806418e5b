//! The lines of a rollout, as far as decisions need them. Whatever cannot be read is nothing.

use std::path::PathBuf;

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;

/// How texts begin that Codex itself puts in the user's place.
const SYNTHETIC: [&str; 9] = [
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

/// One line.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) at: Timestamp,
    pub(super) record: Record,
}

/// What a line says.
#[derive(Clone, Debug)]
pub(super) enum Record {
    Meta(Meta),
    TurnBegan,
    TurnEnded(TurnEnd),
    /// The user said something: written when Codex took it in.
    Said(String),
    /// The same in the model's own history, which may be there without the other.
    Heard(String),
    /// A tool was called, and has not answered yet.
    Called,
    Answered,
    /// How much of the account's limits is used; when the one ends that is used up.
    Limits(Option<Timestamp>),
    Other,
}

/// The header of a rollout.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Meta {
    pub(super) id: String,
    pub(super) timestamp: Timestamp,
    pub(super) cwd: PathBuf,
    #[serde(default)]
    source: Value,
    #[serde(default)]
    thread_source: Option<String>,
}

impl Meta {
    /// Tells whether a person talks in it: Codex makes others for titles and for its own helpers.
    pub(super) fn is_users(&self) -> bool {
        let by_user = self.thread_source.as_deref().is_none_or(|source| source == "user");
        by_user && (self.source.is_string() || self.source.is_null())
    }
}

/// How a turn ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TurnEnd {
    pub(super) answer: Option<String>,
    /// What went wrong, in Codex's words.
    pub(super) error: Option<String>,
    /// When the limit ends that was used up before it.
    pub(super) resets_at: Option<Timestamp>,
    pub(super) aborted: bool,
}

#[derive(Deserialize)]
struct Written {
    timestamp: Timestamp,
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    payload: Value,
}

impl Line {
    /// Reads a line; one that is torn or garbage is nothing.
    pub(super) fn read(line: &[u8]) -> Option<Self> {
        let written: Written = serde_json::from_str(&String::from_utf8_lossy(line)).ok()?;
        let record = match written.kind.as_str() {
            "session_meta" => {
                Meta::deserialize(written.payload).map_or(Record::Other, Record::Meta)
            }
            "event_msg" => event(&written.payload),
            "response_item" => item(&written.payload),
            _ => Record::Other,
        };
        Some(Self { at: written.timestamp, record })
    }
}

fn event(payload: &Value) -> Record {
    let text = |key: &str| payload[key].as_str().map(str::to_owned);
    match payload["type"].as_str().unwrap_or_default() {
        "task_started" => Record::TurnBegan,
        "task_complete" => Record::TurnEnded(TurnEnd {
            answer: text("last_agent_message"),
            error: payload["error"]["message"].as_str().map(str::to_owned),
            ..TurnEnd::default()
        }),
        "token_count" => Record::Limits(used_up(&payload["rate_limits"])),
        "turn_aborted" => Record::TurnEnded(TurnEnd { aborted: true, ..TurnEnd::default() }),
        "user_message" => text("message").map_or(Record::Other, Record::Said),
        "item_completed" if payload["item"]["type"] == "UserMessage" => {
            Record::Said(texts(&payload["item"]["content"]))
        }
        _ => Record::Other,
    }
}

/// Returns when the last of the limits ends that are used up.
fn used_up(limits: &Value) -> Option<Timestamp> {
    let windows = ["primary", "secondary"].map(|window| &limits[window]);
    let full = windows.iter().filter(|it| it["used_percent"].as_f64() >= Some(100.0));
    let ends = full.filter_map(|it| Timestamp::from_second(it["resets_at"].as_i64()?).ok());
    ends.max()
}

fn item(payload: &Value) -> Record {
    let is_message = payload["type"] == "message" && payload["role"] == "user";
    match payload["type"].as_str().unwrap_or_default() {
        "message" if is_message => {
            let text = texts(&payload["content"]);
            if is_synthetic(&text) { Record::Other } else { Record::Heard(text) }
        }
        "function_call" | "custom_tool_call" | "local_shell_call" => Record::Called,
        "function_call_output" | "custom_tool_call_output" => Record::Answered,
        _ => Record::Other,
    }
}

fn texts(content: &Value) -> String {
    let parts = content.as_array().into_iter().flatten();
    parts.filter_map(|part| part["text"].as_str()).collect()
}

fn is_synthetic(text: &str) -> bool {
    let text = text.trim_start();
    text.is_empty() || SYNTHETIC.iter().any(|begin| text.starts_with(begin))
}
