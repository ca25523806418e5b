//! Signals from a launch's files and output.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::path::Path;

use segue_core::model::{Activity, Evidence, ProcessRef, Signal, Source, VendorSessionId};
use segue_core::ports::Files;
use serde::Deserialize;

use super::failure::CopilotError;
use super::records::{CopilotEvent, CopilotRecord};
use super::{home, lock};
use crate::shared::reading;

/// Reads the signals of the launch's own process from a changed file: the conversation that it
/// holds open, and what the events there show. Files of other processes give no signals.
pub(super) fn of_file(files: &dyn Files, changed: &Path, agent: &ProcessRef) -> Vec<Signal> {
    if let Some(config_dir) = home::of_open(changed) {
        let current = lock::current(files, config_dir, agent.pid);
        return current.map(|id| conversation(id, Evidence::Lock)).into_iter().collect();
    }
    if home::pid_of_log(changed) == Some(agent.pid) {
        let shown = lock::shown(files, changed, agent.pid);
        return shown.map(|id| conversation(id, Evidence::Registry)).into_iter().collect();
    }
    let (Some(folder), Some(id)) = (changed.parent(), home::id_of(changed)) else {
        return Vec::new();
    };
    if !lock::holds(files, folder, agent.pid) {
        return Vec::new();
    }
    let mut signals = vec![conversation(VendorSessionId::new(id), Evidence::Lock)];
    if home::is_transcript(changed) {
        signals.extend(turn(files, changed));
    }
    signals
}

/// Reads the signals of the last turn. Only events since the current process opened the
/// conversation count, because earlier events are about another process.
fn turn(files: &dyn Files, path: &Path) -> Vec<Signal> {
    let length = files.facts(path).ok().flatten().map_or(0, |facts| facts.length);
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

/// State of reading a transcript from its end: what the records that were read so far show.
#[derive(Default)]
struct Newest {
    given: HashSet<String>,
    /// The newest request to the model has ended.
    asked: bool,
}

impl Newest {
    /// Takes the next record from the end. Returns the signals if this record decides, and `None`
    /// if an older record is needed.
    fn take(&mut self, event: CopilotEvent) -> Option<Vec<Signal>> {
        let idle = active(Activity::Idle, Source::Transcript);
        let working = active(Activity::Working, Source::Transcript);
        Some(match event {
            CopilotEvent::Began(_) | CopilotEvent::Resumed => Vec::new(),
            CopilotEvent::Aborted => {
                vec![Signal::TurnEnded { ok: false, text: String::new(), failure: None }, idle]
            }
            CopilotEvent::Failed(failure) => {
                let failure = Some(failure);
                vec![Signal::TurnEnded { ok: false, text: String::new(), failure }, idle]
            }
            CopilotEvent::Message(said) if self.asked && said.calls.is_empty() => {
                vec![Signal::TurnEnded { ok: true, text: said.text, failure: None }, idle]
            }
            CopilotEvent::Wants(id, reason) if !self.given.contains(&id) => {
                vec![active(Activity::Waiting(reason), Source::Transcript)]
            }
            CopilotEvent::Said(_) | CopilotEvent::Asks | CopilotEvent::Message(_) => vec![working],
            CopilotEvent::Given(id) => {
                self.given.insert(id);
                return None;
            }
            CopilotEvent::Asked => {
                self.asked = true;
                return None;
            }
            _ => return None,
        })
    }
}

fn conversation(id: VendorSessionId, evidence: Evidence) -> Signal {
    Signal::Conversation { id, evidence }
}

fn active(activity: Activity, source: Source) -> Signal {
    Signal::Activity { activity, source }
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

/// Reads the signals in one line of a headless turn's output. The last line has `"exitCode":0` even
/// after an interruption, so a turn counts as successful only if the model answers without a tool
/// call.
pub(super) fn of_stream(line: &str) -> Vec<Signal> {
    match serde_json::from_str(line) {
        Ok(CopilotStreamLine::Result { session_id }) if home::is_id(&session_id) => {
            vec![conversation(VendorSessionId::new(session_id), Evidence::Stream)]
        }
        Ok(CopilotStreamLine::Idle { data: Idle { aborted: true } }) => {
            vec![Signal::TurnEnded { ok: false, text: String::new(), failure: None }]
        }
        Ok(CopilotStreamLine::Error { data }) => {
            let failure = Some(data.failure());
            vec![Signal::TurnEnded { ok: false, text: String::new(), failure }]
        }
        Ok(_) => Vec::new(),
        Err(_) => match CopilotRecord::read(line.as_bytes()).map(|record| record.event) {
            Some(CopilotEvent::Said(_)) => vec![active(Activity::Working, Source::Stream)],
            Some(CopilotEvent::Message(said)) if said.calls.is_empty() => {
                vec![Signal::TurnEnded { ok: true, text: said.text, failure: None }]
            }
            _ => Vec::new(),
        },
    }
}

#[cfg(test)]
mod tests;
