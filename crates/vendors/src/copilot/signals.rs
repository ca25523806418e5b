//! Signals from Copilot's files and output.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use segue_core::model::{Activity, Evidence, Failure, ProcessRef, Signal, Source, VendorSessionId};
use segue_core::ports::{Files, Place, SignalSources};
use serde::Deserialize;

use super::failures::{self, CopilotError};
use super::records::{CopilotEvent, CopilotRecord};
use super::{Copilot, lock, paths};
use crate::shared::{files, reading, signals};

impl SignalSources for Copilot {
    fn evidence_timeout(&self) -> Duration {
        // The first start of a version unpacks the program.
        Duration::from_secs(60)
    }

    fn watched(&self, place: &Place) -> Vec<PathBuf> {
        vec![place.config_dir.clone(), paths::logs(&place.config_dir)]
    }

    fn watched_for(
        &self,
        _files: &dyn Files,
        place: &Place,
        id: Option<&VendorSessionId>,
        _now: Timestamp,
    ) -> Vec<PathBuf> {
        id.map(|id| paths::conversation(&place.config_dir, id.as_str())).into_iter().collect()
    }

    /// Reads the conversation that the process holds open, and the events of that conversation.
    fn file_signals(&self, files: &dyn Files, changed: &Path, agent: &ProcessRef) -> Vec<Signal> {
        if let Some(config_dir) = paths::config_dir_of_open_conversations(changed) {
            let current = lock::current(files, config_dir, agent.pid);
            let signal = |id| Signal::Conversation { id, evidence: Evidence::Lock };
            return current.map(signal).into_iter().collect();
        }
        if paths::pid_of_log(changed) == Some(agent.pid) {
            let foreground = lock::foreground(files, changed, agent.pid);
            let signal = |id| Signal::Conversation { id, evidence: Evidence::Registry };
            return foreground.map(signal).into_iter().collect();
        }
        let (Some(folder), Some(id)) =
            (changed.parent(), paths::id_of_file_in_conversation(changed))
        else {
            return Vec::new();
        };
        if !lock::holds(files, folder, agent.pid) {
            return Vec::new();
        }
        let mut found = vec![signals::conversation(id, Evidence::Lock)];
        if paths::is_transcript(changed) {
            found.extend(last_turn_signals(files, changed));
        }
        found
    }

    /// A turn counts as successful only if the model answers without a tool call: the last line has
    /// `"exitCode":0` even after an interruption.
    fn stream_signals(&self, line: &str) -> Vec<Signal> {
        match serde_json::from_str(line) {
            Ok(CopilotStreamLine::Result { session_id }) if paths::is_id(&session_id) => {
                vec![signals::conversation(session_id, Evidence::Stream)]
            }
            Ok(CopilotStreamLine::Idle { data: Idle { aborted: true } }) => {
                vec![signals::interrupted()]
            }
            Ok(CopilotStreamLine::Error { data }) => vec![signals::failed("", data.failure())],
            Ok(_) => Vec::new(),
            Err(_) => match CopilotRecord::read(line.as_bytes()).map(|record| record.event) {
                Some(CopilotEvent::UserMessage(_)) => {
                    vec![signals::activity(Activity::Working, Source::Stream)]
                }
                Some(CopilotEvent::ModelMessage(message)) if message.calls.is_empty() => {
                    vec![signals::answered(message.text)]
                }
                _ => Vec::new(),
            },
        }
    }

    fn failure_in_output(&self, errors: &str) -> Option<Failure> {
        failures::failure_in_output(errors)
    }
}

/// Reads the signals of the last turn. Events from before the process opened the conversation are
/// ignored, because they are about another process.
fn last_turn_signals(files: &dyn Files, path: &Path) -> Vec<Signal> {
    let length = files::length(files, path);
    let (mut newest, mut signals) = (Newest::default(), Vec::new());
    // Ignore a read error: the file is read again after its next change.
    let _ended = reading::each_tail_line(files, path, length, |line| {
        let Some(record) = CopilotRecord::read(line) else { return ControlFlow::Continue(()) };
        match newest.take(record.event) {
            Some(found) => {
                signals = found;
                ControlFlow::Break(())
            }
            None => ControlFlow::Continue(()),
        }
    });
    signals
}

/// What the records at the end of a transcript show about the last turn.
#[derive(Default)]
struct Newest {
    /// The ids of requests to the user that were answered or withdrawn.
    answered_requests: HashSet<String>,
    /// The last request to the model has ended.
    has_request_ended: bool,
}

impl Newest {
    /// Takes the next record from the end. Returns the signals if this record decides, and `None`
    /// if an older record is needed.
    fn take(&mut self, event: CopilotEvent) -> Option<Vec<Signal>> {
        let active = |activity| signals::activity(activity, Source::Transcript);
        let (idle, working) = (active(Activity::Idle), active(Activity::Working));
        Some(match event {
            CopilotEvent::Began(_) | CopilotEvent::Resumed => Vec::new(),
            CopilotEvent::Aborted => vec![signals::interrupted(), idle],
            CopilotEvent::Failed(failure) => vec![signals::failed("", failure), idle],
            CopilotEvent::ModelMessage(message)
                if self.has_request_ended && message.calls.is_empty() =>
            {
                vec![signals::answered(message.text), idle]
            }
            CopilotEvent::InputRequested(id, reason) if !self.answered_requests.contains(&id) => {
                vec![active(Activity::Waiting(reason))]
            }
            CopilotEvent::UserMessage(_)
            | CopilotEvent::RequestBegan
            | CopilotEvent::ModelMessage(_) => vec![working],
            CopilotEvent::InputCompleted(id) => {
                self.answered_requests.insert(id);
                return None;
            }
            CopilotEvent::RequestEnded => {
                self.has_request_ended = true;
                return None;
            }
            _ => return None,
        })
    }
}

/// A line of a headless turn's output with a signal that the transcript does not contain.
#[derive(Deserialize)]
#[serde(tag = "type")]
enum CopilotStreamLine {
    #[serde(rename = "result", rename_all = "camelCase")]
    Result { session_id: String },
    #[serde(rename = "assistant.idle")]
    Idle { data: Idle },
    #[serde(rename = "session.error")]
    Error { data: CopilotError },
}

#[derive(Deserialize)]
struct Idle {
    #[serde(default)]
    aborted: bool,
}

#[cfg(test)]
mod tests;
