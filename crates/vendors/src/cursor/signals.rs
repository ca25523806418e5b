//! Signals from a headless turn's output and from the hooks of an interactive Cursor.

use std::path::PathBuf;

use segue_core::model::{Activity, Evidence, Signal, Source, VendorSessionId};
use serde::Deserialize;

use super::{failures, home};

/// A line of a headless turn's output, if it is a signal.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum CursorStreamLine {
    System { subtype: String, session_id: String },
    Result { is_error: bool, result: Option<String> },
}

/// Reads the signals in one line of a headless turn's output. A failed turn has no last line: only
/// the standard error and the exit code show the failure.
pub(super) fn of_stream(line: &str) -> Vec<Signal> {
    match serde_json::from_str(line) {
        Ok(CursorStreamLine::System { subtype, session_id })
            if subtype == "init" && home::is_id(&session_id) =>
        {
            let id = VendorSessionId::new(session_id);
            let working = Signal::Activity { activity: Activity::Working, source: Source::Stream };
            vec![Signal::Conversation { id, evidence: Evidence::Stream }, working]
        }
        Ok(CursorStreamLine::Result { is_error, result }) => {
            let text = result.unwrap_or_default();
            let failure = is_error.then(|| failures::failure(&text));
            vec![Signal::TurnEnded { ok: !is_error, text, failure }]
        }
        _ => Vec::new(),
    }
}

/// The payload of a hook, as far as it is a signal.
#[derive(Deserialize)]
struct CursorHookPayload {
    hook_event_name: String,
    conversation_id: String,
    /// How the turn ended.
    #[serde(default)]
    status: Option<String>,
    #[serde(default)]
    error_message: Option<String>,
    #[serde(default)]
    is_background_agent: bool,
    #[serde(default)]
    transcript_path: Option<PathBuf>,
}

impl CursorHookPayload {
    /// Returns whether the payload is about the conversation of the process itself. Other
    /// conversations have their transcripts in other places, or have none.
    fn is_own(&self) -> bool {
        let named = self.transcript_path.as_deref();
        let is_elsewhere = named.is_some_and(|path| {
            home::of_transcript(path).map(|(_, id)| id) != Some(&*self.conversation_id)
        });
        home::is_id(&self.conversation_id) && !self.is_background_agent && !is_elsewhere
    }

    fn end(&self) -> Signal {
        let text = String::new();
        match self.status.as_deref() {
            Some("error") => {
                let why = self.error_message.as_deref().unwrap_or_default();
                Signal::TurnEnded { ok: false, text, failure: Some(failures::failure(why)) }
            }
            Some("aborted") => Signal::TurnEnded { ok: false, text, failure: None },
            _ => Signal::TurnEnded { ok: true, text, failure: None },
        }
    }
}

/// Reads the signals in the payload of a hook.
pub(super) fn of_hook(payload: &str) -> Vec<Signal> {
    let Ok(payload) = serde_json::from_str::<CursorHookPayload>(payload) else { return Vec::new() };
    if !payload.is_own() {
        return Vec::new();
    }
    let (end, activity) = match payload.hook_event_name.as_str() {
        "sessionStart" => (None, Activity::Idle),
        "beforeSubmitPrompt" => (None, Activity::Working),
        "stop" => (Some(payload.end()), Activity::Idle),
        _ => return Vec::new(),
    };
    let id = VendorSessionId::new(payload.conversation_id);
    let mut signals = vec![Signal::Conversation { id, evidence: Evidence::Hook }];
    signals.extend(end);
    signals.push(Signal::Activity { activity, source: Source::Hook });
    signals
}

#[cfg(test)]
mod tests;
