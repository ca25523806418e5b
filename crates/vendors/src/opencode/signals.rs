//! Signals from the plugin and the output of a launch.

use jiff::Timestamp;
use segue_core::model::{Activity, Evidence, Signal, Source, VendorSessionId, WaitingFor};
use serde::Deserialize;

use super::failures::OpencodeError;
use super::home;

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

/// Reads the signals in a report of the plugin.
pub(super) fn of_hook(payload: &str) -> Vec<Signal> {
    let Ok(payload) = serde_json::from_str::<PluginReport>(payload) else { return Vec::new() };
    if !home::is_id(&payload.session) {
        return Vec::new();
    }
    let id = VendorSessionId::new(payload.session.clone());
    let mut signals = vec![Signal::Conversation { id, evidence: Evidence::Hook }];
    signals.extend(meaning(payload));
    signals
}

fn meaning(payload: PluginReport) -> Vec<Signal> {
    let active = |activity| Signal::Activity { activity, source: Source::Hook };
    match payload.event.as_str() {
        "idle" => vec![active(Activity::Idle)],
        "working" => vec![active(Activity::Working)],
        "waiting" if payload.reason.as_deref() == Some("question") => {
            vec![active(Activity::Waiting(WaitingFor::Question))]
        }
        "waiting" => vec![active(Activity::Waiting(WaitingFor::Permission))],
        "ended" => vec![ended(payload), active(Activity::Idle)],
        // OpenCode keeps trying, so the agent is not idle.
        "failing" => vec![ended(payload)],
        _ => Vec::new(),
    }
}

fn ended(payload: PluginReport) -> Signal {
    #[expect(clippy::cast_possible_truncation, reason = "a time in milliseconds")]
    let until = payload.until.and_then(|until| Timestamp::from_millisecond(until as i64).ok());
    let ok = payload.error.is_none();
    let failure = payload.error.and_then(|error| error.failure(until));
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

/// Reads the signals in one line of a headless turn's output. The last line does not contain the
/// agent's answer; only the database does.
pub(super) fn of_stream(line: &str) -> Vec<Signal> {
    let Ok(line) = serde_json::from_str::<OpencodeStreamLine>(line) else { return Vec::new() };
    if !home::is_id(&line.session) {
        return Vec::new();
    }
    let id = VendorSessionId::new(line.session);
    let mut signals = vec![Signal::Conversation { id, evidence: Evidence::Stream }];
    let ended = |ok, failure| Signal::TurnEnded { ok, text: String::new(), failure };
    match line.r#type.as_str() {
        "step_start" => {
            signals.push(Signal::Activity { activity: Activity::Working, source: Source::Stream });
        }
        "step_finish" if line.part.reason != "tool-calls" => signals.push(ended(true, None)),
        "error" => {
            let failure = line.error.unwrap_or_default().failure(None);
            signals.push(ended(false, failure));
        }
        _ => {}
    }
    signals
}

#[cfg(test)]
mod tests;
