//! The lines of a transcript, as far as they mean anything here.

use jiff::Timestamp;
use segue_core::model::Usage;
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

/// How texts in the user's place begin that no user wrote.
const ADDITIONS: [&str; 3] = [CONTEXT, "<hook_context>", INSTRUCTIONS];

/// What Gemini tells the model about the folder at the beginning of a conversation.
const CONTEXT: &str = "<session_context>";

/// How standing instructions begin that were written into a new conversation.
pub(super) const INSTRUCTIONS: &str = "<standing_instructions>";

/// How Gemini notes that a person broke a turn off.
const CANCELLED: &str = "Request cancelled.";

/// One line: the first one, a message, or a change of what came before.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Line {
    session_id: Option<String>,
    pub(super) start_time: Option<Timestamp>,
    last_updated: Option<Timestamp>,
    #[serde(skip)]
    message: Option<Message>,
    #[serde(rename = "$set")]
    set: Option<Set>,
    /// All of them, where older versions wrote a conversation as one document.
    #[serde(default, deserialize_with = "those_that_are_whole")]
    messages: Option<Vec<Message>>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Set {
    session_id: Option<String>,
    last_updated: Option<Timestamp>,
    #[serde(default, deserialize_with = "those_that_are_whole")]
    messages: Option<Vec<Message>>,
}

/// What a line tells about the process that wrote it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Written {
    /// By one that takes up the conversation.
    AtResume,
    /// By one that has it open, at this time.
    At(Timestamp),
}

/// One message.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Message {
    pub(super) id: Option<String>,
    #[serde(rename = "type")]
    pub(super) kind: Kind,
    #[serde(default, deserialize_with = "moment")]
    pub(super) timestamp: Option<Timestamp>,
    content: Option<Content>,
    tool_calls: Option<Vec<ToolCall>>,
    pub(super) model: Option<String>,
    #[serde(default)]
    tokens: Value,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kind {
    User,
    Gemini,
    Error,
    Info,
    #[serde(other)]
    Other,
}

/// Words, or pieces of what was said.
#[derive(Clone, Debug)]
pub(super) enum Content {
    Text(String),
    Parts(Vec<Part>),
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let raw = <&RawValue>::deserialize(from)?.get();
        let list = || serde_json::from_str::<Vec<&RawValue>>(raw).unwrap_or_default();
        Ok(match raw.as_bytes().first() {
            Some(b'"') => Self::Text(serde_json::from_str(raw).unwrap_or_default()),
            Some(b'[') => {
                Self::Parts(list().iter().filter_map(|it| Part::read(it.get())).collect())
            }
            _ => Self::Parts(Part::read(raw).into_iter().collect()),
        })
    }
}

/// A piece of what was said.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Part {
    pub(super) text: Option<String>,
    #[serde(default)]
    pub(super) thought: bool,
    pub(super) function_call: Option<FunctionCall>,
    pub(super) function_response: Option<FunctionResponse>,
}

impl Part {
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

/// A call of a tool, as the model made it.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct FunctionCall {
    #[serde(default)]
    pub(super) id: String,
    #[serde(default)]
    pub(super) name: String,
    pub(super) args: Option<Box<RawValue>>,
}

/// What a tool gave, as the model is told.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct FunctionResponse {
    #[serde(default)]
    pub(super) id: String,
    #[serde(default)]
    pub(super) name: String,
    #[serde(default)]
    pub(super) response: Value,
}

/// A call that has ended, with what the tool gave.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct ToolCall {
    #[serde(default)]
    pub(super) id: String,
    #[serde(default)]
    pub(super) name: String,
    pub(super) args: Option<Box<RawValue>>,
    pub(super) result: Option<Content>,
    pub(super) status: Option<String>,
    #[serde(default, deserialize_with = "moment")]
    pub(super) timestamp: Option<Timestamp>,
}

/// What a message means for the turn that it is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// A person said this.
    Said(String),
    /// The model has yet to answer it.
    ToolResult,
    /// The model said something and is not done.
    Continues,
    /// The model's turn is over; what it said last.
    Answered(String),
    /// The turn failed, for this reason.
    Failed(String),
    /// A person broke the turn off.
    Cancelled,
    /// A conversation's context: what follows it may be a copy of what was said before.
    Context,
    /// An addition of Gemini's or of ours.
    Nothing,
}

impl Line {
    /// Reads a line; one that is torn or garbage is nothing.
    pub(super) fn read(line: &[u8]) -> Option<Self> {
        let text = String::from_utf8_lossy(line);
        let line: Self = serde_json::from_str(&text).ok()?;
        let is_message = line.set.is_none() && line.messages.is_none();
        let message = if is_message { serde_json::from_str(&text).ok() } else { None };
        Some(Self { message, ..line })
    }

    /// Returns the messages that stand in the place of all before, where the line has them.
    pub(super) fn replacement(&self) -> Option<&[Message]> {
        self.set.as_ref()?.messages.as_deref()
    }

    /// Returns the message that the line adds.
    pub(super) fn message(&self) -> Option<&Message> {
        self.message.as_ref()
    }

