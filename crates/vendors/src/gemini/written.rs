//! Turns as a transcript.

use jiff::Timestamp;
use segue_core::model::{Role, Tool, Turn};
use segue_core::ports::{NewFile, Target, Transcription, TranscriptionOrder, TurnWriter};
use segue_core::{Error, Result};
use serde_json::{Value, json};

use super::{home, launch, typing};

/// How much of a result is drawn: all of it is for the model.
const SHOWN: usize = 2000;

pub(super) fn transcription(order: &TranscriptionOrder<'_>) -> Result<Transcription> {
    let (files, place, id) = (order.files, order.place, order.id);
    if !home::is_id(id.as_str()) {
        return Err(Error::vendor(format!("`{id}` is not an id of a conversation"))
            .caused_by("the ids of Gemini are UUIDs"));
    }
    let own = order.onto.map_or_else(|| home::restored_as(files, place, id), ToOwned::to_owned);
    let (path, contents) = home::marker(files, place);
    // The file has only grown since: no message in it was named after this length.
    let length = files.facts(&own).ok().flatten().map_or(0, |facts| facts.length);
    let header = order.onto.is_none().then(|| launch::header(id, order.now));
    let writer =
        Writer { header, now: order.now, names: format!("{id}-{length}"), count: 0, call: None };
    Ok(Transcription {
        target: Target::Transcript(own),
        beside: vec![NewFile { path, contents }],
        writer: Box::new(writer),
    })
}

#[derive(Debug)]
struct Writer {
    header: Option<Value>,
    now: Timestamp,
    /// How the ids of messages begin.
    names: String,
    count: u64,
    /// A call that waits for its result: they are written as one.
    call: Option<Turn>,
}

impl Writer {
    fn write(&mut self, kind: &str, turn: &Turn, more: Value, out: &mut Vec<u8>) {
        self.count += 1;
        let mut record = json!({
            "id": format!("{}-{}", self.names, self.count),
            "timestamp": self.moment(turn),
            "type": kind,
        });
        if let (Value::Object(record), Value::Object(mut more)) = (&mut record, more) {
            record.append(&mut more);
        }
        line(&record, out);
    }

    fn moment(&self, turn: &Turn) -> String {
        format!("{:.3}", turn.at.unwrap_or(self.now))
    }

    fn answer(&mut self, turn: &Turn, out: &mut Vec<u8>) {
        let mut more = json!({"content": turn.text, "thoughts": []});
        if let Some(model) = &turn.model {
            more["model"] = json!(model);
        }
        self.write("gemini", turn, more, out);
    }

    fn tool(&mut self, call: &Turn, result: Option<&Turn>, out: &mut Vec<u8>) {
        let Some(Tool { id, name, .. }) = &call.tool else { return };
        let failed = result.is_none_or(is_failed);
        let (field, status) = if failed { ("error", "error") } else { ("output", "success") };
        let text = result.map_or("", |result| result.text.as_str());
        let shown: String = text.chars().take(SHOWN).collect();
        let response =
            json!({"functionResponse": {"id": id, "name": name, "response": {field: text}}});
        let call_of_tool = json!({
            "id": id, "name": name, "args": arguments(&call.text), "result": [response],
            "status": status, "timestamp": self.moment(result.unwrap_or(call)),
            "resultDisplay": shown, "description": "", "displayName": name,
            "renderOutputAsMarkdown": false,
        });
        let more = json!({"content": "", "thoughts": [], "toolCalls": [call_of_tool]});
        self.write("gemini", call, more, out);
    }
}

impl TurnWriter for Writer {
    fn begin(&mut self, out: &mut Vec<u8>) {
        if let Some(header) = self.header.take() {
            line(&header, out);
        }
    }

    fn turn(&mut self, turn: &Turn, out: &mut Vec<u8>) {
        if let Some(call) = self.call.take() {
            let result = (turn.role == Role::ToolResult).then_some(turn);
            self.tool(&call, result, out);
        }
        let is_blank = turn.text.trim().is_empty();
        match turn.role {
            Role::User | Role::Summary if !is_blank => {
                let more = json!({"content": [{"text": typing::kept(&turn.text)}]});
                self.write("user", turn, more, out);
            }
            Role::Assistant if !is_blank => self.answer(turn, out),
            Role::ToolCall => self.call = Some(turn.clone()),
            _ => {}
        }
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        if let Some(call) = self.call.take() {
            self.tool(&call, None, out);
        }
    }
}

fn is_failed(result: &Turn) -> bool {
    result.tool.as_ref().is_some_and(|tool| tool.failed)
}

/// Returns the arguments of a call: Gemini knows them as an object only.
fn arguments(text: &str) -> Value {
    match serde_json::from_str(text) {
        Ok(Value::Object(arguments)) => Value::Object(arguments),
        _ => json!({"input": text}),
    }
}

fn line(record: &Value, out: &mut Vec<u8>) {
    out.extend(record.to_string().into_bytes());
    out.push(b'\n');
}

#[cfg(test)]
mod tests;
