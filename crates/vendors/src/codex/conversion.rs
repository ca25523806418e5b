//! Writes turns as a rollout. The lines of a new rollout have no ordinals. Lines that are added to
//! an existing rollout have ordinals if its other lines have them.

use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use segue_core::Result;
use segue_core::model::{Role, Tool, Turn};
use segue_core::ports::{Conversion, Files, Target, Transcription, TranscriptionOrder, TurnWriter};
use serde::Deserialize;
use serde_json::{Value, json};

use super::records::{METADATA_FIELD, is_synthetic};
use super::{Codex, launch, paths, settings, transcript};
use crate::shared::writing::write_line;
use crate::shared::{launching, reading};

impl Conversion for Codex {
    fn transcription(&self, order: &TranscriptionOrder<'_>) -> Result<Transcription> {
        if !paths::is_id(order.id.as_str()) {
            return Err(launching::invalid_id(order.id, "the ids of Codex are UUIDs"));
        }
        let (path, writer) = match order.append_to {
            None => new_rollout(order),
            Some(rollout) => {
                let tip = find_tip(order.files, rollout, order.id.as_str())
                    .map_err(|error| reading::unreadable(rollout, error))?;
                (rollout.to_owned(), CodexWriter::new(order, None, tip))
            }
        };
        let target = Target::Transcript(path);
        Ok(Transcription { target, extra_files: Vec::new(), writer: Box::new(writer) })
    }
}

fn new_rollout(order: &TranscriptionOrder<'_>) -> (PathBuf, CodexWriter) {
    let place = order.place;
    let provider = settings::provider(order.files, &place.config_dir, &[]);
    let at = paths::created_at(order.id.as_str()).unwrap_or(order.now);
    let header = launch::header(order.id, at, &place.cwd, &provider);
    let path = paths::prepared(&place.config_dir, order.id.as_str());
    (path, CodexWriter::new(order, Some(header), RolloutTip::default()))
}

/// The end of a rollout to which turns are added.
#[derive(Debug, Default)]
struct RolloutTip {
    length: u64,
    /// The conversation, and the ordinal of the next line. `None` if the lines have no ordinals.
    ordinals: Option<NumberedLine>,
}

#[derive(Debug)]
struct NumberedLine {
    conversation: String,
    next: u64,
}

fn find_tip(files: &dyn Files, rollout: &Path, id: &str) -> io::Result<RolloutTip> {
    let length = files.facts(rollout)?.map_or(0, |facts| facts.length);
    let header = transcript::header(files, rollout);
    let is_numbered = header.as_ref().is_some_and(super::records::RolloutHeader::is_numbered);
    let last = if is_numbered { last_ordinal(files, rollout)? } else { None };
    let conversation = header.map_or_else(|| id.to_owned(), |header| header.id);
    let ordinals = last.map(|last| NumberedLine { conversation, next: last.saturating_add(1) });
    Ok(RolloutTip { length, ordinals })
}

fn last_ordinal(files: &dyn Files, rollout: &Path) -> io::Result<Option<u64>> {
    #[derive(Deserialize)]
    struct TimestampedLine {
        ordinal: u64,
    }
    reading::find_line_back(files, rollout, |line| {
        serde_json::from_slice(line).ok().map(|line: TimestampedLine| line.ordinal)
    })
}

#[derive(Debug)]
struct CodexWriter {
    header: Option<Value>,
    now: Timestamp,
    /// Length of the rollout in bytes. It is part of the ids of turns, so that the ids are new in
    /// the rollout.
    length: u64,
    ordinals: Option<NumberedLine>,
    /// How many of Codex's turns were begun. A turn of Codex is a message of the user and
    /// everything until the next one.
    turns_begun: u64,
    /// How many messages were written as the screen shows them. The number makes their ids unique.
    shown_messages: u64,
    open_turn: Option<OpenTurn>,
}

#[derive(Debug)]
struct OpenTurn {
    began: Timestamp,
    last: Timestamp,
    answer: Option<String>,
}

impl CodexWriter {
    fn new(order: &TranscriptionOrder<'_>, header: Option<Value>, tip: RolloutTip) -> Self {
        let RolloutTip { length, ordinals } = tip;
        Self {
            header,
            now: order.now,
            length,
            ordinals,
            turns_begun: 0,
            shown_messages: 0,
            open_turn: None,
        }
    }

    /// Returns the id of the turn that was begun last.
    fn turn_id(&self) -> String {
        format!("segue-{}-{}", self.length, self.turns_begun)
    }

    fn write(&mut self, at: Timestamp, kind: &str, payload: &Value, out: &mut Vec<u8>) {
        let mut line = json!({"timestamp": format!("{at:.3}"), "type": kind, "payload": payload});
        if let Some(ordinals) = &mut self.ordinals {
            line["ordinal"] = ordinals.next.into();
            ordinals.next = ordinals.next.saturating_add(1);
        }
        write_line(&line, out);
    }

