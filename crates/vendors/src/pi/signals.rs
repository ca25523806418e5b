//! Signals from our extension and from a headless turn's output.

use segue_core::model::{Activity, Evidence, Signal, Source, VendorSessionId};
use serde::Deserialize;

use super::records::{Header, PiMeaning, PiMessage, PiRecord, PiRecordKind};
use super::{failures, home};

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

/// Reads the signals in a report of our extension.
pub(super) fn of_extension(payload: &str) -> Vec<Signal> {
    let Ok(told) = serde_json::from_str::<ExtensionReport>(payload) else { return Vec::new() };
    if !home::is_id(&told.session) {
        return Vec::new();
    }
    let id = VendorSessionId::new(&*told.session);
    let mut signals = vec![Signal::Conversation { id, evidence: Evidence::Hook }];
    let activity = match told.event {
        ExtensionEvent::In => return signals,
        ExtensionEvent::Working => Activity::Working,
        ExtensionEvent::Idle => Activity::Idle,
        ExtensionEvent::Ended => {
            let refused = told.error.map(|error| failed(&error));
            signals.extend(refused.or_else(|| told.message.map(|message| turn_end(&message))));
            Activity::Idle
        }
    };
    signals.push(Signal::Activity { activity, source: Source::Hook });
    signals
}

/// The beginning of lines that are frequent and long and give no signals: each repeats the whole
/// message so far.
const REPEATS: &str = r#"{"type":"message_update","#;

/// Reads the signals in one line of a headless turn's output. After some failures Pi retries by
/// itself, so the last signal counts. The line about the end of the run can be missing, because Pi
/// exits without waiting until it is written.
pub(super) fn of_stream(line: &str) -> Vec<Signal> {
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

fn begun(header: &Header) -> Vec<Signal> {
    if !home::is_id(&header.id) {
        return Vec::new();
    }
    let id = VendorSessionId::new(&*header.id);
    let working = Signal::Activity { activity: Activity::Working, source: Source::Stream };
    vec![Signal::Conversation { id, evidence: Evidence::Stream }, working]
}

fn turn_end(last: &PiMessage) -> Signal {
    match last.meaning() {
        PiMeaning::Answered(text) => Signal::TurnEnded { ok: true, text, failure: None },
        PiMeaning::Failed(error) => failed(&error),
        _ => Signal::TurnEnded { ok: false, text: String::new(), failure: None },
    }
}

fn failed(error: &str) -> Signal {
    let failure = Some(failures::failure(error));
    Signal::TurnEnded { ok: false, text: error.to_owned(), failure }
}

#[cfg(test)]
mod tests;
