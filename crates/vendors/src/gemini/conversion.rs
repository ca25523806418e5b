//! Writes turns as a Gemini transcript.

use jiff::Timestamp;
use segue_core::Result;
use segue_core::model::{Role, Tool, Turn};
use segue_core::ports::{
    Conversion, NewFile, Target, Transcription, TranscriptionOrder, TurnWriter,
};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::{Gemini, launch, paths, typing};
use crate::shared::writing::write_line;
use crate::shared::{files, launching, reading};

/// The type of the model's messages.
const MODEL: &str = "gemini";

/// How many characters of a tool's result Gemini shows. The model gets the whole result.
const SHOWN_LIMIT_CHARS: usize = 2000;

impl Conversion for Gemini {
    fn transcription(&self, order: &TranscriptionOrder<'_>) -> Result<Transcription> {
        let (files, place, id) = (order.files, order.place, order.id);
        if !paths::is_id(id.as_str()) {
            return Err(launching::invalid_id(id, "the ids of Gemini are UUIDs"));
        }
        let path =
            order.append_to.map_or_else(|| paths::restored_as(files, place, id), ToOwned::to_owned);
        let marker = || {
            let (path, contents) = paths::marker(files, place);
            NewFile { path, contents }
        };
        // The length of the file makes the ids of new messages unique, because the file only grows.
        let length = files::length(files, &path);
        let header =
            order.append_to.is_none().then(|| launch::header(id, &format!("{:.3}", order.now)));
        let writer = GeminiWriter {
            header,
            now: order.now,
            id_prefix: format!("{id}-{length}"),
            count: 0,
            call: None,
        };
        Ok(Transcription {
            target: Target::Transcript(path),
            extra_files: order.append_to.is_none().then(marker).into_iter().collect(),
            writer: Box::new(writer),
        })
    }
}

/// Writes turns as messages of a transcript.
#[derive(Debug)]
struct GeminiWriter {
    /// The header, until it is written. `None` if the turns are appended to an existing transcript.
    header: Option<Value>,
    /// The timestamp of turns that have none.
    now: Timestamp,
    /// The beginning of each message id.
    id_prefix: String,
    count: u64,
    /// A tool call whose result is the next turn. Both are written as one message.
    call: Option<Turn>,
}

/// A new message, with the fields that Gemini requires.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct NewGeminiMessage<'a> {
    id: String,
    timestamp: String,
    #[serde(rename = "type")]
    kind: &'static str,
    content: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_calls: Option<[NewGeminiToolCall<'a>; 1]>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct NewGeminiToolCall<'a> {
    id: &'a str,
    name: &'a str,
    args: Box<RawValue>,
    result: Value,
    status: &'static str,
    timestamp: String,
    result_display: String,
    description: &'static str,
    display_name: &'a str,
    render_output_as_markdown: bool,
}

impl GeminiWriter {
    fn record<'a>(
        &mut self,
        kind: &'static str,
        turn: &'a Turn,
        content: Value,
    ) -> NewGeminiMessage<'a> {
        self.count += 1;
        NewGeminiMessage {
            id: format!("{}-{}", self.id_prefix, self.count),
            timestamp: self.timestamp(turn),
            kind,
            content,
            model: turn.model.as_deref().filter(|_| kind == MODEL),
            tool_calls: None,
        }
    }

    fn timestamp(&self, turn: &Turn) -> String {
        format!("{:.3}", turn.at.unwrap_or(self.now))
    }

    fn write_tool(&mut self, call: &Turn, result: Option<&Turn>, out: &mut Vec<u8>) {
        let Some(Tool { id, name, .. }) = &call.tool else { return };
        let failed = result.is_none_or(is_failed);
        let (field, status) = if failed { ("error", "error") } else { ("output", "success") };
        let text = result.map_or("", |result| result.text.as_str());
        let response = json!({"id": id, "name": name, "response": {field: text}});
        let tool_call = NewGeminiToolCall {
            id,
            name,
            args: reading::arguments(&call.text),
            result: json!([{"functionResponse": response}]),
            status,
            timestamp: self.timestamp(result.unwrap_or(call)),
            result_display: text.chars().take(SHOWN_LIMIT_CHARS).collect(),
            description: "",
            display_name: name,
            render_output_as_markdown: false,
        };
        let record = NewGeminiMessage {
            tool_calls: Some([tool_call]),
            ..self.record(MODEL, call, json!(""))
        };
        write_line(&record, out);
    }
}

impl TurnWriter for GeminiWriter {
    fn begin(&mut self, out: &mut Vec<u8>) {
        if let Some(header) = self.header.take() {
            write_line(&header, out);
        }
    }

    fn turn(&mut self, turn: &Turn, out: &mut Vec<u8>) {
        if let Some(call) = self.call.take() {
            let result = (turn.role == Role::ToolResult).then_some(turn);
            self.write_tool(&call, result, out);
        }
        let is_blank = turn.text.trim().is_empty();
        match turn.role {
            Role::User | Role::Summary if !is_blank => {
                let content = json!([{"text": typing::escaped_for_resume(&turn.text)}]);
                write_line(&self.record("user", turn, content), out);
            }
            Role::Assistant if !is_blank => {
                write_line(&self.record(MODEL, turn, json!(turn.text)), out);
            }
            Role::ToolCall => self.call = Some(turn.clone()),
            _ => {}
        }
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        if let Some(call) = self.call.take() {
            self.write_tool(&call, None, out);
        }
    }
}

fn is_failed(result: &Turn) -> bool {
    result.tool.as_ref().is_some_and(|tool| tool.failed)
}

#[cfg(test)]
mod tests;
