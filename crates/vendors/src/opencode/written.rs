//! Turns as a document that `OpenCode` imports.
//!
//! It sorts messages by their times and then by their ids, takes an id that it knows already for the
//! same message, and makes ids that begin with the time: those of the written ones are below them.

use jiff::Timestamp;
use segue_core::model::{Role, Turn};
use segue_core::ports::{Target, Transcription, TranscriptionOrder, TurnWriter};
use segue_core::{Error, Result};
use serde_json::{Value, json};

use super::model::{self, Model};
use super::rows::{Cut, Message, Messages, Way};
use crate::database::Database;

/// The agent that is there unless somebody took it out.
const AGENT: &str = "build";

/// How much of an id tells the time.
const CLOCK: u64 = 0xffff_ffff_ffff;

/// How much of a conversation's id is in those of its messages.
const OWN: usize = 14;

/// What a call without a result has instead.
const NO_RESULT: &str = "no result";

pub(super) fn transcription(order: &TranscriptionOrder<'_>) -> Result<Transcription> {
    let tip = if order.onto.is_some() { tip(order)? } else { Tip::default() };
    let known = tip.model.filter(|_| order.model.is_none());
    let model = known.map_or_else(|| model::of(order), Ok)?;
    let writer = Box::new(Writer {
        info: info(order),
        session: order.id.to_string(),
        cwd: order.place.cwd.display().to_string(),
        agent: tip.agent.unwrap_or_else(|| AGENT.to_owned()),
        model,
        now: order.now,
        clock: tip.clock,
        time: tip.time,
        // What were newer than what is said next would be taken for something that comes later.
        latest: tip.latest.unwrap_or(i64::MAX).min(order.now.as_millisecond()),
        // One that nobody asked for has an answer's parent all the same.
        parent: tip.parent.unwrap_or_else(|| id("msg", 0, &own(order.id.as_str()))),
        open: None,
        call: None,
        is_first: true,
    });
    Ok(Transcription { target: Target::Import, beside: Vec::new(), writer })
}

/// Returns what is told about the whole conversation. Of one that is there already only the folder
/// is taken over.
fn info(order: &TranscriptionOrder<'_>) -> Value {
    let now = order.now.as_millisecond();
    json!({
        "id": order.id, "slug": "segue", "projectID": "global", "directory": order.place.cwd,
        "title": order.title, "version": env!("CARGO_PKG_VERSION"),
        "time": {"created": now, "updated": now},
    })
}

/// Where a conversation goes on.
#[derive(Debug, Default)]
struct Tip {
    /// What the id of its newest message tells, and its time.
    clock: u64,
    time: i64,
    /// What comes later than this is deleted when something is said: it was taken back.
    latest: Option<i64>,
    /// The newest message of the user.
    parent: Option<String>,
    agent: Option<String>,
    model: Option<Model>,
}

fn tip(order: &TranscriptionOrder<'_>) -> Result<Tip> {
    let session = order.id.as_str();
    let gone = || Error::vendor(format!("the conversation `{session}` is gone"));
    let path = super::home::database(&order.place.config_dir);
    let database = Database::open(&path)?.ok_or_else(gone)?;
    if !is_there(&database, session)? {
        return Err(gone());
    }
    let cut = Cut::of(&database, session)?;
    if cut.as_ref().is_some_and(|cut| cut.part.is_some()) {
        return Err(Error::vendor(format!("nothing can be added to conversation `{session}`"))
            .caused_by("it was taken back to the middle of a message")
            .hint("say something in it, then try again"));
    }
    let mut tip = Tip { latest: cut.as_ref().map(|cut| cut.time() - 1), ..Tip::default() };
    let mut messages = Messages::new(&database, session, Way::Back);
    let mut is_newest = true;
    while let Some(message) = messages.next()? {
        if cut.as_ref().is_some_and(|cut| cut.takes(&message)) {
            continue;
        }
        if is_newest {
            (tip.clock, tip.time) = (clock(&message), message.time);
        }
        is_newest = false;
        if message.is_users() {
            tip.agent = message.data["agent"].as_str().map(str::to_owned);
            tip.model = Model::read(&message.data["model"]);
            tip.parent = Some(message.id);
            break;
        }
    }
    Ok(tip)
}

fn is_there(database: &Database, session: &str) -> Result<bool> {
    let found = database.row("SELECT 1 FROM session WHERE id = ?1", [session], |_| Ok(()))?;
    Ok(found.is_some())
}

/// Returns what an id tells of the time.
fn clock(message: &Message) -> u64 {
    let digits = message.id.strip_prefix("msg_").and_then(|rest| rest.get(..12));
    let told = digits.and_then(|digits| u64::from_str_radix(digits, 16).ok());
    let made = u64::try_from(message.time).unwrap_or_default().wrapping_mul(0x1000);
    told.unwrap_or(made & CLOCK)
}

