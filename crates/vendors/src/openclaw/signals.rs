//! Reads signals from OpenClaw's report about a turn.
//!
//! OpenClaw prints the report at the end of the turn, as one JSON object on many lines. Each line
//! is one field. Line breaks in a text are escaped, so a text is always on the line of its field.

use std::time::Duration;

use segue_core::model::{Evidence, Failure, Signal};
use segue_core::ports::SignalSources;
use serde_json::{Map, Value};

use super::{OpenClaw, failures, paths};
use crate::shared::signals;

impl SignalSources for OpenClaw {
    fn evidence_timeout(&self) -> Duration {
        // The report is the first evidence, and OpenClaw prints it at the end of the turn. This is
        // OpenClaw's time limit for a turn.
        Duration::from_secs(600)
    }

    fn stream_signals(&self, line: &str) -> Vec<Signal> {
        let depth = line.len() - line.trim_start_matches(' ').len();
        let Some((name, value)) = field(line) else { return Vec::new() };
        let signal = match (depth, name.as_str()) {
            (6, "sessionId") => conversation(&value),
            (4, "finalAssistantVisibleText") => value.as_str().map(signals::answered),
            (4, "aborted") if value == true => Some(signals::interrupted()),
            (4, "message") => {
                value.as_str().map(|message| signals::failed(message, failures::failure(message)))
            }
            _ => None,
        };
        signal.into_iter().collect()
    }

    fn failure_in_output(&self, errors: &str) -> Option<Failure> {
        failures::failure_in_output(errors)
    }
}

/// Parses a line as the name and the value of a field. `None` if the value is not complete on this
/// line.
fn field(line: &str) -> Option<(String, Value)> {
    let line = line.trim().trim_end_matches(',');
    let fields: Map<String, Value> = serde_json::from_str(&format!("{{{line}}}")).ok()?;
    fields.into_iter().next()
}

fn conversation(value: &Value) -> Option<Signal> {
    let id = value.as_str().filter(|id| paths::is_id(id))?;
    Some(signals::conversation(id, Evidence::Stream))
}

#[cfg(test)]
mod tests;
