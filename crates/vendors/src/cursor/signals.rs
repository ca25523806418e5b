//! Signals from a headless turn's output and from the hooks of an interactive Cursor.

use std::path::PathBuf;
use std::time::Duration;

use segue_core::model::{Activity, Evidence, Failure, Signal, Source};
use segue_core::ports::SignalSources;
use serde::Deserialize;

use super::{CursorVendor, failures, paths};
use crate::shared::signals;

impl SignalSources for CursorVendor {
    fn evidence_timeout(&self) -> Duration {
        Duration::from_secs(60)
    }

    /// A failed turn has no last line. Only the standard error and the exit code show the failure.
    fn stream_signals(&self, line: &str) -> Vec<Signal> {
        match serde_json::from_str(line) {
            Ok(CursorStreamLine::System { subtype, session_id })
                if subtype == "init" && paths::is_id(&session_id) =>
            {
                let working = signals::activity(Activity::Working, Source::Stream);
                vec![signals::conversation(session_id, Evidence::Stream), working]
            }
            Ok(CursorStreamLine::Result { is_error: true, result }) => {
                let text = result.unwrap_or_default();
                let failure = failures::failure(&text);
                vec![signals::failed(text, failure)]
            }
            Ok(CursorStreamLine::Result { is_error: false, result }) => {
                vec![signals::answered(result.unwrap_or_default())]
            }
            _ => Vec::new(),
        }
    }

    fn hook_signals(&self, payload: &str) -> Vec<Signal> {
        let Ok(payload) = serde_json::from_str::<CursorHookPayload>(payload) else {
            return Vec::new();
        };
        if !payload.is_own() {
            return Vec::new();
        }
        let (end, activity) = match payload.hook_event_name.as_str() {
            "sessionStart" => (None, Activity::Idle),
            "beforeSubmitPrompt" => (None, Activity::Working),
            "stop" => (Some(payload.end()), Activity::Idle),
            _ => return Vec::new(),
        };
        [signals::conversation(payload.conversation_id, Evidence::Hook)]
            .into_iter()
            .chain(end)
            .chain([signals::activity(activity, Source::Hook)])
            .collect()
    }

    fn failure_in_output(&self, errors: &str) -> Option<Failure> {
        failures::failure_in_output(errors)
    }
}

/// A line of a headless turn's output that is used as a signal.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum CursorStreamLine {
    System { subtype: String, session_id: String },
    Result { is_error: bool, result: Option<String> },
}

/// The fields of a hook's payload that are used as signals.
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
            paths::config_dir_and_id_of_transcript(path).map(|(_, id)| id)
                != Some(&*self.conversation_id)
        });
        paths::is_id(&self.conversation_id) && !self.is_background_agent && !is_elsewhere
    }

    fn end(&self) -> Signal {
        match self.status.as_deref() {
            Some("error") => {
                let message = self.error_message.as_deref().unwrap_or_default();
                signals::failed("", failures::failure(message))
            }
            Some("aborted") => signals::interrupted(),
            _ => signals::answered(""),
        }
    }
}

#[cfg(test)]
mod tests;
