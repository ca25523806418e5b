//! Writes turns as a document that `OpenCode` imports.
//!
//! `OpenCode` sorts messages by their times and then by their ids. It treats a message with a known
//! id as the same message. The ids that it makes begin with a timestamp; the ids that are written
//! here sort before all ids that it makes later.

use jiff::Timestamp;
use segue_core::Result;
use segue_core::model::{Role, Turn};
use segue_core::ports::{Conversion, Target, Transcription, TranscriptionOrder, TurnWriter};
use serde::Serialize;
use serde_json::{Value, json};

use super::OpenCode;
use super::message_ids::{id, own};
use super::model::{self, OpencodeModel};
use super::new_parts::{NewTextPart, NewToolPart, PartTime, Placed, ToolState};
use super::tip::{OpencodeTip, tip};

/// The default agent. It exists unless the user has removed it.
const AGENT: &str = "build";

impl Conversion for OpenCode {
    fn transcription(&self, order: &TranscriptionOrder<'_>) -> Result<Transcription> {
        let tip = if order.onto.is_some() { tip(order)? } else { OpencodeTip::default() };
        let known = tip.model.filter(|_| order.model.is_none());
        let model = known.map_or_else(|| model::of(order), Ok)?;
        let writer = Box::new(OpencodeWriter {
            info: info(order),
            session: order.id.to_string(),
            cwd: order.place.cwd.display().to_string(),
            agent: tip.agent.unwrap_or_else(|| AGENT.to_owned()),
            model,
            now: order.now,
            clock: tip.clock,
            time: tip.time,
            // OpenCode would sort a message with a later timestamp after the next message of the
            // user.
            latest: tip.latest.unwrap_or(i64::MAX).min(order.now.as_millisecond()),
            // An answer needs a parent even if no message of the user precedes it.
            parent: tip.parent.unwrap_or_else(|| id("msg", 0, &own(order.id.as_str()))),
            open: None,
            call: None,
            is_first: true,
        });
        Ok(Transcription { target: Target::Import, beside: Vec::new(), writer })
    }
}

/// Returns the properties of the whole conversation. If the conversation exists, OpenCode takes
/// only the folder from them.
fn info(order: &TranscriptionOrder<'_>) -> Value {
    let now = order.now.as_millisecond();
    json!({
        "id": order.id, "slug": "segue", "projectID": "global", "directory": order.place.cwd,
        "title": order.title, "version": env!("CARGO_PKG_VERSION"),
        "time": {"created": now, "updated": now},
    })
}

#[derive(Debug)]
struct OpencodeWriter {
    info: Value,
    session: String,
    cwd: String,
    agent: String,
    model: OpencodeModel,
    now: Timestamp,
    /// The timestamp in the id of the last message, and the time of that message.
    clock: u64,
    time: i64,
    /// The latest time that a message can have. Later messages would be deleted, or out of order.
    latest: i64,
    /// The id of the user's message that is answered.
    parent: String,
    /// The answer that is being written.
    open: Option<OpenAnswer>,
    /// A tool call whose result comes next.
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
                self.close(out);
                self.say(turn, out);
            }
            Role::Assistant => {
                self.close(out);
                let at = self.at(turn);
                self.add(NewTextPart::new(&turn.text, at), PartTime { start: at, end: at }, out);
            }
            Role::ToolCall => {
                self.settle(None, out);
                self.call = Some(turn.clone());
            }
            Role::ToolResult => self.settle(Some(turn), out),
        }
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        self.close(out);
        out.extend(b"\n]}\n");
    }
}

impl OpencodeWriter {
    fn at(&self, turn: &Turn) -> i64 {
        turn.at.unwrap_or(self.now).as_millisecond().max(0)
    }

    /// Returns the id and the time of the next message. They sort after those of the last message,
    /// whatever the turn's own time is.
    fn next(&mut self, at: i64) -> (String, i64) {
        self.clock += 1;
        self.time = self.time.max(at.min(self.latest));
        (id("msg", self.clock, &own(&self.session)), self.time)
    }

