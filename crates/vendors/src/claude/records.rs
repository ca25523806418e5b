//! The records of a transcript: the fields that are used, and what each record means for its turn.

use std::path::PathBuf;

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::shared::reading::{self, MessageContent};

/// The beginning of the text that Claude Code records when the user interrupts a turn.
const INTERRUPTED_PREFIX: &str = "[Request interrupted by user";

/// Beginnings of texts that Claude Code adds itself but records as messages of the user.
const ADDED_TEXT_PREFIXES: [&str; 8] = [
    "<command-name>",
    "<command-message>",
    "<local-command-",
    "<bash-input>",
    "<bash-stdout>",
    "<bash-stderr>",
    "<task-notification>",
    "<system-reminder>",
];

/// The beginning of a command of the user that became a prompt.
const COMMAND_PREFIX: &str = "<command-message>";

/// The name of the model in assistant messages that Claude Code wrote itself.
pub(super) const SYNTHETIC_MODEL: &str = "<synthetic>";

/// Texts that Claude Code records as the model's message if the model wrote no text.
const PLACEHOLDERS: [&str; 2] = ["No response requested.", "(no content)"];

/// Placeholder for an image.
const IMAGE: &str = "[image]";

/// A message in the tree of records. Lines of other types are not parsed.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "these are the vendor's fields")]
pub(super) struct ClaudeRecord {
    #[serde(rename = "type")]
    pub(super) kind: ClaudeRecordKind,
    pub(super) message: ClaudeMessage,
    pub(super) timestamp: Option<Timestamp>,
    pub(super) cwd: Option<PathBuf>,
    #[serde(default)]
    is_meta: bool,
    #[serde(default)]
    pub(super) is_sidechain: bool,
    #[serde(default)]
    pub(super) is_compact_summary: bool,
    #[serde(default)]
    is_api_error_message: bool,
    origin: Option<ClaudeOrigin>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum ClaudeRecordKind {
    User,
    Assistant,
}

#[derive(Clone, Debug, Deserialize)]
struct ClaudeOrigin {
    kind: String,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct ClaudeMessage {
    pub(super) id: Option<String>,
    pub(super) content: MessageContent<ClaudeBlock>,
    stop_reason: Option<String>,
    pub(super) model: Option<String>,
    pub(super) usage: Option<ClaudeUsage>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
pub(super) struct ClaudeUsage {
    #[serde(default)]
    pub(super) input_tokens: u64,
    #[serde(default)]
    pub(super) cache_creation_input_tokens: u64,
    #[serde(default)]
    pub(super) cache_read_input_tokens: u64,
    #[serde(default)]
    pub(super) output_tokens: u64,
}

/// A part of a message. Which fields it has depends on its type.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct ClaudeBlock {
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) text: Option<String>,
    pub(super) id: Option<String>,
    pub(super) name: Option<String>,
    pub(super) input: Option<Box<RawValue>>,
    pub(super) tool_use_id: Option<String>,
    pub(super) is_error: Option<bool>,
    pub(super) content: Option<MessageContent<Self>>,
}

/// What a record means for the turn that it belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ClaudeMeaning {
    /// The user sent this text.
    Said(String),
    /// The result of a tool. The model has not answered it yet.
    ToolResult,
    /// The user interrupted the turn.
    Interrupted,
    /// The model sent a message, and its turn continues.
    Continues,
    /// The model's turn is over. The text is that of its last message.
    Answered(String),
    /// The turn failed.
    Failed,
    /// The record does not change the turn: Claude Code added it, or it belongs to a subagent or to
    /// a summary.
    Nothing,
}

impl ClaudeRecord {
    /// Parses a line. Returns `None` if the line is torn, invalid or of another type.
    pub(super) fn read(line: &[u8]) -> Option<Self> {
        reading::parse_json(line)
    }

    pub(super) fn meaning(&self) -> ClaudeMeaning {
        if self.is_meta || self.is_sidechain || self.is_compact_summary {
            return ClaudeMeaning::Nothing;
        }
        match self.kind {
            ClaudeRecordKind::User => self.user_meaning(),
            ClaudeRecordKind::Assistant => self.assistant_meaning(),
        }
    }

    /// Returns whether an assistant message does not come from the model. Text from before an
    /// interruption does come from the model, although its record names `SYNTHETIC_MODEL`.
    pub(super) fn is_not_from_model(&self) -> bool {
        let is_synthetic = self.message.model.as_deref() == Some(SYNTHETIC_MODEL);
        let is_placeholder = || PLACEHOLDERS.contains(&self.message.content.text().trim());
        self.is_meta
            || self.is_sidechain
            || self.is_api_error_message
            || (is_synthetic && is_placeholder())
    }

    fn user_meaning(&self) -> ClaudeMeaning {
        if self.message.content.has("tool_result") {
            return ClaudeMeaning::ToolResult;
        }
        let text = self.message.content.text();
        match self.origin.as_ref().map(|origin| origin.kind.as_str()) {
            Some("human") => ClaudeMeaning::Said(as_typed(text)),
            Some(_) => ClaudeMeaning::Nothing,
            None if text.starts_with(INTERRUPTED_PREFIX) => ClaudeMeaning::Interrupted,
            None if ADDED_TEXT_PREFIXES.iter().any(|prefix| text.starts_with(prefix)) => {
                ClaudeMeaning::Nothing
            }
            None => ClaudeMeaning::Said(text),
        }
    }

    fn assistant_meaning(&self) -> ClaudeMeaning {
        if self.is_api_error_message {
            return ClaudeMeaning::Failed;
        }
        match self.message.stop_reason.as_deref() {
            None | Some("tool_use" | "pause_turn") => ClaudeMeaning::Continues,
            // A message that Claude Code wrote in place of the model is no answer, but it ends the
            // turn.
            Some(_) if self.message.model.as_deref() == Some(SYNTHETIC_MODEL) => {
                ClaudeMeaning::Failed
            }
            Some(_) => ClaudeMeaning::Answered(self.message.content.text()),
        }
    }
}

/// Returns a text of the user as it was typed. Claude Code records a command as elements: its message,
/// its name and its arguments.
pub(super) fn as_typed(text: String) -> String {
    let element = |name: &str| {
        let (_, rest) = text.split_once(&format!("<{name}>"))?;
        rest.split_once(&format!("</{name}>")).map(|(content, _)| content.trim())
    };
    if !text.starts_with(COMMAND_PREFIX) {
        return text;
    }
    match (element("command-name"), element("command-args")) {
        (Some(name), Some(arguments)) if !arguments.is_empty() => format!("{name} {arguments}"),
        (Some(name), _) => name.to_owned(),
        (None, _) => text,
    }
}

impl MessageContent<ClaudeBlock> {
    pub(super) fn has(&self, kind: &str) -> bool {
        matches!(self, Self::Parts(blocks) if blocks.iter().any(|block| block.kind == kind))
    }

    pub(super) fn text(&self) -> String {
        self.join("\n", |block| block.text.as_deref().filter(|_| block.kind == "text"))
    }

    /// Returns the text, with a placeholder for each image.
    pub(super) fn text_with_images(&self) -> String {
        self.join("\n", |block| match block.kind.as_str() {
            "text" => block.text.as_deref(),
            "image" => Some(IMAGE),
            _ => None,
        })
    }
}
