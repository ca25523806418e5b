//! Writes turns as a Pi transcript.

use std::ops::ControlFlow;
use std::path::Path;

use jiff::Timestamp;
use segue_core::Result;
use segue_core::model::{Role, Turn};
use segue_core::ports::{Conversion, Files, Target, Transcription, TranscriptionOrder, TurnWriter};
use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::RawValue;

use super::records::PiRecord;
use super::{Pi, launch, paths, tree};
use crate::shared::hash::fnv1a;
use crate::shared::reading::{self, TranscriptLine};
use crate::shared::writing::write_line;

/// The name of an unknown provider, API or model.
pub(super) const UNKNOWN: &str = "none";

/// How many bytes from the end are searched for the model of a conversation.
const SEARCHED_BYTES: usize = 1024 * 1024;

/// How many bytes of the settings file are read.
const SETTINGS_LIMIT_BYTES: usize = 1024 * 1024;

impl Conversion for Pi {
    fn transcription(&self, order: &TranscriptionOrder<'_>) -> Result<Transcription> {
        let place = order.place;
        let (path, parent, model) = match order.append_to {
            Some(path) => {
                (path.to_owned(), tree::tip(order.files, path)?, model_of(order.files, path)?)
            }
            None => {
                let path = paths::transcript(order.files, place, order.id.as_str());
                let tip = Some(launch::PREPARED_TIP.to_owned());
                (path, tip, default_model(order.files, &place.config_dir))
            }
        };
        let began = paths::began_at(order.id.as_str()).unwrap_or(order.now);
        let beginning = order
            .append_to
            .is_none()
            .then(|| launch::prepared_transcript(order.id, &place.cwd, began));
        let writer = PiWriter {
            seed: format!(
                "{}\n{}\n{}\n",
                order.id,
                parent.as_deref().unwrap_or_default(),
                order.now
            ),
            count: 0,
            parent,
            title: beginning.is_some().then(|| order.title.to_owned()),
            beginning,
            model: model.filter(|_| order.model.is_none()),
            called_tool: String::new(),
            now: order.now,
        };
        Ok(Transcription {
            target: Target::Transcript(path),
            extra_files: Vec::new(),
            writer: Box::new(writer),
        })
    }
}