    fn separate(&mut self, out: &mut Vec<u8>) {
        out.extend(if self.is_first { &b"\n"[..] } else { b",\n" });
        self.is_first = false;
    }

    /// Writes a message of the user.
    fn say(&mut self, turn: &Turn, out: &mut Vec<u8>) {
        let at = self.at(turn);
        let (id, created) = self.next(at);
        let info = json!({
            "id": id, "sessionID": self.session, "role": "user", "time": {"created": created},
            "agent": self.agent, "model": self.model.written(),
        });
        self.separate(out);
        out.extend(format!("{{\"info\":{info},\"parts\":[").into_bytes());
        self.place(NewTextPart::new(&turn.text, at), (&id, 0), out);
        out.extend(b"]}");
        self.parent = id;
    }

    /// Writes a part with its id and the ids of its message and session.
    fn place(&self, part: impl Serialize, (message, number): (&str, usize), out: &mut Vec<u8>) {
        let clock = message.get(4..16).unwrap_or_default();
        let id = format!("prt_{clock}{number:02}{}", &own(&self.session)[2..]);
        let placed = Placed { id, session: &self.session, message, part };
        // Serializing this into memory cannot fail.
        let _written = serde_json::to_writer(out, &placed);
    }

    /// Writes the pending tool call with its result. A result without a call gets an empty call.
    fn settle(&mut self, result: Option<&Turn>, out: &mut Vec<u8>) {
        let Some(call) = self.call.take().or_else(|| result.cloned()) else { return };
        // An answer has at most one text and one tool call: a call belongs to the text before it.
        if self.open.as_ref().is_some_and(|open| open.has_tool) {
            self.close(out);
        }
        let start = self.at(&call);
        let time = PartTime { start, end: result.map_or(start, |result| self.at(result)) };
        let tool = call.tool.as_ref().or(result.and_then(|result| result.tool.as_ref()));
        let (tool, id) = tool.map(|it| (it.name.as_str(), it.id.as_str())).unwrap_or_default();
        let state = ToolState::new(&call, result, time);
        self.add(NewToolPart { r#type: "tool", tool, call: id, state }, time, out);
        self.open.iter_mut().for_each(|open| open.has_tool = true);
    }

    /// Writes a part of the open answer. Begins an answer if none is open.
    fn add(&mut self, part: impl Serialize, time: PartTime, out: &mut Vec<u8>) {
        let mut open = match self.open.take() {
            Some(open) => open,
            None => {
                let (id, created) = self.next(time.start);
                self.separate(out);
                out.extend(b"{\"parts\":[");
                OpenAnswer { id, created, completed: created, parts: 0, has_tool: false }
            }
        };
        if open.parts > 0 {
            out.push(b',');
        }
        self.place(part, (&open.id, open.parts), out);
        open.parts += 1;
        open.completed = open.completed.max(time.end);
        self.open = Some(open);
    }

    /// Writes the pending tool call and ends the open answer.
    fn close(&mut self, out: &mut Vec<u8>) {
        self.settle(None, out);
        let Some(open) = self.open.take() else { return };
        let info = json!({
            "id": open.id, "sessionID": self.session, "role": "assistant", "parentID": self.parent,
            "mode": self.agent, "agent": self.agent,
            "providerID": self.model.provider, "modelID": self.model.name,
            "path": {"cwd": self.cwd, "root": self.cwd}, "cost": 0,
            "tokens": {"input": 0, "output": 0, "reasoning": 0, "cache": {"read": 0, "write": 0}},
            "time": {"created": open.created, "completed": open.completed},
            "finish": if open.has_tool { "tool-calls" } else { "stop" },
        });
        out.extend(format!("],\"info\":{info}}}").into_bytes());
    }
}

#[cfg(test)]
mod tests;
