//! The words by which agents of all sorts say what a part of a record is.

use jiff::Timestamp;
use serde_json::{Map, Value};

pub(super) type Fields = Map<String, Value>;

/// Fields that say who speaks, the surest first.
const WHO: [&str; 7] = ["role", "sender", "author", "from", "speaker", "type", "kind"];

const TIMES: [&str; 9] =
    ["timestamp", "time", "at", "created_at", "createdAt", "create_time", "created", "date", "ts"];

/// Who a message is from, or what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Speaker {
    User,
    Assistant,
    Call,
    Result,
    Summary,
    /// Somebody whose words are no turns.
    Silent,
}

impl Speaker {
    /// Reads who speaks from whichever field says so.
    pub(super) fn of(fields: &Fields) -> Option<Self> {
        WHO.into_iter().find_map(|name| match fields.get(name)? {
            Value::String(word) => Self::named(word),
            Value::Object(inner) => ["role", "type", "name"]
                .into_iter()
                .find_map(|name| Self::named(inner.get(name)?.as_str()?)),
            _ => None,
        })
    }

    fn named(word: &str) -> Option<Self> {
        match plain(word).as_str() {
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

/// Returns a word without what is written differently by everybody.
fn plain(word: &str) -> String {
    word.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

/// Returns what a part of a message says that it is.
pub(super) fn kind(fields: &Fields) -> String {
    plain(text_of(fields, &["type", "kind"]).unwrap_or_default())
}

/// Returns the first of these fields that is there.
pub(super) fn first<'a>(fields: &'a Fields, names: &[&str]) -> Option<&'a Value> {
    names.iter().find_map(|name| fields.get(*name).filter(|value| !value.is_null()))
}

pub(super) fn text_of<'a>(fields: &'a Fields, names: &[&str]) -> Option<&'a str> {
    names.iter().find_map(|name| fields.get(*name)?.as_str())
}

/// Tells whether one of these fields is true.
pub(super) fn is_so(fields: &Fields, names: &[&str]) -> bool {
    names.iter().any(|name| fields.get(*name) == Some(&Value::Bool(true)))
}

/// Reads when something was said.
pub(super) fn time(fields: &Fields) -> Option<Timestamp> {
    TIMES.into_iter().find_map(|name| match fields.get(name)? {
        Value::String(text) => text.parse().ok(),
        Value::Number(number) => since_epoch(number.as_f64()?),
        _ => None,
    })
}

/// Reads seconds or milliseconds since 1970: no agent is as old as the milliseconds of this many
/// seconds would be.
fn since_epoch(number: f64) -> Option<Timestamp> {
    let seconds = if number.abs() < 1e11 { number } else { number / 1000.0 };
    let since = jiff::SignedDuration::try_from_secs_f64(seconds).ok()?;
    Timestamp::from_duration(since).ok()
}
