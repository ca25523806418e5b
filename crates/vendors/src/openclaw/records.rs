//! The rows of a conversation. Whatever cannot be read is nothing.

use std::path::PathBuf;

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;

/// What a row says.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Event {
    Session {
        #[serde(default)]
        cwd: PathBuf,
        timestamp: Option<Timestamp>,
    },
    Message {
        message: Message,
        timestamp: Option<Timestamp>,
    },
    /// What stands for what was said before, or on another branch.
    #[serde(alias = "branch_summary")]
    Compaction {
        #[serde(default)]
        summary: String,
        timestamp: Option<Timestamp>,
    },
    #[serde(other)]
    Other,
}

/// What somebody said, or a tool gave.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Message {
    pub(super) role: String,
    #[serde(default)]
    pub(super) content: Content,
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

#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Content {
    Text(String),
    Parts(Vec<Part>),
}

impl Default for Content {
    fn default() -> Self {
        Self::Parts(Vec::new())
    }
}

/// Words, or a call of a tool; what was thought is neither.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Part {
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

impl Message {
    pub(super) fn text(&self) -> String {
        match &self.content {
            Content::Text(text) => text.clone(),
            Content::Parts(parts) => parts.iter().filter_map(|part| part.text.as_deref()).collect(),
        }
    }

    /// Tells whether a turn is over with it.
    pub(super) fn is_end(&self) -> bool {
        self.role == "assistant" && self.stop_reason.as_deref() != Some("toolUse")
    }

    pub(super) fn is_answer(&self) -> bool {
        self.is_end() && !self.is_failed()
    }

    /// Tells whether it failed or was broken off: OpenClaw does not tell it to the model again.
    pub(super) fn is_failed(&self) -> bool {
        matches!(self.stop_reason.as_deref(), Some("error" | "aborted"))
    }
}

/// Where a row is in the tree of the conversation.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Link {
    #[serde(default)]
    pub(super) r#type: String,
    pub(super) id: Option<String>,
    pub(super) parent_id: Option<String>,
}
