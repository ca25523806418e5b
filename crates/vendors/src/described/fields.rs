//! Reads fields of a record, for which various agents use different names.

use jiff::Timestamp;
use serde_json::{Map, Value};

pub(super) type Fields = Map<String, Value>;

/// Fields that name the author of a message, the most reliable first.
const AUTHOR_FIELDS: [&str; 7] = ["role", "sender", "author", "from", "speaker", "type", "kind"];

const TIME_FIELDS: [&str; 9] =
    ["timestamp", "time", "at", "created_at", "createdAt", "create_time", "created", "date", "ts"];

/// The author or the type of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Speaker {
    User,
    Assistant,
    Call,
    Result,
    Summary,
    /// An author whose messages are no turns, such as the system.
    Silent,
}

impl Speaker {
    /// Returns the author in the first field that contains a known name.
    pub(super) fn of(fields: &Fields) -> Option<Self> {
        AUTHOR_FIELDS.into_iter().find_map(|name| match fields.get(name)? {
            Value::String(word) => Self::from_word(word),
            Value::Object(inner) => ["role", "type", "name"]
                .into_iter()
                .find_map(|name| Self::from_word(inner.get(name)?.as_str()?)),
            _ => None,
        })
    }

    fn from_word(word: &str) -> Option<Self> {
        match simplified(word).as_str() {
            "user" | "human" | "person" | "you" | "me" | "usermessage" | "userinput"
            | "humanmessage" => Some(Self::User),
            "assistant" | "ai" | "model" | "bot" | "agent" | "gpt" | "chatgpt" | "llm"
            | "claude" | "gemini" | "assistantmessage" | "agentmessage" | "aimessage" => {
                Some(Self::Assistant)
            }
            "toolcall" | "tooluse" | "functioncall" => Some(Self::Call),
            "tool" | "function" | "toolresult" | "tooloutput" | "toolmessage"
            | "functionresponse" | "functioncalloutput" | "observation" => Some(Self::Result),
            "summary" | "compaction" | "compactsummary" => Some(Self::Summary),
            "system" | "developer" | "instructions" => Some(Self::Silent),
            _ => None,
        }
    }
}

/// Returns a word in lower case and without punctuation, so that `tool_use` equals `toolUse`.
fn simplified(word: &str) -> String {
    word.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

/// Returns the type of a part of a message.
pub(super) fn kind(fields: &Fields) -> String {
    simplified(text(fields, &["type", "kind"]).unwrap_or_default())
}

/// Returns the value of the first of these fields that exists and is not null.
pub(super) fn first<'a>(fields: &'a Fields, names: &[&str]) -> Option<&'a Value> {
    names.iter().find_map(|name| fields.get(*name).filter(|value| !value.is_null()))
}

pub(super) fn text<'a>(fields: &'a Fields, names: &[&str]) -> Option<&'a str> {
    names.iter().find_map(|name| fields.get(*name)?.as_str())
}

/// Returns whether one of these fields is true.
pub(super) fn is_true(fields: &Fields, names: &[&str]) -> bool {
    names.iter().any(|name| fields.get(*name) == Some(&Value::Bool(true)))
}

/// Parses the time of a message.
pub(super) fn time(fields: &Fields) -> Option<Timestamp> {
    TIME_FIELDS.into_iter().find_map(|name| match fields.get(name)? {
        Value::String(text) => text.parse().ok(),
        Value::Number(number) => since_epoch(number.as_f64()?),
        _ => None,
    })
}

/// Converts seconds or milliseconds since 1970 to a timestamp. A number of at least 1e11 is
/// milliseconds: as seconds, it would be after the year 5000. A smaller number is seconds: as
/// milliseconds, it would be before 1974.
fn since_epoch(number: f64) -> Option<Timestamp> {
    let seconds = if number.abs() < 1e11 { number } else { number / 1000.0 };
    let since = jiff::SignedDuration::try_from_secs_f64(seconds).ok()?;
    Timestamp::from_duration(since).ok()
}
