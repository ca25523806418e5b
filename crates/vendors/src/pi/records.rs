//! The lines of a transcript, as far as decisions need them. Whatever cannot be read is nothing.

use std::path::PathBuf;

use jiff::Timestamp;
use serde::Deserialize;

/// One line.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Record {
    Session(Header),
    Message {
        message: Message,
    },
    #[serde(other)]
    Other,
}

/// The first line.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Header {
    pub(super) id: String,
    #[serde(default)]
    pub(super) timestamp: Option<Timestamp>,
    #[serde(default)]
    pub(super) cwd: PathBuf,
}

/// What somebody said, in a transcript as well as in what Pi tells.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Message {
    role: String,
    #[serde(default)]
    content: Content,
    #[serde(default)]
    stop_reason: Option<String>,
    #[serde(default)]
    pub(super) error_message: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    Parts(Vec<Part>),
}

impl Default for Content {
    fn default() -> Self {
        Self::Parts(Vec::new())
    }
}

#[derive(Clone, Debug, Deserialize)]
struct Part {
    #[serde(default)]
    text: Option<String>,
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

    pub(super) fn meaning(&self) -> Meaning {
        match self {
            Self::Message { message } => message.meaning(),
            _ => Meaning::Nothing,
        }
    }
}

impl Message {
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
