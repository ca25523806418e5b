//! The messages of a transcript: the fields that Segue uses, and the effect of each message on its
//! turn.

use jiff::Timestamp;
use segue_core::model::Usage;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

/// The beginnings of texts that Gemini records as messages of the user, although no user wrote
/// them.
const ADDITION_PREFIXES: [&str; 3] = [CONTEXT_PREFIX, "<hook_context>", INSTRUCTIONS_PREFIX];

/// The beginning of the message with which Gemini describes the folder to the model.
const CONTEXT_PREFIX: &str = "<session_context>";

/// The beginning of the standing instructions that Segue writes into a new conversation.
pub(super) const INSTRUCTIONS_PREFIX: &str = "<standing_instructions>";

/// The text that Gemini records when the user interrupts a turn.
const CANCELLED_TEXT: &str = "Request cancelled.";

/// One message of a conversation.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct GeminiMessage {
    pub(super) id: Option<String>,
    #[serde(rename = "type")]
    pub(super) kind: GeminiKind,
    #[serde(default, deserialize_with = "timestamp_or_none")]
    pub(super) timestamp: Option<Timestamp>,
    content: Option<GeminiContent>,
    tool_calls: Option<Vec<GeminiToolCall>>,
    pub(super) model: Option<String>,
    #[serde(default)]
    tokens: Value,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum GeminiKind {
    User,
    Gemini,
    Error,
    Info,
    #[serde(other)]
    Other,
}

/// The content of a message: a text, or a list of parts.
#[derive(Clone, Debug)]
pub(super) enum GeminiContent {
    Text(String),
    Parts(Vec<GeminiPart>),
}

impl<'de> Deserialize<'de> for GeminiContent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&RawValue>::deserialize(deserializer)?.get();
        let list = || serde_json::from_str::<Vec<&RawValue>>(raw).unwrap_or_default();
        Ok(match raw.as_bytes().first() {
            Some(b'"') => Self::Text(serde_json::from_str(raw).unwrap_or_default()),
            Some(b'[') => {
                Self::Parts(list().iter().filter_map(|part| GeminiPart::read(part.get())).collect())
            }
            _ => Self::Parts(GeminiPart::read(raw).into_iter().collect()),
        })
    }
}

/// A part of a message.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct GeminiPart {
    pub(super) text: Option<String>,
    #[serde(default)]
    pub(super) thought: bool,
    pub(super) function_call: Option<FunctionCall>,
    pub(super) function_response: Option<FunctionResponse>,
}

impl GeminiPart {
    fn read(raw: &str) -> Option<Self> {
        let text_part = |text| Self {
            text: Some(text),
            thought: false,
            function_call: None,
            function_response: None,
        };
        serde_json::from_str(raw).ok().or_else(|| serde_json::from_str(raw).ok().map(text_part))
    }
}

/// A tool call in a message of the model.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct FunctionCall {
    #[serde(default)]
    pub(super) id: String,
    #[serde(default)]
    pub(super) name: String,
    pub(super) args: Option<Box<RawValue>>,
}

/// The result of a tool call in a message to the model.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct FunctionResponse {
    #[serde(default)]
    pub(super) id: String,
    #[serde(default)]
    pub(super) name: String,
    #[serde(default)]
    pub(super) response: Value,
}

/// A completed tool call, with the result of the tool.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct GeminiToolCall {
    #[serde(default)]
    pub(super) id: String,
    #[serde(default)]
    pub(super) name: String,
    pub(super) args: Option<Box<RawValue>>,
    pub(super) result: Option<GeminiContent>,
    pub(super) status: Option<String>,
    #[serde(default, deserialize_with = "timestamp_or_none")]
    pub(super) timestamp: Option<Timestamp>,
}

/// The effect of a message on its turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum GeminiMeaning {
    /// The user sent this text.
    UserMessage(String),
    /// The result of a tool call. The model has not answered yet.
    ToolResult,
    /// The model sent a message, and its turn continues.
    Continues,
    /// The model's turn ended with this text.
    Answered(String),
    /// The turn failed with this error message.
    Failed(String),
    /// The user interrupted the turn.
    Cancelled,
    /// Gemini's description of the folder. The messages after it may be copies of earlier messages.
    Context,
    /// A message that Gemini or Segue added. It has no effect on the turn.
    NoEffect,
}

