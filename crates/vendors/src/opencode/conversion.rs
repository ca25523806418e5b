//! Writes turns as a document that `OpenCode` imports.
//!
//! `OpenCode` sorts messages by their times and then by their ids. It skips a message with an
//! existing id. `OpenCode`'s ids begin with a timestamp. The ids of this module sort before all ids
//! that `OpenCode` creates later.

use jiff::Timestamp;
use segue_core::Result;
use segue_core::model::{Role, Turn};
use segue_core::ports::{Conversion, Target, Transcription, TranscriptionOrder, TurnWriter};
use serde::Serialize;
use serde_json::{Value, json};

use super::OpenCode;
use super::message_ids::{id, suffix};
use super::model::{self, OpencodeModel};
use super::new_parts::{NewTextPart, NewToolPart, PartTime, Placed, ToolState};
use super::tip::{OpencodeTip, tip};

/// The default agent. It exists unless the user has removed it.
const AGENT: &str = "build";

impl Conversion for OpenCode {
    fn transcription(&self, order: &TranscriptionOrder<'_>) -> Result<Transcription> {
        let tip = if order.append_to.is_some() { tip(order)? } else { OpencodeTip::default() };
        let known_model = tip.model.filter(|_| order.model.is_none());
        let model = known_model.map_or_else(|| model::of(order), Ok)?;
        let writer = Box::new(OpencodeWriter {
            info: info(order),
            session: order.id.to_string(),
            cwd: order.place.cwd.display().to_string(),
            agent: tip.agent.unwrap_or_else(|| AGENT.to_owned()),
            model,
            now: order.now,
            timestamp: tip.id_timestamp,
            time: tip.time,
            // OpenCode would sort a message with a later time after the next message of the user.
            latest_time: tip.latest_time.unwrap_or(i64::MAX).min(order.now.as_millisecond()),
            // An answer needs a parent even if no message of the user precedes it.
            last_user_message: tip
                .last_user_message
                .unwrap_or_else(|| id("msg", 0, &suffix(order.id.as_str()))),
            open_answer: None,
            call: None,
            is_first: true,
        });
        Ok(Transcription { target: Target::Import, extra_files: Vec::new(), writer })
    }
}

/// Returns the properties of the conversation. If the conversation exists, OpenCode uses only the
/// folder.
fn info(order: &TranscriptionOrder<'_>) -> Value {
    let now = order.now.as_millisecond();
    json!({
        "id": order.id, "slug": "segue", "projectID": "global", "directory": order.place.cwd,
        "title": order.title, "version": env!("CARGO_PKG_VERSION"),
        "time": {"created": now, "updated": now},
    })
}

/// Writes turns as messages of a document.
#[derive(Debug)]
struct OpencodeWriter {
    info: Value,
    session: String,
    cwd: String,
    agent: String,
    model: OpencodeModel,
    now: Timestamp,
    /// The timestamp in the id of the last message, and the time of that message.
    timestamp: u64,
    time: i64,
    /// The latest allowed time of a message. OpenCode would delete or reorder later messages.
    latest_time: i64,
    /// The id of the last message of the user. Answers refer to it.
    last_user_message: String,
    /// The answer that is being written.
    open_answer: Option<OpenAnswer>,
    /// A tool call whose result is the next turn.
    call: Option<Turn>,
    is_first: bool,
}

/// An answer whose parts are being written.
#[derive(Debug)]
struct OpenAnswer {
    id: String,
    created: i64,
    completed: i64,
    parts: usize,
    has_tool: bool,
}

impl TurnWriter for OpencodeWriter {
    fn begin(&mut self, out: &mut Vec<u8>) {
        out.extend(format!("{{\"info\":{},\"messages\":[", self.info).into_bytes());
    }

    fn turn(&mut self, turn: &Turn, out: &mut Vec<u8>) {
        match turn.role {
            Role::User | Role::Summary => {
                self.end_answer(out);
                self.write_user_message(turn, out);
            }
            Role::Assistant => {
                self.end_answer(out);
                let at = self.time_of(turn);
                self.write_answer_part(
                    NewTextPart::new(&turn.text, at),
                    PartTime { start: at, end: at },
                    out,
                );
            }
            Role::ToolCall => {
                self.write_tool_call(None, out);
                self.call = Some(turn.clone());
            }
            Role::ToolResult => self.write_tool_call(Some(turn), out),
        }
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        self.end_answer(out);
        out.extend(b"\n]}\n");
    }
}

impl OpencodeWriter {
    fn time_of(&self, turn: &Turn) -> i64 {
        turn.at.unwrap_or(self.now).as_millisecond().max(0)
    }

