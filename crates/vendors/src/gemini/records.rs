//! The lines of a transcript: the fields that are used, and what each message means for its turn.

use jiff::Timestamp;
use segue_core::model::Usage;
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::shared::reading;

/// Beginnings of texts that are recorded as messages of the user but that no user wrote.
const ADDITIONS: [&str; 3] = [CONTEXT, "<hook_context>", INSTRUCTIONS];

/// Beginning of Gemini's description of the folder for the model, at the beginning of a
/// conversation.
const CONTEXT: &str = "<session_context>";

/// Beginning of standing instructions that were written into a new conversation.
pub(super) const INSTRUCTIONS: &str = "<standing_instructions>";

/// The text that Gemini records when a person interrupts a turn.
const CANCELLED: &str = "Request cancelled.";

/// One line: the header, a message, or a change of earlier lines.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct GeminiLine {
    session_id: Option<String>,
    pub(super) start_time: Option<Timestamp>,
    last_updated: Option<Timestamp>,
    #[serde(skip)]
    message: Option<GeminiMessage>,
    #[serde(rename = "$set")]
    set: Option<Set>,
    /// All messages, if an older version wrote the conversation as one document.
    #[serde(default, deserialize_with = "those_that_are_whole")]
    messages: Option<Vec<GeminiMessage>>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Set {
    session_id: Option<String>,
    last_updated: Option<Timestamp>,
    #[serde(default, deserialize_with = "those_that_are_whole")]
    messages: Option<Vec<GeminiMessage>>,
}

/// What a line shows about the process that wrote it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WriterProcess {
    /// A process wrote it when it resumed the conversation.
    AtResume,
    /// A process that has the conversation open wrote it at this time.
    At(Timestamp),
}

/// One message.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct GeminiMessage {
    pub(super) id: Option<String>,
    #[serde(rename = "type")]
    pub(super) kind: GeminiKind,
    #[serde(default, deserialize_with = "moment")]
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
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let raw = <&RawValue>::deserialize(from)?.get();
        let list = || serde_json::from_str::<Vec<&RawValue>>(raw).unwrap_or_default();
        Ok(match raw.as_bytes().first() {
            Some(b'"') => Self::Text(serde_json::from_str(raw).unwrap_or_default()),
            Some(b'[') => {
                Self::Parts(list().iter().filter_map(|it| GeminiPart::read(it.get())).collect())
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
        let words = |text| Self {
            text: Some(text),
            thought: false,
            function_call: None,
            function_response: None,
        };
        serde_json::from_str(raw).ok().or_else(|| serde_json::from_str(raw).ok().map(words))
    }
}

/// A tool call, as the model made it.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct FunctionCall {
    #[serde(default)]
    pub(super) id: String,
    #[serde(default)]
    pub(super) name: String,
    pub(super) args: Option<Box<RawValue>>,
}

/// The result of a tool, as the model gets it.
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
    #[serde(default, deserialize_with = "moment")]
    pub(super) timestamp: Option<Timestamp>,
}

/// What a message means for the turn that it belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum GeminiMeaning {
    /// A person sent this text.
    Said(String),
    /// The result of a tool. The model has not answered it yet.
    ToolResult,
    /// The model wrote something, and its turn continues.
    Continues,
    /// The model's turn is over. The text is that of its last message.
    Answered(String),
    /// The turn failed for this reason.
    Failed(String),
    /// A person interrupted the turn.
    Cancelled,
    /// The context of a conversation. The messages after it may be copies of earlier ones.
    Context,
    /// An addition of Gemini or of Segue.
    Nothing,
}

impl GeminiLine {
    /// Parses a line. Returns `None` if the line is torn or invalid.
    pub(super) fn read(line: &[u8]) -> Option<Self> {
        let text = String::from_utf8_lossy(line);
        let line: Self = serde_json::from_str(&text).ok()?;
        let is_message = line.set.is_none() && line.messages.is_none();
        let message = if is_message { serde_json::from_str(&text).ok() } else { None };
        Some(Self { message, ..line })
    }

    /// Returns the messages that replace everything before this line, if the line has them.
    pub(super) fn replacement(&self) -> Option<&[GeminiMessage]> {
        self.set.as_ref()?.messages.as_deref()
    }

    /// Returns the message that the line adds.
    pub(super) fn message(&self) -> Option<&GeminiMessage> {
        self.message.as_ref()
    }

    /// Returns what is known about the process that wrote the line. `None` if it can be any
    /// process: at its start, each process writes summaries into the transcripts of others.
    pub(super) fn written(&self) -> Option<WriterProcess> {
        let set = self.set.as_ref();
        if set.is_some_and(|set| set.session_id.is_some()) {
            return Some(WriterProcess::AtResume);
        }
        let said = self.message.as_ref().and_then(|message| message.timestamp);
        let at = said.or(self.last_updated).or_else(|| set?.last_updated);
        at.map(WriterProcess::At)
    }

    /// Returns all messages of the line, the oldest first.
    pub(super) fn messages(&self) -> &[GeminiMessage] {
        let added = self.message.as_ref().map(std::slice::from_ref);
        let all = added.or_else(|| self.replacement()).or(self.messages.as_deref());
        all.unwrap_or_default()
    }
}