/// Parses a timestamp. Invalid values become `None`.
pub(super) fn timestamp_or_none<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Timestamp>, D::Error> {
    let value = Value::deserialize(deserializer)?;
    Ok(value.as_str().and_then(|text| text.parse().ok()))
}

impl GeminiMessage {
    pub(super) fn meaning(&self) -> GeminiMeaning {
        let text = || self.content.as_ref().map(GeminiContent::text).unwrap_or_default();
        match self.kind {
            GeminiKind::User => self.meaning_of_user_message(text()),
            GeminiKind::Gemini => self.meaning_of_model_message(text()),
            GeminiKind::Error => GeminiMeaning::Failed(text()),
            GeminiKind::Info if text() == CANCELLED_TEXT => GeminiMeaning::Cancelled,
            GeminiKind::Info | GeminiKind::Other => GeminiMeaning::NoEffect,
        }
    }

    pub(super) fn tool_calls(&self) -> &[GeminiToolCall] {
        self.tool_calls.as_deref().unwrap_or_default()
    }

    /// Returns the token usage of the answer. `None` if the message does not contain it.
    pub(super) fn usage(&self) -> Option<Usage> {
        let count = |name: &str| self.tokens.get(name).and_then(Value::as_u64);
        let also = |name: &str| count(name).unwrap_or_default();
        let input = count("input")?.saturating_add(also("tool"));
        let output = count("output")?.saturating_add(also("thoughts"));
        Some(Usage { input, cached: also("cached"), output, cost_usd: None })
    }

    /// Returns the content: a text and no parts, or an empty text and the parts.
    pub(super) fn content(&self) -> (&str, &[GeminiPart]) {
        match &self.content {
            Some(GeminiContent::Text(text)) => (text, &[]),
            Some(GeminiContent::Parts(parts)) => ("", parts),
            None => ("", &[]),
        }
    }

    fn has(&self, matches: impl Fn(&GeminiPart) -> bool) -> bool {
        self.content.as_ref().is_some_and(|content| content.parts().iter().any(matches))
    }

    fn meaning_of_user_message(&self, text: String) -> GeminiMeaning {
        if self.has(|part| part.function_response.is_some()) {
            return GeminiMeaning::ToolResult;
        }
        let start = text.trim_start();
        if start.starts_with(CONTEXT_PREFIX) {
            return GeminiMeaning::Context;
        }
        if start.is_empty() || is_addition(start) {
            GeminiMeaning::NoEffect
        } else {
            GeminiMeaning::UserMessage(text)
        }
    }

    fn meaning_of_model_message(&self, text: String) -> GeminiMeaning {
        if !self.tool_calls().is_empty() || self.has(|part| part.function_call.is_some()) {
            return GeminiMeaning::Continues;
        }
        if !text.trim().is_empty() {
            return GeminiMeaning::Answered(text);
        }
        // In a new conversation, Gemini rewrites the message of Segue as a part that is only a
        // thought. It has no effect. The message of a tool call has empty content until the tool
        // has ended, and the turn continues.
        let is_thought = self.content.is_none() || self.has(|part| part.thought);
        if is_thought { GeminiMeaning::NoEffect } else { GeminiMeaning::Continues }
    }
}

/// Returns whether Gemini or Segue wrote this text, although it is recorded as a message of the
/// user.
pub(super) fn is_addition(text: &str) -> bool {
    ADDITION_PREFIXES.iter().any(|start| text.trim_start().starts_with(start))
}

impl GeminiContent {
    fn parts(&self) -> &[GeminiPart] {
        match self {
            Self::Text(_) => &[],
            Self::Parts(parts) => parts,
        }
    }

    fn text(&self) -> String {
        if let Self::Text(text) = self {
            return text.clone();
        }
        let visible = self.parts().iter().filter(|part| !part.thought);
        visible.filter_map(|part| part.text.as_deref()).collect()
    }
}
