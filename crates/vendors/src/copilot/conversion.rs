//! Writes turns as a transcript.

use std::io;
use std::path::Path;

use jiff::Timestamp;
use segue_core::Result;
use segue_core::model::{Role, Tool, Turn};
use segue_core::ports::{
    Conversion, Files, NewFile, Target, Transcription, TranscriptionOrder, TurnWriter,
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use uuid::{Builder, Uuid};

use super::{Copilot, paths};
use crate::shared::writing::write_line;
use crate::shared::{launching, reading};

/// Version of the event format.
const EVENT_FORMAT_VERSION: u32 = 1;

impl Conversion for Copilot {
    fn transcription(&self, order: &TranscriptionOrder<'_>) -> Result<Transcription> {
        let Some(id) =
            Uuid::try_parse(order.id.as_str()).ok().filter(|_| paths::is_id(order.id.as_str()))
        else {
            return Err(launching::invalid_id(order.id, "the ids of Copilot are UUIDs"));
        };
        let path = paths::transcript(&order.place.config_dir, order.id.as_str());
        let path = order.append_to.map_or(path, Path::to_owned);
        let tip = match order.append_to {
            None => CopilotTip::default(),
            Some(append_to) => find_tip(order.files, append_to)
                .map_err(|error| reading::unreadable(append_to, error))?,
        };
        let is_new = order.append_to.is_none();
        let writer = CopilotWriter {
            start: is_new.then(|| start_data(order)),
            now: order.now,
            last: tip.last,
            ids: EventIds { of: id, length: tip.length, count: 0 },
        };
        let extra_files = is_new.then(|| description(order, &path)).into_iter().collect();
        Ok(Transcription {
            target: Target::Transcript(path),
            extra_files,
            writer: Box::new(writer),
        })
    }

    fn context_characters(&self) -> usize {
        // Copilot drops the oldest turns long before its model's context is full.
        100_000
    }
}

fn start_data(order: &TranscriptionOrder<'_>) -> Value {
    let mut data = json!({
        "sessionId": order.id, "version": EVENT_FORMAT_VERSION, "producer": "segue",
        "copilotVersion": env!("CARGO_PKG_VERSION"), "startTime": format_time(order.now),
        "context": {"cwd": order.place.cwd},
    });
    if let Some(model) = order.model {
        data["selectedModel"] = model.into();
    }
    data
}

/// Returns the file by which Copilot lists the conversation. Its strings are JSON strings, which
/// are valid YAML.
fn description(order: &TranscriptionOrder<'_>, transcript: &Path) -> NewFile {
    let now = format_time(order.now);
    let quoted = |text: &str| Value::from(text).to_string();
    let contents = format!(
        "id: {}\ncwd: {}\nname: {}\nuser_named: true\ncreated_at: {now}\nupdated_at: {now}\n",
        order.id,
        quoted(&order.place.cwd.display().to_string()),
        quoted(order.title),
    );
    NewFile { path: paths::description(transcript), contents }
}

/// The end of an existing transcript to which events are added.
#[derive(Debug, Default)]
struct CopilotTip {
    length: u64,
    /// The id of the last event, which is the parent of the next one.
    last: Option<String>,
}

fn find_tip(files: &dyn Files, transcript: &Path) -> io::Result<CopilotTip> {
    #[derive(Deserialize)]
    struct EventId {
        id: String,
    }
    let length = files.facts(transcript)?.map_or(0, |facts| facts.length);
    let last = reading::find_line_back(files, transcript, |line| {
        serde_json::from_slice(line).ok().map(|event: EventId| event.id)
    })?;
    Ok(CopilotTip { length, last })
}

/// Makes event ids that the transcript does not contain yet.
#[derive(Debug)]
struct EventIds {
    of: Uuid,
    length: u64,
    count: u64,
}

impl EventIds {
    fn next(&mut self) -> String {
        self.count += 1;
        // The length of the transcript differs for each addition, and the count for each event.
        let (high, low) = self.of.as_u64_pair();
        let high = (high ^ self.length).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let low = (low << 32) ^ self.count;
        let bytes = (u128::from(high) << 64 | u128::from(low)).to_be_bytes();
        Builder::from_random_bytes(bytes).into_uuid().to_string()
    }
}

#[derive(Debug)]
struct CopilotWriter {
    start: Option<Value>,
    now: Timestamp,
    last: Option<String>,
    ids: EventIds,
}

/// One event of the transcript.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct NewCopilotEvent<'a, D> {
    #[serde(rename = "type")]
    kind: &'a str,
    data: D,
    id: &'a str,
    timestamp: String,
    parent_id: Option<&'a str>,
}

/// A message of the model, with the tools that it calls.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct NewCopilotMessage<'a> {
    message_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'a str>,
    content: &'a str,
    tool_requests: &'a [NewToolRequest<'a>],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct NewToolRequest<'a> {
    tool_call_id: &'a str,
    name: &'a str,
    arguments: &'a RawValue,
    #[serde(rename = "type")]
    kind: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Began<'a> {
    tool_call_id: &'a str,
    tool_name: &'a str,
    arguments: &'a RawValue,
}

impl CopilotWriter {
    fn event(&mut self, at: Timestamp, kind: &str, data: impl Serialize, out: &mut Vec<u8>) {
        let id = self.ids.next();
        let parent_id = self.last.as_deref();
        let event = NewCopilotEvent { kind, data, id: &id, timestamp: format_time(at), parent_id };
        write_line(&event, out);
        self.last = Some(id);
    }

    fn message(&mut self, turn: &Turn, content: (&str, &[NewToolRequest<'_>]), out: &mut Vec<u8>) {
        let (content, tool_requests) = content;
        let (message_id, model) = (self.ids.next(), turn.model.as_deref());
        let message = NewCopilotMessage { message_id, model, content, tool_requests };
        self.event(turn.at.unwrap_or(self.now), "assistant.message", message, out);
    }

    fn call(&mut self, turn: &Turn, tool: &Tool, out: &mut Vec<u8>) {
        let (id, name, arguments) = (&tool.id, &tool.name, &reading::arguments(&turn.text));
        let request = NewToolRequest { tool_call_id: id, name, arguments, kind: "function" };
        self.message(turn, ("", &[request]), out);
        let began = Began { tool_call_id: id, tool_name: name, arguments };
        self.event(turn.at.unwrap_or(self.now), "tool.execution_start", began, out);
    }
}

impl TurnWriter for CopilotWriter {
    fn begin(&mut self, out: &mut Vec<u8>) {
        if let Some(start) = self.start.take() {
            self.event(self.now, "session.start", start, out);
        }
    }

    fn turn(&mut self, turn: &Turn, out: &mut Vec<u8>) {
        let at = turn.at.unwrap_or(self.now);
        let tool = turn.tool.clone().unwrap_or(Tool {
            id: String::new(),
            name: String::new(),
            failed: false,
        });
        match turn.role {
            Role::User | Role::Summary => {
                self.event(at, "user.message", json!({"content": turn.text}), out);
            }
            Role::Assistant => self.message(turn, (&turn.text, &[]), out),
            Role::ToolCall => self.call(turn, &tool, out),
            Role::ToolResult => {
                let mut data = json!({"toolCallId": tool.id, "success": !tool.failed});
                if tool.failed {
                    data["error"] = json!({"message": turn.text});
                } else {
                    data["result"] = json!({"content": turn.text});
                }
                self.event(at, "tool.execution_complete", data, out);
            }
        }
    }

    fn end(&mut self, _out: &mut Vec<u8>) {}
}

fn format_time(at: Timestamp) -> String {
    format!("{at:.3}")
}
