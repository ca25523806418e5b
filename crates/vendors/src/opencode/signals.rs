//! Reads signals from the plugin's reports and from the output of a headless turn.

use std::time::Duration;

use jiff::Timestamp;
use segue_core::model::{Activity, Evidence, Failure, Signal, Source, WaitingFor};
use segue_core::ports::SignalSources;
use serde::Deserialize;

use super::failures::{self, OpencodeError};
use super::{OpenCode, paths};
use crate::shared::signals;

/// No file is watched, because the plugin reports every change.
impl SignalSources for OpenCode {
    fn evidence_timeout(&self) -> Duration {
        // The first start after an installation installs a package.
        Duration::from_secs(120)
    }

    /// Reads signals from one line. No line contains the whole answer, so the signal of its end has
    /// no text.
    fn stream_signals(&self, line: &str) -> Vec<Signal> {
        let Ok(line) = serde_json::from_str::<OpencodeStreamLine>(line) else { return Vec::new() };
        if !paths::is_id(&line.session) {
            return Vec::new();
        }
        let mut found = vec![signals::conversation(line.session, Evidence::Stream)];
        match line.r#type.as_str() {
            "step_start" => found.push(signals::activity(Activity::Working, Source::Stream)),
            "step_finish" if line.part.reason != "tool-calls" => {
                found.push(signals::answered(""));
            }
            "error" => {
                let failure = line.error.unwrap_or_default().failure(None);
                found.push(Signal::TurnEnded { ok: false, text: String::new(), failure });
            }
            _ => {}
        }
        found
    }

    fn hook_signals(&self, payload: &str) -> Vec<Signal> {
        let Ok(payload) = serde_json::from_str::<PluginReport>(payload) else { return Vec::new() };
        if !paths::is_id(&payload.session) {
            return Vec::new();
        }
        let mut found = vec![signals::conversation(payload.session.as_str(), Evidence::Hook)];
        found.extend(signals_of_report(payload));
        found
    }

    fn failure_in_output(&self, errors: &str) -> Option<Failure> {
        failures::failure_in_output(errors)
    }
}

/// A report of the plugin.
#[derive(Deserialize)]
struct PluginReport {
    event: String,
    session: String,
    reason: Option<String>,
    #[serde(default)]
    text: String,
    error: Option<OpencodeError>,
    /// The time of the next attempt, in milliseconds since the Unix epoch.
    until: Option<f64>,
}

fn signals_of_report(payload: PluginReport) -> Vec<Signal> {
    let active = |activity| signals::activity(activity, Source::Hook);
    match payload.event.as_str() {
        "idle" => vec![active(Activity::Idle)],
        "working" => vec![active(Activity::Working)],
        "waiting" if payload.reason.as_deref() == Some("question") => {
            vec![active(Activity::Waiting(WaitingFor::Question))]
        }
        "waiting" => vec![active(Activity::Waiting(WaitingFor::Permission))],
        "ended" => vec![turn_ended(payload), active(Activity::Idle)],
        // OpenCode retries, so the agent is not idle.
        "failing" => vec![turn_ended(payload)],
        _ => Vec::new(),
    }
}

fn turn_ended(payload: PluginReport) -> Signal {
    #[expect(clippy::cast_possible_truncation, reason = "a time in milliseconds")]
    let resets_at = payload.until.and_then(|until| Timestamp::from_millisecond(until as i64).ok());
    let ok = payload.error.is_none();
    let failure = payload.error.and_then(|error| error.failure(resets_at));
    Signal::TurnEnded { ok, text: payload.text, failure }
}

/// A line of a headless turn's output.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OpencodeStreamLine {
    r#type: String,
    #[serde(rename = "sessionID")]
    session: String,
    #[serde(default)]
    part: StreamPart,
    error: Option<OpencodeError>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct StreamPart {
    reason: String,
}

#[cfg(test)]
mod tests;
