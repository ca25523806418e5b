//! The rows of a conversation: the fields that Segue uses.

use std::path::PathBuf;

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;

use crate::shared::reading::MessageContent;

/// The content of a row.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum OpenclawEvent {
    Session {
        #[serde(default)]
        cwd: PathBuf,
        timestamp: Option<Timestamp>,
    },
    Message {
        message: OpenclawMessage,
        timestamp: Option<Timestamp>,
    },
    /// A summary of earlier messages, or of the messages of another branch.
    #[serde(alias = "branch_summary")]
    Compaction {
        #[serde(default)]
        summary: String,
        timestamp: Option<Timestamp>,
    },
    #[serde(other)]
    Other,
}

/// A message, or the result of a tool call.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OpenclawMessage {
    pub(super) role: String,
    #[serde(default)]
    pub(super) content: MessageContent<OpenclawPart>,
    #[serde(default)]
    stop_reason: Option<String>,
    #[serde(default)]
    pub(super) provider: Option<String>,
    #[serde(default)]
    pub(super) model: Option<String>,
    #[serde(default)]
    pub(super) usage: Option<Tokens>,
    #[serde(default)]
    pub(super) tool_call_id: String,
    #[serde(default)]
    pub(super) tool_name: String,
    #[serde(default)]
    pub(super) is_error: bool,
}

/// A part of a message, such as a text or a tool call.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct OpenclawPart {
    pub(super) r#type: String,
    pub(super) text: Option<String>,
    pub(super) id: String,
    pub(super) name: String,
    pub(super) arguments: Value,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Tokens {
    pub(super) input: u64,
    pub(super) output: u64,
    pub(super) cache_read: u64,
    pub(super) cache_write: u64,
}

impl OpenclawMessage {
    pub(super) fn text(&self) -> String {
        self.content.join("", |part| part.text.as_deref())
    }

    /// Returns whether this message ends a turn.
    pub(super) fn is_end(&self) -> bool {
        self.role == "assistant" && self.stop_reason.as_deref() != Some("toolUse")
    }

    pub(super) fn is_answer(&self) -> bool {
        self.is_end() && !self.is_failed()
    }

    /// Returns whether the answer failed or was interrupted. OpenClaw does not send such answers to
    /// the model.
    pub(super) fn is_failed(&self) -> bool {
        matches!(self.stop_reason.as_deref(), Some("error" | "aborted"))
    }
}

/// The position of a row in the conversation's tree.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Link {
    #[serde(default)]
    pub(super) r#type: String,
    pub(super) id: Option<String>,
    pub(super) parent_id: Option<String>,
}