/// The effect of a line on the conversation, without its text.
#[derive(Debug, Deserialize)]
pub(super) struct LineEffect {
    /// The id of the message that the line adds or replaces.
    pub(super) id: Option<String>,
    /// The id of the message that is undone, together with everything after it.
    #[serde(rename = "$rewindTo")]
    pub(super) rewind: Option<String>,
    #[serde(default, deserialize_with = "moment")]
    pub(super) timestamp: Option<Timestamp>,
    #[serde(rename = "$set")]
    set: Option<EffectOfSet>,
    messages: Option<IgnoredAny>,
}

#[derive(Debug, Deserialize)]
struct EffectOfSet {
    messages: Option<IgnoredAny>,
}

impl LineEffect {
    pub(super) fn read(line: &[u8]) -> Option<Self> {
        reading::parse_json(line)
    }

    /// Returns whether the line replaces everything before it.
    pub(super) fn replaces(&self) -> bool {
        let set = self.set.as_ref().and_then(|set| set.messages);
        set.or(self.messages).is_some()
    }
}

/// Parses a timestamp. Invalid values become `None`.
fn moment<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Timestamp>, D::Error> {
    let value = Value::deserialize(from)?;
    Ok(value.as_str().and_then(|text| text.parse().ok()))
}

/// Parses a list of messages. Invalid messages are skipped.
fn those_that_are_whole<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<Vec<GeminiMessage>>, D::Error> {
    let Some(list) = Option::<&RawValue>::deserialize(from)? else { return Ok(None) };
    let list: Option<Vec<&RawValue>> = serde_json::from_str(list.get()).ok();
    let whole = |raw: &&RawValue| serde_json::from_str(raw.get()).ok();
    Ok(list.map(|list| list.iter().filter_map(whole).collect()))
}

/// Returns the conversation's id in the first line of a transcript.
pub(super) fn session(line: &[u8]) -> Option<String> {
    GeminiLine::read(line)?.session_id
}

/// Returns when a conversation began, given the first line of its transcript.
pub(super) fn began_at(line: &[u8]) -> Option<Timestamp> {
    GeminiLine::read(line)?.start_time
}

impl GeminiMessage {
    pub(super) fn meaning(&self) -> GeminiMeaning {
        let text = || self.content.as_ref().map(GeminiContent::text).unwrap_or_default();
        match self.kind {
            GeminiKind::User => self.of_user(text()),
            GeminiKind::Gemini => self.of_model(text()),
            GeminiKind::Error => GeminiMeaning::Failed(text()),
            GeminiKind::Info if text() == CANCELLED => GeminiMeaning::Cancelled,
            GeminiKind::Info | GeminiKind::Other => GeminiMeaning::Nothing,
        }
    }

    pub(super) fn tool_calls(&self) -> &[GeminiToolCall] {
        self.tool_calls.as_deref().unwrap_or_default()
    }

    /// Returns the token usage of the answer, if it is recorded.
    pub(super) fn usage(&self) -> Option<Usage> {
        let number = |name: &str| self.tokens.get(name).and_then(Value::as_u64);
        Some(Usage { input: number("input")?, output: number("output")? })
    }

    /// Returns the text of a message that is a plain text, and the parts of any other message.
    pub(super) fn content(&self) -> (&str, &[GeminiPart]) {
        match &self.content {
            Some(GeminiContent::Text(text)) => (text, &[]),
            Some(GeminiContent::Parts(parts)) => ("", parts),
            None => ("", &[]),
        }
    }

    fn has(&self, is_wanted: impl Fn(&GeminiPart) -> bool) -> bool {
        self.content.as_ref().is_some_and(|content| content.parts().iter().any(is_wanted))
    }

    fn of_user(&self, text: String) -> GeminiMeaning {
        if self.has(|part| part.function_response.is_some()) {
            return GeminiMeaning::ToolResult;
        }
        let begin = text.trim_start();
        if begin.starts_with(CONTEXT) {
            return GeminiMeaning::Context;
        }
        if begin.is_empty() || is_addition(begin) {
            GeminiMeaning::Nothing
        } else {
            GeminiMeaning::Said(text)
        }
    }

    fn of_model(&self, text: String) -> GeminiMeaning {
        if !self.tool_calls().is_empty() || self.has(|part| part.function_call.is_some()) {
            return GeminiMeaning::Continues;
        }
        if !text.trim().is_empty() {
            return GeminiMeaning::Answered(text);
        }
        // Gemini rewrites our message in a new conversation as a part that is only a thought: it
        // does not change the turn. The message of a tool call has no content until the tool has
        // ended: the turn continues.
        let is_thought = self.content.is_none() || self.has(|part| part.thought);
        if is_thought { GeminiMeaning::Nothing } else { GeminiMeaning::Continues }
    }
}

/// Returns whether a text that is recorded as a message of the user was not written by a user.
pub(super) fn is_addition(text: &str) -> bool {
    ADDITIONS.iter().any(|begin| text.trim_start().starts_with(begin))
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
        let spoken = self.parts().iter().filter(|part| !part.thought);
        spoken.filter_map(|part| part.text.as_deref()).collect()
    }
}