/// Returns the last provider and model of a conversation.
fn model_of(files: &dyn Files, path: &Path) -> Result<Option<(String, String)>> {
    let (mut found, mut bytes_left) = (None, SEARCHED_BYTES);
    let check = |line: TranscriptLine<'_>| {
        bytes_left = bytes_left.saturating_sub(line.bytes.len());
        let model = PiRecord::read(line.bytes).and_then(PiRecord::model);
        found = model.filter(|(provider, _)| provider != UNKNOWN);
        if found.is_some() || bytes_left == 0 {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    reading::each_line_back(files, path, check)
        .map_err(|error| reading::unreadable(path, error))?;
    Ok(found)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PiModelSettings {
    default_provider: String,
    default_model: String,
}

/// Returns the user's default provider and model.
fn default_model(files: &dyn Files, config_dir: &Path) -> Option<(String, String)> {
    let bytes = files.head(&config_dir.join("settings.json"), SETTINGS_LIMIT_BYTES).ok()?;
    let settings: PiModelSettings = serde_json::from_slice(&bytes).ok()?;
    Some((settings.default_provider, settings.default_model))
}

/// Writes turns as entries of a transcript.
#[derive(Debug)]
struct PiWriter {
    /// Makes the entry ids of this writer unique.
    seed: String,
    count: u64,
    /// The id of the last entry, which is the parent of the next entry.
    parent: Option<String>,
    beginning: Option<String>,
    title: Option<String>,
    /// The model with which the conversation continues. Otherwise, Pi would use the model of the
    /// last answer, which may be unknown to Pi.
    model: Option<(String, String)>,
    /// The name of the last tool call.
    called_tool: String,
    now: Timestamp,
}

impl TurnWriter for PiWriter {
    fn begin(&mut self, out: &mut Vec<u8>) {
        out.extend(self.beginning.take().unwrap_or_default().bytes());
        if let Some(name) = self.title.take().filter(|title| !title.is_empty()) {
            self.write_entry(
                "session_info",
                self.now,
                NewPiBody::Other(json!({ "name": name })),
                out,
            );
        }
    }

    fn turn(&mut self, turn: &Turn, out: &mut Vec<u8>) {
        let at = turn.at.unwrap_or(self.now);
        let is_text = matches!(turn.role, Role::User | Role::Summary | Role::Assistant);
        // Services reject empty messages.
        if is_text && turn.text.trim().is_empty() {
            return;
        }
        let text = [NewPiPart::Text { text: &turn.text }];
        let timestamp = at.as_millisecond();
        match (turn.role, &turn.tool) {
            (Role::ToolCall, Some(tool)) => {
                self.called_tool.clone_from(&tool.name);
                let arguments = reading::arguments(&turn.text);
                let call =
                    [NewPiPart::ToolCall { id: &tool.id, name: &tool.name, arguments: &arguments }];
                self.write_entry("message", at, answer_body(turn, call, timestamp), out);
            }
            (Role::ToolResult, Some(tool)) => {
                let name = Some(&tool.name).filter(|name| !name.is_empty()).cloned();
                let result = NewPiMessage::ToolResult {
                    tool_call_id: &tool.id,
                    tool_name: &name.unwrap_or_else(|| self.called_tool.clone()),
                    content: text,
                    is_error: tool.failed,
                    timestamp,
                };
                self.write_entry("message", at, NewPiBody::Message { message: result }, out);
            }
            (Role::User | Role::Summary, _) => {
                let message = NewPiMessage::User { content: text, timestamp };
                self.write_entry("message", at, NewPiBody::Message { message }, out);
            }
            _ => self.write_entry("message", at, answer_body(turn, text, timestamp), out),
        }
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        if let Some((provider, model)) = self.model.take().filter(|_| self.count > 0) {
            let change = json!({ "provider": provider, "modelId": model });
            self.write_entry("model_change", self.now, NewPiBody::Other(change), out);
        }
    }
}

impl PiWriter {
    fn write_entry(&mut self, kind: &str, at: Timestamp, body: NewPiBody<'_>, out: &mut Vec<u8>) {
        self.count += 1;
        let id = format!("{:016x}", fnv1a(format!("{}{}", self.seed, self.count).as_bytes()));
        let parent_id = self.parent.as_deref();
        let entry = NewPiEntry { kind, id: &id, parent_id, timestamp: format!("{at:.3}"), body };
        write_line(&entry, out);
        self.parent = Some(id);
    }
}

fn answer_body<'a>(turn: &'a Turn, content: [NewPiPart<'a>; 1], timestamp: i64) -> NewPiBody<'a> {
    let model = turn.model.as_deref().filter(|model| !model.is_empty()).unwrap_or(UNKNOWN);
    let stop_reason = if turn.role == Role::ToolCall { "toolUse" } else { "stop" };
    let message = NewPiMessage::Assistant {
        content,
        api: UNKNOWN,
        provider: UNKNOWN,
        model,
        usage: NewPiUsage::default(),
        stop_reason,
        timestamp,
    };
    NewPiBody::Message { message }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct NewPiEntry<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    id: &'a str,
    parent_id: Option<&'a str>,
    timestamp: String,
    #[serde(flatten)]
    body: NewPiBody<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum NewPiBody<'a> {
    Message { message: NewPiMessage<'a> },
    Other(serde_json::Value),
}

#[derive(Serialize)]
#[serde(tag = "role", rename_all = "camelCase", rename_all_fields = "camelCase")]
enum NewPiMessage<'a> {
    User {
        content: [NewPiPart<'a>; 1],
        timestamp: i64,
    },
    Assistant {
        content: [NewPiPart<'a>; 1],
        api: &'static str,
        provider: &'static str,
        model: &'a str,
        usage: NewPiUsage,
        stop_reason: &'static str,
        timestamp: i64,
    },
    ToolResult {
        tool_call_id: &'a str,
        tool_name: &'a str,
        content: [NewPiPart<'a>; 1],
        is_error: bool,
        timestamp: i64,
    },
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "camelCase")]
enum NewPiPart<'a> {
    Text { text: &'a str },
    ToolCall { id: &'a str, name: &'a str, arguments: &'a RawValue },
}

/// The token usage that Pi requires. The real values are unknown, so all are zero.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct NewPiUsage {
    input: u64,
    output: u64,
    cache_read: u64,
    cache_write: u64,
    total_tokens: u64,
    cost: NewPiCost,
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct NewPiCost {
    input: u64,
    output: u64,
    cache_read: u64,
    cache_write: u64,
    total: u64,
}

#[cfg(test)]
mod tests;
