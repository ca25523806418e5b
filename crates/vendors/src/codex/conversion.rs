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

use super::records::{NOTES, is_synthetic};
use super::{Codex, launch, paths, settings, transcript};
use crate::shared::writing::write_line;
use crate::shared::{launching, reading};

impl Conversion for Codex {
    fn transcription(&self, order: &TranscriptionOrder<'_>) -> Result<Transcription> {
        if !paths::is_id(order.id.as_str()) {
            return Err(launching::invalid_id(order.id, "the ids of Codex are UUIDs"));
        }
        let (path, writer) = match order.onto {
            None => begun(order),
            Some(rollout) => {
                let tip = tip(order.files, rollout, order.id.as_str())
                    .map_err(|error| reading::unreadable(rollout, error))?;
                (rollout.to_owned(), CodexWriter::new(order, None, tip))
            }
        };
        let target = Target::Transcript(path);
        Ok(Transcription { target, beside: Vec::new(), writer: Box::new(writer) })
    }
}

fn begun(order: &TranscriptionOrder<'_>) -> (PathBuf, CodexWriter) {
    let place = order.place;
    let provider = settings::provider(order.files, &place.config_dir, &[]);
    let at = paths::began_at(order.id.as_str()).unwrap_or(order.now);
    let header = launch::header(order.id, at, &place.cwd, &provider);
    let path = paths::prepared(&place.config_dir, order.id.as_str());
    (path, CodexWriter::new(order, Some(header), RolloutTip::default()))
}

/// The end of a rollout to which turns are added.
#[derive(Debug, Default)]
struct RolloutTip {
    length: u64,
    /// If the lines have ordinals: the conversation, and the ordinal of the next line.
    numbered: Option<NumberedLine>,
}

#[derive(Debug)]
struct NumberedLine {
    conversation: String,
    next: u64,
}

fn tip(files: &dyn Files, rollout: &Path, id: &str) -> io::Result<RolloutTip> {
    let length = files.facts(rollout)?.map_or(0, |facts| facts.length);
    let meta = transcript::meta(files, rollout);
    let is_numbered = meta.as_ref().is_some_and(super::records::RolloutHeader::is_numbered);
    let last = if is_numbered { last_number(files, rollout)? } else { None };
    let conversation = meta.map_or_else(|| id.to_owned(), |meta| meta.id);
    let numbered = last.map(|last| NumberedLine { conversation, next: last.saturating_add(1) });
    Ok(RolloutTip { length, numbered })
}

fn last_number(files: &dyn Files, rollout: &Path) -> io::Result<Option<u64>> {
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
    /// Length of the rollout in bytes. It is part of the turns' names, so that they are new in the
    /// rollout.
    length: u64,
    numbered: Option<NumberedLine>,
    /// How many of Codex's turns were begun. Each of them is a message of the user and everything
    /// that follows from it.
    count: u64,
    /// How many records of shown messages were written. The number makes their ids unique.
    shown: u64,
    open: Option<OpenTurn>,
}

#[derive(Debug)]
struct OpenTurn {
    began: Timestamp,
    last: Timestamp,
    answer: Option<String>,
}

impl CodexWriter {
    fn new(order: &TranscriptionOrder<'_>, header: Option<Value>, tip: RolloutTip) -> Self {
        let RolloutTip { length, numbered } = tip;
        Self { header, now: order.now, length, numbered, count: 0, shown: 0, open: None }
    }

    /// Returns the id of the turn that was begun last.
    fn name(&self) -> String {
        format!("segue-{}-{}", self.length, self.count)
    }

    fn line(&mut self, at: Timestamp, kind: &str, payload: &Value, out: &mut Vec<u8>) {
        let mut line = json!({"timestamp": format!("{at:.3}"), "type": kind, "payload": payload});
        if let Some(numbered) = &mut self.numbered {
            line["ordinal"] = numbered.next.into();
            numbered.next = numbered.next.saturating_add(1);
        }
        write_line(&line, out);
    }

    fn open(&mut self, at: Timestamp, out: &mut Vec<u8>) {
        self.count += 1;
        let payload = json!({
            "type": "task_started", "turn_id": self.name(), "started_at": at.as_second(),
            "model_context_window": null, "collaboration_mode_kind": "default",
        });
        self.line(at, "event_msg", &payload, out);
        self.open = Some(OpenTurn { began: at, last: at, answer: None });
    }

    fn close(&mut self, out: &mut Vec<u8>) {
        let Some(open) = self.open.take() else { return };
        let payload = json!({
            "type": "task_complete", "turn_id": self.name(), "last_agent_message": open.answer,
            "started_at": open.began.as_second(), "completed_at": open.last.as_second(),
        });
        self.line(open.last, "event_msg", &payload, out);
    }

    /// Writes the record of a message as the screen shows it.
    fn show(&mut self, at: Timestamp, shown: CodexContent<'_>, out: &mut Vec<u8>) {
        self.shown += 1;
        let payload = match &self.numbered {
            None => shown.plainly(),
            Some(numbered) => json!({
                "type": "item_completed", "thread_id": numbered.conversation,
                "turn_id": self.name(),
                "item": shown.as_item(&format!("{}-{}", self.name(), self.shown)),
                "started_at_ms": at.as_millisecond(), "completed_at_ms": at.as_millisecond(),
            }),
        };
        self.line(at, "event_msg", &payload, out);
    }
}

#[derive(Clone, Copy)]
enum CodexContent<'a> {
    User(&'a str),
    Assistant(&'a str),
}

impl CodexContent<'_> {
    fn plainly(self) -> Value {
        match self {
            Self::User(text) => json!({
                "type": "user_message", "message": text,
                "images": [], "local_images": [], "text_elements": [],
            }),
            Self::Assistant(text) => json!({"type": "agent_message", "message": text}),
        }
    }

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
            self.close(out);
        }
        if self.open.is_none() {
            self.open(at, out);
        }
        match turn.role {
            Role::User | Role::Summary => self.show(at, CodexContent::User(&turn.text), out),
            Role::Assistant => self.show(at, CodexContent::Assistant(&turn.text), out),
            Role::ToolCall | Role::ToolResult => {}
        }
        self.line(at, "response_item", &item(turn), out);
        if let Some(open) = &mut self.open {
            open.last = at;
            if turn.role == Role::Assistant {
                open.answer = Some(turn.text.clone());
            }
        }
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        self.close(out);
    }
}

/// Returns a turn as an item of the model's history.
fn item(turn: &Turn) -> Value {
    let tool = turn.tool.clone();
    let tool = || tool.unwrap_or(Tool { id: String::new(), name: String::new(), failed: false });
    match turn.role {
        Role::User | Role::Summary => users(&turn.text),
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

fn users(text: &str) -> Value {
    let mut item = json!({"type": "message", "role": "user", "content": [
        {"type": "input_text", "text": text},
    ]});
    if is_synthetic(text) {
        item[NOTES] = json!({"content_item_kinds": ["user.text"]});
    }
    item
}
