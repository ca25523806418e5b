//! The lines of a transcript, as far as decisions need them. Whatever cannot be read is nothing.

use std::path::PathBuf;

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::reading::Content;

/// One line.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Record {
    #[serde(rename = "type")]
    pub(super) kind: Kind,
    id: Option<String>,
    pub(super) timestamp: Option<Timestamp>,
    cwd: Option<PathBuf>,
    pub(super) message: Option<Message>,
    /// What stands for what was said before, or on another branch.
    pub(super) summary: Option<String>,
    provider: Option<String>,
    model_id: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Kind {
    Session,
    Message,
    /// Of a headless turn's output only.
    MessageEnd,
    Compaction,
    BranchSummary,
    ModelChange,
    #[serde(other)]
    Other,
}

/// The first line.
#[derive(Clone, Debug)]
pub(super) struct Header {
    pub(super) id: String,
    pub(super) timestamp: Option<Timestamp>,
    pub(super) cwd: PathBuf,
}

/// What somebody said, in a transcript as well as in what Pi tells.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Message {
    role: String,
    #[serde(default)]
    pub(super) content: Content<Part>,
    stop_reason: Option<String>,
    pub(super) error_message: Option<String>,
    provider: Option<String>,
    pub(super) model: Option<String>,
    pub(super) usage: Option<Usage>,
    pub(super) tool_call_id: Option<String>,
    pub(super) tool_name: Option<String>,
    pub(super) is_error: Option<bool>,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct Part {
    #[serde(rename = "type")]
    pub(super) kind: Option<String>,
    pub(super) text: Option<String>,
    pub(super) id: Option<String>,
    pub(super) name: Option<String>,
    pub(super) arguments: Option<Box<RawValue>>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Usage {
    #[serde(default)]
    pub(super) input: u64,
    #[serde(default)]
    pub(super) output: u64,
    #[serde(default)]
    pub(super) cache_read: u64,
    #[serde(default)]
    pub(super) cache_write: u64,
}

/// What a message means for its turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    Said(String),
    /// The agent goes on: a tool was called, or has answered.
    Continues,
    Answered(String),
    /// The turn ended without an answer: why, in Pi's words.
    Failed(String),
    Interrupted,
    Nothing,
}

impl Record {
    /// Reads a line; one that is torn or garbage is nothing.
    pub(super) fn read(line: &[u8]) -> Option<Self> {
        serde_json::from_str(&String::from_utf8_lossy(line)).ok()
    }

    /// Returns what the first line says; none where it says too little, or this is another one.
    pub(super) fn header(self) -> Option<Header> {
        let id = self.id.filter(|_| self.kind == Kind::Session)?;
        Some(Header { id, timestamp: self.timestamp, cwd: self.cwd.unwrap_or_default() })
    }

    pub(super) fn meaning(&self) -> Meaning {
        match (self.kind, &self.message) {
            (Kind::Message, Some(message)) => message.meaning(),
            _ => Meaning::Nothing,
        }
    }

    /// Returns the provider and the model that a line says are used from there on.
    pub(super) fn model(self) -> Option<(String, String)> {
        match (self.kind, self.message) {
            (Kind::ModelChange, _) => Some((self.provider?, self.model_id?)),
            (Kind::Message, Some(message)) => Some((message.provider?, message.model?)),
            _ => None,
        }
    }
}

impl Message {
    /// Tells whether a tool said it.
    pub(super) fn is_result(&self) -> bool {
        self.role == "toolResult"
    }

    pub(super) fn meaning(&self) -> Meaning {
        match self.role.as_str() {
            "user" => Meaning::Said(self.text()),
            "toolResult" => Meaning::Continues,
            "assistant" => match self.stop_reason.as_deref() {
                Some("toolUse") => Meaning::Continues,
                Some("aborted") => Meaning::Interrupted,
                Some("error") => Meaning::Failed(self.error_message.clone().unwrap_or_default()),
                _ => Meaning::Answered(self.text()),
            },
            // What the user did in the shell, and what extensions say.
            _ => Meaning::Nothing,
        }
    }

    fn text(&self) -> String {
        match &self.content {
            Content::Text(text) => text.clone(),
            Content::Parts(parts) => parts.iter().filter_map(|part| part.text.as_deref()).collect(),
        }
    }
}
