//! The lines of a transcript, with the fields that Segue uses. Lines that cannot be parsed are
//! ignored.

use serde::Deserialize;
use serde_json::Value;

use crate::shared::reading;

/// The tags that Cursor puts around a message of the user.
const QUERY_TAGS: (&str, &str) = ("<user_query>", "</user_query>");

/// The text that Cursor records in place of thoughts.
const REDACTED_THOUGHTS: &str = "[REDACTED]";

#[derive(Deserialize)]
#[serde(untagged)]
enum CursorRecord {
    Message {
        role: String,
        message: CursorMessage,
    },
    Other {
        #[serde(rename = "type")]
        kind: String,
        #[serde(default)]
        status: Option<String>,
    },
}

#[derive(Deserialize)]
struct CursorMessage {
    content: Vec<CursorPart>,
}

/// A part of a message.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct CursorPart {
    #[serde(rename = "type")]
    kind: String,
    text: Option<String>,
    pub(super) id: Option<String>,
    name: Option<String>,
    pub(super) input: Option<Value>,
}

impl CursorPart {
    /// Returns the name of the tool if this part is a tool call.
    pub(super) fn tool(&self) -> Option<&str> {
        let is_call = self.kind == "tool_use";
        is_call.then(|| self.name.as_deref().unwrap_or_default())
    }
}

/// The message in a line.
#[derive(Clone, Debug)]
pub(super) enum CursorWords {
    User(String),
    Agent { text: String, parts: Vec<CursorPart> },
}

/// What a line means for its turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CursorMeaning {
    Said(String),
    /// The agent continues: it called a tool.
    Continues,
    Answered(String),
    /// The turn has ended, with or without success.
    Ended,
    Nothing,
}

/// Returns the effect of a line on its turn. A truncated or invalid line has no effect.
pub(super) fn meaning(line: &[u8]) -> CursorMeaning {
    match read(line) {
        Some(CursorRecord::Message { role, message }) if role == "user" => {
            CursorMeaning::Said(user_text(&message))
        }
        Some(CursorRecord::Message { role, message }) if role == "assistant" => {
            assistant_meaning(&message)
        }
        Some(CursorRecord::Other { kind, status: Some(_) }) if kind == "turn_ended" => {
            CursorMeaning::Ended
        }
        _ => CursorMeaning::Nothing,
    }
}

/// Reads the message in a line. `None` if the line contains no message.
pub(super) fn message(line: &[u8]) -> Option<CursorWords> {
    match read(line)? {
        CursorRecord::Message { role, message } if role == "user" => {
            Some(CursorWords::User(user_text(&message)))
        }
        CursorRecord::Message { role, message } if role == "assistant" => {
            Some(CursorWords::Agent { text: answer_text(&message), parts: message.content })
        }
        _ => None,
    }
}

fn read(line: &[u8]) -> Option<CursorRecord> {
    reading::parse_json(line)
}

fn user_text(message: &CursorMessage) -> String {
    let text = text(message);
    let query = text.split_once(QUERY_TAGS.0).and_then(|(_, rest)| rest.rsplit_once(QUERY_TAGS.1));
    query.map_or(text.as_str(), |(query, _)| query).trim_matches('\n').to_owned()
}

fn assistant_meaning(message: &CursorMessage) -> CursorMeaning {
    if message.content.iter().any(|part| part.tool().is_some()) {
        return CursorMeaning::Continues;
    }
    CursorMeaning::Answered(answer_text(message))
}

/// Returns an answer without the placeholder for thoughts.
fn answer_text(message: &CursorMessage) -> String {
    let text = text(message);
    let trimmed = text.trim_end();
    trimmed.strip_suffix(REDACTED_THOUGHTS).unwrap_or(trimmed).trim_end().to_owned()
}

fn text(message: &CursorMessage) -> String {
    message.content.iter().filter_map(|part| part.text.as_deref()).collect()
}