    fn begin_turn(&mut self, at: Timestamp, out: &mut Vec<u8>) {
        self.turns_begun += 1;
        let payload = json!({
            "type": "task_started", "turn_id": self.turn_id(), "started_at": at.as_second(),
            "model_context_window": null, "collaboration_mode_kind": "default",
        });
        self.write(at, "event_msg", &payload, out);
        self.open_turn = Some(OpenTurn { began: at, last: at, answer: None });
    }

    fn end_turn(&mut self, out: &mut Vec<u8>) {
        let Some(open_turn) = self.open_turn.take() else { return };
        let payload = json!({
            "type": "task_complete", "turn_id": self.turn_id(),
            "last_agent_message": open_turn.answer,
            "started_at": open_turn.began.as_second(), "completed_at": open_turn.last.as_second(),
        });
        self.write(open_turn.last, "event_msg", &payload, out);
    }

    /// Writes the record of a message as the screen shows it.
    fn write_shown_message(&mut self, at: Timestamp, content: CodexContent<'_>, out: &mut Vec<u8>) {
        self.shown_messages += 1;
        let payload = match &self.ordinals {
            None => content.as_event(),
            Some(ordinals) => json!({
                "type": "item_completed", "thread_id": ordinals.conversation,
                "turn_id": self.turn_id(),
                "item": content.as_item(&format!("{}-{}", self.turn_id(), self.shown_messages)),
                "started_at_ms": at.as_millisecond(), "completed_at_ms": at.as_millisecond(),
            }),
        };
        self.write(at, "event_msg", &payload, out);
    }
}

#[derive(Clone, Copy)]
enum CodexContent<'a> {
    User(&'a str),
    Assistant(&'a str),
}

impl CodexContent<'_> {
    /// Returns the event for a rollout without ordinals.
    fn as_event(self) -> Value {
        match self {
            Self::User(text) => json!({
                "type": "user_message", "message": text,
                "images": [], "local_images": [], "text_elements": [],
            }),
            Self::Assistant(text) => json!({"type": "agent_message", "message": text}),
        }
    }

    /// Returns the item for a rollout with ordinals.
    fn as_item(self, id: &str) -> Value {
        match self {
            Self::User(text) => json!({"type": "UserMessage", "id": id, "content": [
                {"type": "text", "text": text, "text_elements": []},
            ]}),
            Self::Assistant(text) => json!({"type": "AgentMessage", "id": id, "content": [
                {"type": "Text", "text": text},
            ]}),
        }
    }
}

impl TurnWriter for CodexWriter {
    fn begin(&mut self, out: &mut Vec<u8>) {
        if let Some(header) = self.header.take() {
            write_line(&header, out);
        }
    }

    fn turn(&mut self, turn: &Turn, out: &mut Vec<u8>) {
        let at = turn.at.unwrap_or(self.now);
        if matches!(turn.role, Role::User | Role::Summary) {
            self.end_turn(out);
        }
        if self.open_turn.is_none() {
            self.begin_turn(at, out);
        }
        match turn.role {
            Role::User | Role::Summary => {
                self.write_shown_message(at, CodexContent::User(&turn.text), out);
            }
            Role::Assistant => {
                self.write_shown_message(at, CodexContent::Assistant(&turn.text), out);
            }
            Role::ToolCall | Role::ToolResult => {}
        }
        self.write(at, "response_item", &item_of(turn), out);
        if let Some(open_turn) = &mut self.open_turn {
            open_turn.last = at;
            if turn.role == Role::Assistant {
                open_turn.answer = Some(turn.text.clone());
            }
        }
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        self.end_turn(out);
    }
}

/// Converts a turn to an item of the model's history.
fn item_of(turn: &Turn) -> Value {
    let tool = turn.tool.clone();
    let tool = || tool.unwrap_or(Tool { id: String::new(), name: String::new(), failed: false });
    match turn.role {
        Role::User | Role::Summary => user_item(&turn.text),
        Role::Assistant => json!({"type": "message", "role": "assistant", "content": [
            {"type": "output_text", "text": turn.text},
        ]}),
        Role::ToolCall => {
            let Tool { id, name, .. } = tool();
            let arguments = reading::arguments(&turn.text);
            json!({
                "type": "function_call", "name": name, "arguments": arguments.get(), "call_id": id,
            })
        }
        Role::ToolResult => {
            let Tool { id, failed, .. } = tool();
            // Codex ignores whether the tool failed, but other readers of the rollout may need it.
            json!({
                "type": "function_call_output", "call_id": id, "output": turn.text,
                "success": !failed,
            })
        }
    }
}

fn user_item(text: &str) -> Value {
    let mut item = json!({"type": "message", "role": "user", "content": [
        {"type": "input_text", "text": text},
    ]});
    if is_synthetic(text) {
        item[METADATA_FIELD] = json!({"content_item_kinds": ["user.text"]});
    }
    item
}
