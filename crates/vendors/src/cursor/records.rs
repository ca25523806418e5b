//! The lines of a transcript, as far as decisions need them. Lines that cannot be parsed are
//! ignored.

use serde::Deserialize;
use serde_json::Value;

/// The tags that Cursor puts around a person's message.
const SAID: (&str, &str) = ("<user_query>", "</user_query>");

/// Placeholder for thoughts that Cursor does not record.
const UNTOLD: &str = "[REDACTED]";

#[derive(Deserialize)]
#[serde(untagged)]
enum Record {
    Message {
        role: String,
        message: Message,
    },
    Other {
        #[serde(rename = "type")]
        kind: String,
        #[serde(default)]
        status: Option<String>,
    },
}

#[derive(Deserialize)]
struct Message {
    content: Vec<Part>,
}

/// A part of a message.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Part {
    #[serde(rename = "type")]
    kind: String,
    text: Option<String>,
    pub(super) id: Option<String>,
    name: Option<String>,
    pub(super) input: Option<Value>,
}

impl Part {
    /// Returns the name of the tool if this part is a tool call.
    pub(super) fn tool(&self) -> Option<&str> {
        let is_call = self.kind == "tool_use";
        is_call.then(|| self.name.as_deref().unwrap_or_default())
    }
}

/// The message in a line.
#[derive(Clone, Debug)]
pub(super) enum Words {
    OfUser(String),
    OfAgent { text: String, parts: Vec<Part> },
}

/// What a line means for its turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    Said(String),
    /// The agent continues: it called a tool.
    Continues,
    Answered(String),
    /// The turn has ended, with or without success.
    Ended,
    Nothing,
}

/// Reads what a line means for its turn. A truncated or invalid line means nothing.
pub(super) fn meaning(line: &[u8]) -> Meaning {
    match read(line) {
        Some(Record::Message { role, message }) if role == "user" => Meaning::Said(said(&message)),
        Some(Record::Message { role, message }) if role == "assistant" => answered(&message),
        Some(Record::Other { kind, status: Some(_) }) if kind == "turn_ended" => Meaning::Ended,
        _ => Meaning::Nothing,
    }
}

/// Reads the message in a line. `None` if the line contains none.
pub(super) fn words(line: &[u8]) -> Option<Words> {
    match read(line)? {
        Record::Message { role, message } if role == "user" => Some(Words::OfUser(said(&message))),
        Record::Message { role, message } if role == "assistant" => {
            Some(Words::OfAgent { text: told(&message), parts: message.content })
        }
        _ => None,
    }
}

fn read(line: &[u8]) -> Option<Record> {
    serde_json::from_str(&String::from_utf8_lossy(line)).ok()
}

fn said(message: &Message) -> String {
    let text = text(message);
    let query = text.split_once(SAID.0).and_then(|(_, rest)| rest.rsplit_once(SAID.1));
    query.map_or(text.as_str(), |(query, _)| query).trim_matches('\n').to_owned()
}

fn answered(message: &Message) -> Meaning {
    if message.content.iter().any(|part| part.tool().is_some()) {
        return Meaning::Continues;
    }
    Meaning::Answered(told(message))
}

/// Returns an answer without the placeholder for thoughts.
fn told(message: &Message) -> String {
    let text = text(message);
    let told = text.trim_end();
    told.strip_suffix(UNTOLD).unwrap_or(told).trim_end().to_owned()
}

fn text(message: &Message) -> String {
    message.content.iter().filter_map(|part| part.text.as_deref()).collect()
}
