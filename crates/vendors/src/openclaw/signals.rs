//! Signals from OpenClaw's report about a turn.
//!
//! The report comes at the end of the turn, as one JSON object on many lines. Each line is a field.
//! Line breaks in a text are escaped, so a text never has a line of its own.

use segue_core::model::{Evidence, Signal, VendorSessionId};
use serde_json::{Map, Value};

use super::{failures, home};

/// Reads the signals in one line of a report.
pub(super) fn of_stream(line: &str) -> Vec<Signal> {
    let depth = line.len() - line.trim_start_matches(' ').len();
    let Some((name, value)) = field(line) else { return Vec::new() };
    let signal = match (depth, name.as_str()) {
        (6, "sessionId") => conversation(&value),
        (4, "finalAssistantVisibleText") => answered(&value),
        (4, "aborted") if value == true => Some(ended(false, String::new())),
        (4, "message") => value.as_str().map(failed),
        _ => None,
    };
    signal.into_iter().collect()
}

/// Parses a line as a field whose value is on the same line.
fn field(line: &str) -> Option<(String, Value)> {
    let line = line.trim().trim_end_matches(',');
    let fields: Map<String, Value> = serde_json::from_str(&format!("{{{line}}}")).ok()?;
    fields.into_iter().next()
}

fn conversation(value: &Value) -> Option<Signal> {
    let id = value.as_str().filter(|id| home::is_id(id))?;
    Some(Signal::Conversation { id: VendorSessionId::new(id), evidence: Evidence::Stream })
}

fn answered(value: &Value) -> Option<Signal> {
    Some(ended(true, value.as_str()?.to_owned()))
}

fn failed(message: &str) -> Signal {
    let failure = Some(failures::failure(message));
    Signal::TurnEnded { ok: false, text: message.to_owned(), failure }
}

fn ended(ok: bool, text: String) -> Signal {
    Signal::TurnEnded { ok, text, failure: None }
}

#[cfg(test)]
mod tests;
