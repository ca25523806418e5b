//! Writes turns as a transcript of Claude Code.

use jiff::Timestamp;
use segue_core::Result;
use segue_core::model::{Role, Turn};
use segue_core::ports::{Conversion, Target, Transcription, TranscriptionOrder, TurnWriter};
use serde::Serialize;
use serde_json::json;
use serde_json::value::RawValue;
use uuid::Builder;

use super::records::SYNTHETIC_MODEL;
use super::{Claude, paths, tip};
use crate::shared::reading;
use crate::shared::writing::write_line;

/// Name of the model in messages whose model is not known. Claude Code hangs if a message names no
/// model.
const UNKNOWN_MODEL: &str = "unknown";

impl Conversion for Claude {
    fn transcription(&self, order: &TranscriptionOrder<'_>) -> Result<Transcription> {
        let parent = match order.append_to {
            Some(path) => tip::find(order.files, path)?,
            None => None,
        };
        let place = order.place;
        let path = paths::transcript(&place.config_dir, &place.cwd, order.id.as_str());
        let writer = ClaudeWriter {
            seed: format!(
                "{}\n{}\n{}\n",
                order.id,
                parent.as_deref().unwrap_or_default(),
                order.now
            ),
            count: 0,
            parent,
            title: order.append_to.is_none().then(|| order.title.to_owned()),
            session: order.id.to_string(),
            cwd: place.cwd.display().to_string(),
            model: order.model.unwrap_or(UNKNOWN_MODEL).to_owned(),
            now: order.now,
        };
        Ok(Transcription {
            target: Target::Transcript(path),
            extra_files: Vec::new(),
            writer: Box::new(writer),
        })
    }
}

#[derive(Debug)]
struct ClaudeWriter {
    /// Makes the UUIDs of this writer unique.
    seed: String,
    /// How many records were written.
    count: u64,
    /// UUID of the record that was written last, or of the record to continue from.
    parent: Option<String>,
    title: Option<String>,
    session: String,
    cwd: String,
    model: String,
    now: Timestamp,
}

impl TurnWriter for ClaudeWriter {
    fn begin(&mut self, out: &mut Vec<u8>) {
        if let Some(title) = self.title.take().filter(|title| !title.is_empty()) {
            let record = json!({
                "type": "custom-title", "customTitle": title, "sessionId": self.session,
            });
            write_line(&record, out);
        }
    }

    fn turn(&mut self, turn: &Turn, out: &mut Vec<u8>) {
        let is_text = matches!(turn.role, Role::User | Role::Summary | Role::Assistant);
        // The service rejects messages without text.
        if is_text && turn.text.trim().is_empty() {
            return;
        }
        self.count += 1;
        let uuid = derive_uuid(&self.seed, self.count);
        let arguments;
        let content = match (turn.role, &turn.tool) {
            (Role::ToolCall, Some(tool)) => {
                arguments = reading::arguments(&turn.text);
                NewClaudeBlock::ToolUse { id: &tool.id, name: &tool.name, input: &arguments }
            }
            (Role::ToolResult, Some(tool)) => NewClaudeBlock::ToolResult {
                tool_use_id: &tool.id,
                content: &turn.text,
                is_error: tool.failed,
            },
            _ => NewClaudeBlock::Text { text: &turn.text },
        };
        let record = NewClaudeRecord {
            parent_uuid: self.parent.as_deref(),
            is_sidechain: false,
            kind: if is_from_model(turn.role) { "assistant" } else { "user" },
            message: self.message(turn, &uuid, content),
            // Marks the text as a message of the user, even if it looks like a text that Claude
            // Code adds.
            origin: is_from_user(turn.role).then_some(NewClaudeOrigin { kind: "human" }),
            uuid: &uuid,
            timestamp: format!("{:.3}", turn.at.unwrap_or(self.now)),
            user_type: "external",
            cwd: &self.cwd,
            session_id: &self.session,
        };
        write_line(&record, out);
        self.parent = Some(uuid);
    }

    fn end(&mut self, _out: &mut Vec<u8>) {}
}

impl ClaudeWriter {
    fn message<'a>(
        &'a self,
        turn: &'a Turn,
        uuid: &str,
        content: NewClaudeBlock<'a>,
    ) -> NewClaudeMessage<'a> {
        if !is_from_model(turn.role) {
            return NewClaudeMessage { role: "user", content: [content], author: None };
        }
        let model =
            turn.model.as_deref().filter(|model| !model.is_empty() && *model != SYNTHETIC_MODEL);
        let author = Author {
            id: format!("msg_{}", uuid.replace('-', "")),
            kind: "message",
            model: model.unwrap_or(&self.model),
            stop_reason: if turn.role == Role::ToolCall { "tool_use" } else { "end_turn" },
        };
        NewClaudeMessage { role: "assistant", content: [content], author: Some(author) }
    }
}

fn is_from_model(role: Role) -> bool {
    matches!(role, Role::Assistant | Role::ToolCall)
}

fn is_from_user(role: Role) -> bool {
    matches!(role, Role::User | Role::Summary)
}

/// Derives a UUID with a hash (FNV-1a). The same input always gets the same UUID.
fn derive_uuid(seed: &str, count: u64) -> String {
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    const OFFSET_BASIS: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    let add = |hash: u128, byte: u8| (hash ^ u128::from(byte)).wrapping_mul(PRIME);
    let hash = seed.bytes().chain(count.to_be_bytes()).fold(OFFSET_BASIS, add);
    Builder::from_random_bytes(hash.to_be_bytes()).into_uuid().to_string()
}

/// A record. The order of the fields matters: in large files, Claude Code searches for the bytes of
/// the fields. The parent comes first, and the timestamp right after the UUID.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct NewClaudeRecord<'a> {
    parent_uuid: Option<&'a str>,
    is_sidechain: bool,
    #[serde(rename = "type")]
    kind: &'static str,
    message: NewClaudeMessage<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    origin: Option<NewClaudeOrigin>,
    uuid: &'a str,
    timestamp: String,
    user_type: &'static str,
    cwd: &'a str,
    session_id: &'a str,
}

#[derive(Serialize)]
struct NewClaudeOrigin {
    kind: &'static str,
}

#[derive(Serialize)]
struct NewClaudeMessage<'a> {
    role: &'static str,
    content: [NewClaudeBlock<'a>; 1],
    #[serde(flatten)]
    author: Option<Author<'a>>,
}

/// The fields that only messages of the model have. Claude Code treats all messages without an id
/// as one message.
#[derive(Serialize)]
struct Author<'a> {
    id: String,
    #[serde(rename = "type")]
    kind: &'static str,
    model: &'a str,
    stop_reason: &'static str,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum NewClaudeBlock<'a> {
    Text { text: &'a str },
    ToolUse { id: &'a str, name: &'a str, input: &'a RawValue },
    ToolResult { tool_use_id: &'a str, content: &'a str, is_error: bool },
}

#[cfg(test)]
mod tests;
