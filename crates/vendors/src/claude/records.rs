//! The lines of a transcript, as far as they mean anything here.

use std::path::PathBuf;

use jiff::Timestamp;
use serde::Deserialize;

/// How the vendor notes that a person broke a turn off.
const INTERRUPTED: &str = "[Request interrupted by user";

/// How the vendor's own additions begin that are recorded as the user's words.
const ADDITIONS: [&str; 8] = [
    "<command-name>",
    "<command-message>",
    "<local-command-",
    "<bash-input>",
    "<bash-stdout>",
    "<bash-stderr>",
    "<task-notification>",
    "<system-reminder>",
];

/// The vendor itself as the author of an assistant's message.
const SYNTHETIC: &str = "<synthetic>";

/// One line of the tree of messages; other lines are no such record.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "the vendor writes them so")]
pub(super) struct Record {
    #[serde(rename = "type")]
    kind: Kind,
    message: Message,
    pub(super) timestamp: Option<Timestamp>,
    pub(super) cwd: Option<PathBuf>,
    #[serde(default)]
    is_meta: bool,
    #[serde(default)]
    is_sidechain: bool,
    #[serde(default)]
    is_compact_summary: bool,
    #[serde(default)]
    is_api_error_message: bool,
    origin: Option<Origin>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    User,
    Assistant,
}

#[derive(Clone, Debug, Deserialize)]
struct Origin {
    kind: String,
}

#[derive(Clone, Debug, Deserialize)]
struct Message {
    content: Content,
    stop_reason: Option<String>,
    model: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    Blocks(Vec<Block>),
}

#[derive(Clone, Debug, Deserialize)]
struct Block {
    #[serde(rename = "type")]
    kind: String,
    text: Option<String>,
}

/// What a record means for the turn that it is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// A person said this.
    Said(String),
    /// The model has yet to answer it.
    ToolResult,
    /// A person broke the turn off.
    Interrupted,
    /// The model said something and is not done.
    Continues,
    /// The model's turn is over; what it said last.
    Answered(String),
    /// The turn failed.
    Failed,
    /// An addition of the vendor's.
    Nothing,
}

impl Record {
    /// Reads a line; one that is torn, garbage or of another type is nothing.
    pub(super) fn read(line: &[u8]) -> Option<Self> {
        serde_json::from_str(&String::from_utf8_lossy(line)).ok()
    }

    pub(super) fn meaning(&self) -> Meaning {
        if self.is_meta || self.is_sidechain || self.is_compact_summary {
            return Meaning::Nothing;
        }
        match self.kind {
            Kind::User => self.of_user(),
            Kind::Assistant => self.of_assistant(),
        }
    }

    fn of_user(&self) -> Meaning {
        if self.message.content.has("tool_result") {
            return Meaning::ToolResult;
        }
        let text = self.message.content.text();
        match self.origin.as_ref().map(|origin| origin.kind.as_str()) {
            Some("human") => Meaning::Said(text),
            Some(_) => Meaning::Nothing,
            None if text.starts_with(INTERRUPTED) => Meaning::Interrupted,
            None if ADDITIONS.iter().any(|it| text.starts_with(it)) => Meaning::Nothing,
            None => Meaning::Said(text),
        }
    }

    fn of_assistant(&self) -> Meaning {
        if self.is_api_error_message {
            return Meaning::Failed;
        }
        match self.message.stop_reason.as_deref() {
            None | Some("tool_use" | "pause_turn") => Meaning::Continues,
            // What the vendor puts in the model's mouth is no answer, but ends the turn.
            Some(_) if self.message.model.as_deref() == Some(SYNTHETIC) => Meaning::Failed,
            Some(_) => Meaning::Answered(self.message.content.text()),
        }
    }
}

impl Content {
    fn has(&self, kind: &str) -> bool {
        matches!(self, Self::Blocks(blocks) if blocks.iter().any(|block| block.kind == kind))
    }

    fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Blocks(blocks) => {
                let texts = blocks.iter().filter(|block| block.kind == "text");
                let texts: Vec<&str> = texts.filter_map(|block| block.text.as_deref()).collect();
                texts.join("\n")
            }
        }
    }
}
