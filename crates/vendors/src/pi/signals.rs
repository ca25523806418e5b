//! Signals from our extension and from a headless turn's output.

use std::path::PathBuf;
use std::time::Duration;

use segue_core::model::{Activity, Evidence, Failure, Signal, Source};
use segue_core::ports::{Place, SignalSources};
use serde::Deserialize;

use super::records::{Header, PiMeaning, PiMessage, PiRecord, PiRecordKind};
use super::{Pi, failures, paths};
use crate::shared::signals;

/// Files give no signals, because a transcript does not show which process has written it.
impl SignalSources for Pi {
    fn evidence_timeout(&self) -> Duration {
        Duration::from_secs(60)
    }

    fn watched(&self, place: &Place) -> Vec<PathBuf> {
        vec![paths::transcripts(place)]
    }

    /// Reads the signals in one line of a headless turn's output. After some failures Pi retries by
    /// itself, so the last signal counts. The line about the end of the run can be missing, because
    /// Pi exits without waiting until it is written.
    fn stream_signals(&self, line: &str) -> Vec<Signal> {
        if line.starts_with(REPEATS) {
            return Vec::new();
        }
        let Some(record) = PiRecord::read(line.as_bytes()) else { return Vec::new() };
        match (record.kind, &record.message) {
            (PiRecordKind::MessageEnd, Some(message)) => match message.meaning() {
                PiMeaning::Said(_) | PiMeaning::Continues | PiMeaning::Nothing => Vec::new(),
                _ => vec![turn_end(message)],
            },
            _ => record.header().map_or_else(Vec::new, |header| begun(&header)),
        }
    }

    /// Reads the signals in a report of our extension.
    fn hook_signals(&self, payload: &str) -> Vec<Signal> {
        let Ok(told) = serde_json::from_str::<ExtensionReport>(payload) else { return Vec::new() };
        if !paths::is_id(&told.session) {
            return Vec::new();
        }
        let mut found = vec![signals::conversation(told.session, Evidence::Hook)];
        let activity = match told.event {
            ExtensionEvent::In => return found,
            ExtensionEvent::Working => Activity::Working,
            ExtensionEvent::Idle => Activity::Idle,
            ExtensionEvent::Ended => {
                let refused = told.error.map(|error| failed(&error));
                found.extend(refused.or_else(|| told.message.map(|message| turn_end(&message))));
                Activity::Idle
            }
        };
        found.push(signals::activity(activity, Source::Hook));
        found
    }

    fn last_words(&self, errors: &str) -> Option<Failure> {
        failures::last_words(errors)
    }
}

/// A report of our extension.
#[derive(Deserialize)]
struct ExtensionReport {
    session: String,
    event: ExtensionEvent,
    /// The last message of a turn that has ended.
    #[serde(default)]
    message: Option<PiMessage>,
    /// Why Pi sent no request to the model.
    #[serde(default)]
    error: Option<String>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ExtensionEvent {
    /// The process is in this conversation. Its activity is unknown.
    In,
    Idle,
    Working,
    Ended,
}

/// The beginning of lines that are frequent and long and give no signals: each repeats the whole
/// message so far.
const REPEATS: &str = r#"{"type":"message_update","#;

fn begun(header: &Header) -> Vec<Signal> {
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
