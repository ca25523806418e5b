//! The lines of a transcript, as far as decisions need them. Whatever cannot be read is nothing.

use serde::Deserialize;

/// What Cursor puts around what a person said.
const SAID: (&str, &str) = ("<user_query>", "</user_query>");

/// What stands for thoughts that are not told.
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

#[derive(Deserialize)]
struct Part {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    text: Option<String>,
}

/// What a line means for its turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    Said(String),
    /// The agent goes on: a tool was called.
    Continues,
    Answered(String),
    /// The turn is over, well or not.
    Ended,
    Nothing,
}

/// Reads a line; one that is torn or garbage is nothing.
pub(super) fn meaning(line: &[u8]) -> Meaning {
    match serde_json::from_str(&String::from_utf8_lossy(line)) {
        Ok(Record::Message { role, message }) if role == "user" => Meaning::Said(said(&message)),
        Ok(Record::Message { role, message }) if role == "assistant" => answered(&message),
        Ok(Record::Other { kind, status: Some(_) }) if kind == "turn_ended" => Meaning::Ended,
        _ => Meaning::Nothing,
    }
}

fn said(message: &Message) -> String {
    let text = text(message);
    let query = text.split_once(SAID.0).and_then(|(_, rest)| rest.rsplit_once(SAID.1));
    query.map_or(text.as_str(), |(query, _)| query).trim_matches('\n').to_owned()
}

fn answered(message: &Message) -> Meaning {
    if message.content.iter().any(|part| part.kind == "tool_use") {
        return Meaning::Continues;
    }
    let text = text(message);
    let told = text.trim_end();
    Meaning::Answered(told.strip_suffix(UNTOLD).unwrap_or(told).trim_end().to_owned())
}

fn text(message: &Message) -> String {
    message.content.iter().filter_map(|part| part.text.as_deref()).collect()
}
