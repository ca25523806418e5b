//! The lines of a transcript: the fields that Segue uses.

use std::path::PathBuf;

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::shared::reading::{self, MessageContent};

/// The placeholder for an image in a text.
const IMAGE: &str = "[image]";

/// One line of a transcript, or of a headless turn's output.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PiRecord {
    #[serde(rename = "type")]
    pub(super) kind: PiRecordKind,
    pub(super) id: Option<String>,
    pub(super) timestamp: Option<Timestamp>,
    cwd: Option<PathBuf>,
    pub(super) message: Option<PiMessage>,
    /// A summary of earlier messages, or of the messages of another branch.
    pub(super) summary: Option<String>,
    provider: Option<String>,
    model_id: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum PiRecordKind {
    Session,
    Message,
    /// The end of a message. Occurs only in the output of a headless turn.
    MessageEnd,
    Compaction,
    BranchSummary,
    ModelChange,
    #[serde(other)]
    Other,
}

/// The first line of a transcript.
#[derive(Clone, Debug)]
pub(super) struct Header {
    pub(super) id: String,
    pub(super) timestamp: Option<Timestamp>,
    pub(super) cwd: PathBuf,
}

/// A message in a transcript, in Pi's output, or in a report of the extension.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PiMessage {
    role: String,
    #[serde(default)]
    pub(super) content: MessageContent<PiPart>,
    stop_reason: Option<String>,
    pub(super) error_message: Option<String>,
    provider: Option<String>,
    pub(super) model: Option<String>,
    pub(super) usage: Option<PiUsage>,
    pub(super) tool_call_id: Option<String>,
    pub(super) tool_name: Option<String>,
    pub(super) is_error: Option<bool>,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct PiPart {
    #[serde(rename = "type")]
    pub(super) kind: Option<String>,
    pub(super) text: Option<String>,
    pub(super) id: Option<String>,
    pub(super) name: Option<String>,
    pub(super) arguments: Option<Box<RawValue>>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PiUsage {
    #[serde(default)]
    pub(super) input: u64,
    #[serde(default)]
    pub(super) output: u64,
    #[serde(default)]
    pub(super) cache_read: u64,
    #[serde(default)]
    pub(super) cache_write: u64,
    pub(super) cost: Option<PiCost>,
}

/// The cost of a request in dollars.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(super) struct PiCost {
    #[serde(default)]
    pub(super) total: f64,
}

/// The effect of a message on its turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PiMeaning {
    UserMessage(String),
    /// The turn continues: the agent called a tool, or a tool returned a result.
    Continues,
    Answered(String),
    /// The turn failed with this error message.
    Failed(String),
    Interrupted,
    NoEffect,
}

impl PiRecord {
    /// Parses a line. `None` if the line is truncated or invalid.
    pub(super) fn read(line: &[u8]) -> Option<Self> {
        reading::parse_json(line)
    }

    /// Returns the header. `None` if the line is not a header or has no id.
    pub(super) fn header(self) -> Option<Header> {
        let id = self.id.filter(|_| self.kind == PiRecordKind::Session)?;
        Some(Header { id, timestamp: self.timestamp, cwd: self.cwd.unwrap_or_default() })
    }

    pub(super) fn meaning(&self) -> PiMeaning {
        match (self.kind, &self.message) {
            (PiRecordKind::Message, Some(message)) => message.meaning(),
            _ => PiMeaning::NoEffect,
        }
    }

    /// Returns the provider and the model of this line. `None` if the line names no model.
    pub(super) fn model(self) -> Option<(String, String)> {
        match (self.kind, self.message) {
            (PiRecordKind::ModelChange, _) => Some((self.provider?, self.model_id?)),
            (PiRecordKind::Message, Some(message)) => Some((message.provider?, message.model?)),
            _ => None,
        }
    }
}

impl PiMessage {
    /// Returns whether this is the result of a tool call.
    pub(super) fn is_result(&self) -> bool {
        self.role == "toolResult"
    }

    pub(super) fn meaning(&self) -> PiMeaning {
        match self.role.as_str() {
            "user" => PiMeaning::UserMessage(self.text()),
            "toolResult" => PiMeaning::Continues,
            "assistant" => match self.stop_reason.as_deref() {
                Some("toolUse") => PiMeaning::Continues,
                Some("aborted") => PiMeaning::Interrupted,
                Some("error") => PiMeaning::Failed(self.error_message.clone().unwrap_or_default()),
                _ => PiMeaning::Answered(self.text()),
            },
            // Shell commands of the user, and messages of extensions.
            _ => PiMeaning::NoEffect,
        }
    }

    fn text(&self) -> String {
        self.content.join("", |part| part.text.as_deref())
    }

    /// Returns all texts joined with line breaks, with a placeholder for each image.
    pub(super) fn text_with_images(&self) -> String {
        self.content.join("\n", |part| match part.kind.as_deref() {
            Some("image") => Some(IMAGE),
            _ => part.text.as_deref(),
        })
    }
}