    /// Returns who wrote the line; none where it may be any process: at its start each one writes
    /// summaries into what others have left.
    pub(super) fn written(&self) -> Option<Written> {
        let set = self.set.as_ref();
        if set.is_some_and(|set| set.session_id.is_some()) {
            return Some(Written::AtResume);
        }
        let said = self.message.as_ref().and_then(|message| message.timestamp);
        let at = said.or(self.last_updated).or_else(|| set?.last_updated);
        at.map(Written::At)
    }

    /// Returns all messages of the line, the oldest first.
    pub(super) fn messages(&self) -> &[Message] {
        let added = self.message.as_ref().map(std::slice::from_ref);
        let all = added.or_else(|| self.replacement()).or(self.messages.as_deref());
        all.unwrap_or_default()
    }
}

/// What a line does to the conversation, without what it says.
#[derive(Debug, Deserialize)]
pub(super) struct Effect {
    /// The message that it adds, or takes the place of.
    pub(super) id: Option<String>,
    /// The message that is taken back, with all behind it.
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

impl Effect {
    pub(super) fn read(line: &[u8]) -> Option<Self> {
        serde_json::from_str(&String::from_utf8_lossy(line)).ok()
    }

    /// Tells whether the line stands in the place of all before.
    pub(super) fn replaces(&self) -> bool {
        let set = self.set.as_ref().and_then(|set| set.messages);
        set.or(self.messages).is_some()
    }
}

/// Reads a moment; what is none is not there.
fn moment<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Timestamp>, D::Error> {
    let value = Value::deserialize(from)?;
    Ok(value.as_str().and_then(|text| text.parse().ok()))
}

/// Reads a list of messages without those that are none.
fn those_that_are_whole<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<Vec<Message>>, D::Error> {
    let Some(list) = Option::<&RawValue>::deserialize(from)? else { return Ok(None) };
    let list: Option<Vec<&RawValue>> = serde_json::from_str(list.get()).ok();
    let whole = |raw: &&RawValue| serde_json::from_str(raw.get()).ok();
    Ok(list.map(|list| list.iter().filter_map(whole).collect()))
}

/// Returns the conversation that the first line of a transcript names.
pub(super) fn session(line: &[u8]) -> Option<String> {
    Line::read(line)?.session_id
}

/// Returns when the conversation began whose first line this is.
pub(super) fn began_at(line: &[u8]) -> Option<Timestamp> {
    Line::read(line)?.start_time
}

impl Message {
    pub(super) fn meaning(&self) -> Meaning {
        let text = || self.content.as_ref().map(Content::text).unwrap_or_default();
        match self.kind {
            Kind::User => self.of_user(text()),
            Kind::Gemini => self.of_model(text()),
            Kind::Error => Meaning::Failed(text()),
            Kind::Info if text() == CANCELLED => Meaning::Cancelled,
            Kind::Info | Kind::Other => Meaning::Nothing,
        }
    }

    pub(super) fn tool_calls(&self) -> &[ToolCall] {
        self.tool_calls.as_deref().unwrap_or_default()
    }

    /// Returns what the answer cost, where that is told.
    pub(super) fn usage(&self) -> Option<Usage> {
        let number = |name: &str| self.tokens.get(name).and_then(Value::as_u64);
        Some(Usage { input: number("input")?, output: number("output")? })
    }

    /// Returns the words of a message that is nothing else, and what any other is made of.
    pub(super) fn content(&self) -> (&str, &[Part]) {
        match &self.content {
            Some(Content::Text(text)) => (text, &[]),
            Some(Content::Parts(parts)) => ("", parts),
            None => ("", &[]),
        }
    }

    fn has(&self, is_wanted: impl Fn(&Part) -> bool) -> bool {
        self.content.as_ref().is_some_and(|content| content.parts().iter().any(is_wanted))
    }

    fn of_user(&self, text: String) -> Meaning {
        if self.has(|part| part.function_response.is_some()) {
            return Meaning::ToolResult;
        }
        let begin = text.trim_start();
        if begin.starts_with(CONTEXT) {
            return Meaning::Context;
        }
        if begin.is_empty() || is_addition(begin) { Meaning::Nothing } else { Meaning::Said(text) }
    }

    fn of_model(&self, text: String) -> Meaning {
        if !self.tool_calls().is_empty() || self.has(|part| part.function_call.is_some()) {
            return Meaning::Continues;
        }
        if !text.trim().is_empty() {
            return Meaning::Answered(text);
        }
        // What we put into a new conversation is a thought and nothing else; a call of a tool is
        // noted with nothing in it until the tool has ended.
        let is_thought = self.content.is_none() || self.has(|part| part.thought);
        if is_thought { Meaning::Nothing } else { Meaning::Continues }
    }
}

/// Tells whether a text in the user's place was written by no user.
pub(super) fn is_addition(text: &str) -> bool {
    ADDITIONS.iter().any(|begin| text.trim_start().starts_with(begin))
}

impl Content {
    fn parts(&self) -> &[Part] {
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
