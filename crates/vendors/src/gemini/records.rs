//! The lines of a transcript: the fields that Segue uses.

use jiff::Timestamp;
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::messages::{GeminiMessage, timestamp_or_none};
use crate::shared::reading;

/// One line of a transcript: the header, a message, or a change of earlier lines.
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
    /// All messages of the conversation, if an older version wrote it as one document.
    #[serde(default, deserialize_with = "valid_messages")]
    messages: Option<Vec<GeminiMessage>>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Set {
    session_id: Option<String>,
    last_updated: Option<Timestamp>,
    #[serde(default, deserialize_with = "valid_messages")]
    messages: Option<Vec<GeminiMessage>>,
}

/// What a line reveals about the process that wrote it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WriterProcess {
    /// A process wrote the line when it resumed the conversation.
    AtResume,
    /// A process in which the conversation is open wrote the line at this time.
    At(Timestamp),
}

impl GeminiLine {
    /// Parses a line. `None` if the line is truncated or invalid.
    pub(super) fn read(line: &[u8]) -> Option<Self> {
        let text = String::from_utf8_lossy(line);
        let line: Self = serde_json::from_str(&text).ok()?;
        let is_message = line.set.is_none() && line.messages.is_none();
        let message = if is_message { serde_json::from_str(&text).ok() } else { None };
        Some(Self { message, ..line })
    }

    /// Returns the messages of this line if they replace all earlier lines.
    pub(super) fn replacement(&self) -> Option<&[GeminiMessage]> {
        self.set.as_ref()?.messages.as_deref()
    }

    /// Returns the message of this line.
    pub(super) fn message(&self) -> Option<&GeminiMessage> {
        self.message.as_ref()
    }

    /// Returns what is known about the process that wrote the line. `None` if any process may have
    /// written it: at its start, a process writes summaries into the transcripts of other
    /// processes.
    pub(super) fn written(&self) -> Option<WriterProcess> {
        let set = self.set.as_ref();
        if set.is_some_and(|set| set.session_id.is_some()) {
            return Some(WriterProcess::AtResume);
        }
        let message_time = self.message.as_ref().and_then(|message| message.timestamp);
        let at = message_time.or(self.last_updated).or_else(|| set?.last_updated);
        at.map(WriterProcess::At)
    }

    /// Returns all messages of the line, the oldest first.
    pub(super) fn messages(&self) -> &[GeminiMessage] {
        let added = self.message.as_ref().map(std::slice::from_ref);
        let all = added.or_else(|| self.replacement()).or(self.messages.as_deref());
        all.unwrap_or_default()
    }
}

/// The effect of a line on earlier lines. Parsing it is cheap, because it skips the texts.
#[derive(Debug, Deserialize)]
pub(super) struct LineEffect {
    /// The id of the message in this line. It replaces an earlier message with the same id.
    pub(super) id: Option<String>,
    /// The id of a message that this line undoes, with all messages after it.
    #[serde(rename = "$rewindTo")]
    pub(super) rewind: Option<String>,
    #[serde(default, deserialize_with = "timestamp_or_none")]
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

    /// Returns whether the line replaces all earlier lines.
    pub(super) fn replaces(&self) -> bool {
        let set = self.set.as_ref().and_then(|set| set.messages);
        set.or(self.messages).is_some()
    }
}

/// Parses a list of messages. Skips invalid messages.
fn valid_messages<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Vec<GeminiMessage>>, D::Error> {
    let Some(list) = Option::<&RawValue>::deserialize(deserializer)? else { return Ok(None) };
    let list: Option<Vec<&RawValue>> = serde_json::from_str(list.get()).ok();
    let parse = |raw: &&RawValue| serde_json::from_str(raw.get()).ok();
    Ok(list.map(|list| list.iter().filter_map(parse).collect()))
}

/// Returns the conversation id in the first line of a transcript.
pub(super) fn session(line: &[u8]) -> Option<String> {
    GeminiLine::read(line)?.session_id
}

/// Returns the start time of the conversation in the first line of a transcript.
pub(super) fn began_at(line: &[u8]) -> Option<Timestamp> {
    GeminiLine::read(line)?.start_time
}