    /// Returns the id and the time of the next message. They sort after the id and the time of the
    /// last message, even if `at` is earlier.
    fn next_message(&mut self, at: i64) -> (String, i64) {
        self.timestamp += 1;
        self.time = self.time.max(at.min(self.latest_time));
        (id("msg", self.timestamp, &suffix(&self.session)), self.time)
    }

    fn write_separator(&mut self, out: &mut Vec<u8>) {
        out.extend(if self.is_first { &b"\n"[..] } else { b",\n" });
        self.is_first = false;
    }

    /// Writes a message of the user.
    fn write_user_message(&mut self, turn: &Turn, out: &mut Vec<u8>) {
        let at = self.time_of(turn);
        let (id, created) = self.next_message(at);
        let info = json!({
            "id": id, "sessionID": self.session, "role": "user", "time": {"created": created},
            "agent": self.agent, "model": self.model.as_json(),
        });
        self.write_separator(out);
        out.extend(format!("{{\"info\":{info},\"parts\":[").into_bytes());
        self.write_part(NewTextPart::new(&turn.text, at), (&id, 0), out);
        out.extend(b"]}");
        self.last_user_message = id;
    }

    /// Writes a part with its id and the ids of its message and session.
    fn write_part(
        &self,
        part: impl Serialize,
        (message, number): (&str, usize),
        out: &mut Vec<u8>,
    ) {
        let timestamp = message.get(4..16).unwrap_or_default();
        let id = format!("prt_{timestamp}{number:02}{}", &suffix(&self.session)[2..]);
        let part_with_ids = Placed { id, session: &self.session, message, part };
        // Serializing this into memory cannot fail.
        let _written = serde_json::to_writer(out, &part_with_ids);
    }

    /// Writes the pending tool call with its result. A result without a call gets an empty call.
    fn write_tool_call(&mut self, result: Option<&Turn>, out: &mut Vec<u8>) {
        let Some(call) = self.call.take().or_else(|| result.cloned()) else { return };
        // A written answer has at most one tool call, after its text.
        if self.open_answer.as_ref().is_some_and(|open_answer| open_answer.has_tool) {
            self.end_answer(out);
        }
        let start = self.time_of(&call);
        let time = PartTime { start, end: result.map_or(start, |result| self.time_of(result)) };
        let tool = call.tool.as_ref().or(result.and_then(|result| result.tool.as_ref()));
        let (tool, id) =
            tool.map(|tool| (tool.name.as_str(), tool.id.as_str())).unwrap_or_default();
        let state = ToolState::new(&call, result, time);
        self.write_answer_part(NewToolPart { r#type: "tool", tool, call: id, state }, time, out);
        self.open_answer.iter_mut().for_each(|open_answer| open_answer.has_tool = true);
    }

    /// Writes a part of the open answer. Begins an answer if no answer is open.
    fn write_answer_part(&mut self, part: impl Serialize, time: PartTime, out: &mut Vec<u8>) {
        let mut open_answer = match self.open_answer.take() {
            Some(open_answer) => open_answer,
            None => {
                let (id, created) = self.next_message(time.start);
                self.write_separator(out);
                out.extend(b"{\"parts\":[");
                OpenAnswer { id, created, completed: created, parts: 0, has_tool: false }
            }
        };
        if open_answer.parts > 0 {
            out.push(b',');
        }
        self.write_part(part, (&open_answer.id, open_answer.parts), out);
        open_answer.parts += 1;
        open_answer.completed = open_answer.completed.max(time.end);
        self.open_answer = Some(open_answer);
    }

    /// Writes the pending tool call and ends the open answer.
    fn end_answer(&mut self, out: &mut Vec<u8>) {
        self.write_tool_call(None, out);
        let Some(open_answer) = self.open_answer.take() else { return };
        let info = json!({
            "id": open_answer.id, "sessionID": self.session, "role": "assistant",
            "parentID": self.last_user_message,
            "mode": self.agent, "agent": self.agent,
            "providerID": self.model.provider, "modelID": self.model.name,
            "path": {"cwd": self.cwd, "root": self.cwd}, "cost": 0,
            "tokens": {"input": 0, "output": 0, "reasoning": 0, "cache": {"read": 0, "write": 0}},
            "time": {"created": open_answer.created, "completed": open_answer.completed},
            "finish": if open_answer.has_tool { "tool-calls" } else { "stop" },
        });
        out.extend(format!("],\"info\":{info}}}").into_bytes());
    }
}

#[cfg(test)]
mod tests;
