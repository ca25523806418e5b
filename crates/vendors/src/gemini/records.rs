//! The lines of a transcript, as far as they mean anything here.

use jiff::Timestamp;
use serde::Deserialize;
use serde::de::IgnoredAny;

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
    #[serde(flatten)]
    message: Option<Message>,
    #[serde(rename = "$set")]
    set: Option<Set>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Set {
    session_id: Option<String>,
    last_updated: Option<Timestamp>,
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
    #[serde(rename = "type")]
    kind: Kind,
    pub(super) timestamp: Option<Timestamp>,
    content: Option<Content>,
    #[serde(default)]
    tool_calls: Vec<IgnoredAny>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    User,
    Gemini,
    Error,
    Info,
    #[serde(other)]
    Other,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    Parts(Vec<Part>),
    Part(Part),
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Part {
    text: Option<String>,
    #[serde(default)]
    thought: bool,
    function_call: Option<IgnoredAny>,
    function_response: Option<IgnoredAny>,
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
        serde_json::from_str(&String::from_utf8_lossy(line)).ok()
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
        added.or_else(|| self.replacement()).unwrap_or_default()
    }
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
        let is_added = begin.is_empty() || ADDITIONS.iter().any(|it| begin.starts_with(it));
        if is_added { Meaning::Nothing } else { Meaning::Said(text) }
    }

    fn of_model(&self, text: String) -> Meaning {
        if !self.tool_calls.is_empty() || self.has(|part| part.function_call.is_some()) {
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

impl Content {
    fn parts(&self) -> &[Part] {
        match self {
            Self::Text(_) => &[],
            Self::Parts(parts) => parts,
            Self::Part(part) => std::slice::from_ref(part),
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