/// Returns what makes the ids of a conversation's messages differ from those of all others.
fn own(session: &str) -> String {
    let plain: Vec<char> = session.chars().filter(char::is_ascii_alphanumeric).collect();
    let end: String = plain[plain.len().saturating_sub(OWN)..].iter().collect();
    format!("{end:0>OWN$}")
}

fn id(kind: &str, clock: u64, own: &str) -> String {
    format!("{kind}_{:012x}{own}", clock & CLOCK)
}

#[derive(Debug)]
struct Writer {
    info: Value,
    session: String,
    cwd: String,
    agent: String,
    model: Model,
    now: Timestamp,
    /// What the id of the last message tells, and its time.
    clock: u64,
    time: i64,
    /// What comes later than this is not kept, or not in order.
    latest: i64,
    /// The user's message that is answered.
    parent: String,
    /// An answer that has no end yet.
    open: Option<Answer>,
    /// A call whose result comes next.
    call: Option<Turn>,
    is_first: bool,
}

/// An answer of which the parts are written.
#[derive(Debug)]
struct Answer {
    id: String,
    created: i64,
    completed: i64,
    parts: usize,
    has_tool: bool,
}

impl TurnWriter for Writer {
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
                let time = json!({"start": at, "end": at});
                let part = json!({"type": "text", "text": turn.text, "time": time});
                self.add(part, (at, at), out);
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

impl Writer {
    fn at(&self, turn: &Turn) -> i64 {
        turn.at.unwrap_or(self.now).as_millisecond().max(0)
    }

    /// Returns the id and the time of the next message: it comes behind the last one, whatever its
    /// own time is.
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
        let time = json!({"start": at, "end": at});
        let part = json!({"type": "text", "text": turn.text, "time": time});
        let part = self.placed(part, &id, 0);
        let info = json!({
            "id": id, "sessionID": self.session, "role": "user", "time": {"created": created},
            "agent": self.agent, "model": self.model.written(),
        });
        self.separate(out);
        out.extend(json!({"info": info, "parts": [part]}).to_string().into_bytes());
        self.parent = id;
    }

    /// Returns a part with its place in a message.
    fn placed(&self, mut part: Value, message: &str, number: usize) -> Value {
        let clock = message.get(4..16).unwrap_or_default();
        let own = own(&self.session);
        part["id"] = json!(format!("prt_{clock}{number:02}{}", &own[2..]));
        part["sessionID"] = json!(self.session);
        part["messageID"] = json!(message);
        part
    }

    /// Writes the call that waits, with its result.
    fn settle(&mut self, result: Option<&Turn>, out: &mut Vec<u8>) {
        let Some(call) = self.call.take().or_else(|| result.cloned()) else { return };
        // A call belongs to the words before it, and nothing to what came before those.
        if self.open.as_ref().is_some_and(|open| open.has_tool) {
            self.close(out);
        }
        let start = self.at(&call);
        let end = result.map_or(start, |result| self.at(result));
        let tool = call.tool.as_ref().or(result.and_then(|result| result.tool.as_ref()));
        let (name, call_id) = tool.map(|it| (it.name.as_str(), it.id.as_str())).unwrap_or_default();
        let state = state(&call, result, (start, end));
        let part = json!({"type": "tool", "tool": name, "callID": call_id, "state": state});
        self.add(part, (start, end), out);
        self.open.iter_mut().for_each(|open| open.has_tool = true);
    }

    /// Writes a part of an answer, which is begun where none is open.
    fn add(&mut self, part: Value, (start, end): (i64, i64), out: &mut Vec<u8>) {
        let mut open = match self.open.take() {
            Some(open) => open,
            None => {
                let (id, created) = self.next(start);
                self.separate(out);
                out.extend(b"{\"parts\":[");
                Answer { id, created, completed: created, parts: 0, has_tool: false }
            }
        };
        if open.parts > 0 {
            out.push(b',');
        }
        out.extend(self.placed(part, &open.id, open.parts).to_string().into_bytes());
        open.parts += 1;
        open.completed = open.completed.max(end);
        self.open = Some(open);
    }

    /// Ends the answer that is open.
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

/// Returns what became of a call.
fn state(call: &Turn, result: Option<&Turn>, (start, end): (i64, i64)) -> Value {
    let given = serde_json::from_str(&call.text).ok().filter(Value::is_object);
    let input = match given {
        _ if call.role != Role::ToolCall => json!({}),
        Some(input) => input,
        None => json!({"input": call.text}),
    };
    let time = json!({"start": start, "end": end});
    let failed = |result: &Turn| result.tool.as_ref().is_some_and(|tool| tool.failed);
    match result {
        Some(result) if !failed(result) => json!({
            "status": "completed", "input": input, "output": result.text, "title": "",
            "metadata": {}, "time": time,
        }),
        _ => {
            let error = result.map_or(NO_RESULT, |result| result.text.as_str());
            json!({"status": "error", "input": input, "error": error, "time": time})
        }
    }
}

#[cfg(test)]
mod tests;
