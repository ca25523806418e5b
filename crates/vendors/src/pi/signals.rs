//! Reads signals from the extension's reports and from the output of a headless turn.

use std::path::PathBuf;
use std::time::Duration;

use segue_core::model::{Activity, Evidence, Failure, Signal, Source};
use segue_core::ports::{Place, SignalSources};
use serde::Deserialize;

use super::records::{Header, PiMeaning, PiMessage, PiRecord, PiRecordKind};
use super::{Pi, failures, paths};
use crate::shared::signals;

/// Files give no signals, because a transcript does not name the process that writes it.
impl SignalSources for Pi {
    fn evidence_timeout(&self) -> Duration {
        Duration::from_secs(60)
    }

    fn watched(&self, place: &Place) -> Vec<PathBuf> {
        vec![paths::transcripts_folder(place)]
    }

    /// Reads signals from one line. After some failures Pi retries, so the last signal counts. The
    /// line about the end of the run is not used, because Pi may exit before it has written it.
    fn stream_signals(&self, line: &str) -> Vec<Signal> {
        if line.starts_with(UPDATE_PREFIX) {
            return Vec::new();
        }
        let Some(record) = PiRecord::read(line.as_bytes()) else { return Vec::new() };
        match (record.kind, &record.message) {
            (PiRecordKind::MessageEnd, Some(message)) => match message.meaning() {
                PiMeaning::UserMessage(_) | PiMeaning::Continues | PiMeaning::NoEffect => {
                    Vec::new()
                }
                _ => vec![turn_end(message)],
            },
            _ => record.header().map_or_else(Vec::new, |header| start_signals(&header)),
        }
    }

    fn hook_signals(&self, payload: &str) -> Vec<Signal> {
        let Ok(report) = serde_json::from_str::<ExtensionReport>(payload) else {
            return Vec::new();
        };
        if !paths::is_id(&report.session) {
            return Vec::new();
        }
        let mut found = vec![signals::conversation(report.session, Evidence::Hook)];
        let activity = match report.event {
            ExtensionEvent::In => return found,
            ExtensionEvent::Working => Activity::Working,
            ExtensionEvent::Idle => Activity::Idle,
            ExtensionEvent::Ended => {
                let request_error = report.error.map(|error| failed(&error));
                found.extend(
                    request_error.or_else(|| report.message.map(|message| turn_end(&message))),
                );
                Activity::Idle
            }
        };
        found.push(signals::activity(activity, Source::Hook));
        found
    }

    fn failure_in_output(&self, errors: &str) -> Option<Failure> {
        failures::failure_in_output(errors)
    }
}

/// A report of the extension.
#[derive(Deserialize)]
struct ExtensionReport {
    session: String,
    event: ExtensionEvent,
    /// The last message of a turn that has ended.
    #[serde(default)]
    message: Option<PiMessage>,
    /// The reason why Pi sent no request to the model.
    #[serde(default)]
    error: Option<String>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ExtensionEvent {
    /// The process is in this conversation, and its activity is unknown.
    In,
    Idle,
    Working,
    Ended,
}

/// The beginning of lines that are skipped before they are parsed. Such lines are frequent and
/// long, because each one repeats the whole message.
const UPDATE_PREFIX: &str = r#"{"type":"message_update","#;

fn start_signals(header: &Header) -> Vec<Signal> {
    if !paths::is_id(&header.id) {
        return Vec::new();
    }
    let working = signals::activity(Activity::Working, Source::Stream);
    vec![signals::conversation(header.id.as_str(), Evidence::Stream), working]
}

fn turn_end(last: &PiMessage) -> Signal {
    match last.meaning() {
        PiMeaning::Answered(text) => signals::answered(text),
        PiMeaning::Failed(error) => failed(&error),
        _ => signals::interrupted(),
    }
}

fn failed(error: &str) -> Signal {
    signals::failed(error, failures::failure(error))
}

#[cfg(test)]
mod tests;
