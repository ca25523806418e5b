//! Reads signals of a launch from Gemini's files, title and output.

use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use segue_core::model::{
    Activity, Evidence, Failure, ProcessRef, Signal, Source, VendorSessionId, WaitingFor,
};
use segue_core::ports::{Files, Place, SignalSources};
use serde::Deserialize;

use super::records::WriterProcess;
use super::transcript::{GeminiTranscriptEnd, GeminiTurnEnd};
use super::{Gemini, failures, own_log, paths, process};
use crate::shared::{files, signals};

/// The first character of the title while Gemini waits for an answer, and while the model works.
const WAITING_MARK: char = '✋';
const WORKING_MARK: char = '✦';

impl SignalSources for Gemini {
    fn evidence_timeout(&self) -> Duration {
        // A start takes four seconds, and several times as long if other agents start at the same
        // time.
        Duration::from_secs(90)
    }

    fn watched_for(
        &self,
        files: &dyn Files,
        place: &Place,
        _id: Option<&VendorSessionId>,
        _now: Timestamp,
    ) -> Vec<PathBuf> {
        vec![paths::chats(files, place)]
    }

    /// Reads signals from a transcript of the launch's own process. The process is in this
    /// conversation if it has written to the transcript since its start.
    fn file_signals(&self, files: &dyn Files, changed: &Path, agent: &ProcessRef) -> Vec<Signal> {
        if own_log::is_log(changed) {
            return log_signals(files, agent);
        }
        let current = changed.parent().and_then(|chats| {
            let id = process::current_conversation(files, chats, agent.pid)?;
            Some((paths::transcript_in(files, chats, &id), id))
        });
        let since = process::first_write_time(files, agent);
        let Some(((transcript, id), since)) = current.zip(since) else { return Vec::new() };
        if transcript == changed {
            transcript_signals(files, changed, id, since)
        } else if paths::id_of(files, changed) == Some(id) {
            first_file_signals(files, changed, since)
        } else {
            Vec::new()
        }
    }

    /// Reads signals from one line. The answer is split into several lines, so the signal of its
    /// end has no text.
    fn stream_signals(&self, line: &str) -> Vec<Signal> {
        match serde_json::from_str(line) {
            Ok(GeminiStreamLine::Init { session_id }) if paths::is_id(&session_id) => {
                let working = signals::activity(Activity::Working, Source::Stream);
                vec![signals::conversation(session_id, Evidence::Stream), working]
            }
            Ok(GeminiStreamLine::Result { status, .. }) if status == "success" => {
                vec![signals::answered("")]
            }
            Ok(GeminiStreamLine::Result { error, timestamp, .. }) => {
                let message = error.map(|error| error.message).unwrap_or_default();
                vec![signals::failed("", failures::failure(&message, timestamp))]
            }
            Ok(GeminiStreamLine::Init { .. }) | Err(_) => Vec::new(),
        }
    }

    /// Reads signals from the title. An idle title gives no signal, because Gemini also shows it
    /// while it asks a question before the first turn.
    fn title_signals(&self, title: &str) -> Vec<Signal> {
        let activity = title_activity(title).filter(|activity| *activity != Activity::Idle);
        activity.map(|activity| signals::activity(activity, Source::Title)).into_iter().collect()
    }

    fn failure_in_output(&self, errors: &str) -> Option<Failure> {
        failures::failure_in_output(errors)
    }
}

/// Reads the file that a process creates before it resumes its conversation. The process writes
/// messages to it that are not part of the conversation, such as errors of failed turns.
fn first_file_signals(files: &dyn Files, path: &Path, since: Timestamp) -> Vec<Signal> {
    let length = files::length(files, path);
    let turn = GeminiTranscriptEnd::read(files, path, length).ok().and_then(|end| end.turn);
    let turn =
        turn.filter(|(at, turn)| *at >= since && !matches!(turn, GeminiTurnEnd::Answered(_)));
    turn.map(|(at, turn)| turn_ended(turn, at)).into_iter().collect()
}

/// Reads signals after a change of the process's log. The log may name a new conversation.
fn log_signals(files: &dyn Files, agent: &ProcessRef) -> Vec<Signal> {
    let environment = process::environment(files, agent.pid);
    let chats = own_log::place(&environment).map(|place| paths::chats(files, &place));
    let id = chats.as_ref().and_then(|chats| own_log::last_begun(files, chats, &environment));
    match id.zip(chats) {
        Some((id, chats)) => {
            Gemini.file_signals(files, &paths::transcript_in(files, &chats, &id), agent)
        }
        None => Vec::new(),
    }
}

fn transcript_signals(
    files: &dyn Files,
    path: &Path,
    id: VendorSessionId,
    since: Timestamp,
) -> Vec<Signal> {
    let facts = files.facts(path).ok().flatten().filter(|facts| facts.modified >= since);
    let Some(facts) = facts else { return Vec::new() };
    let end = GeminiTranscriptEnd::read(files, path, facts.length)
        .ok()
        .filter(|end| wrote_end(end, since));
    let Some(end) = end else { return Vec::new() };
    let mut found = vec![Signal::Conversation { id, evidence: Evidence::Transcript }];
    // The transcript shows the work before the title does. Until then, the input looks ready.
    let working_since = end.working_since.filter(|at| *at >= since);
    found.extend(working_since.map(|_| signals::activity(Activity::Working, Source::Transcript)));
    let turn = end.turn.filter(|(at, _)| *at >= since);
    found.extend(turn.map(|(at, turn)| turn_ended(turn, at)));
    found
}

/// Returns whether the process wrote the end of the transcript. Another process may have written a
/// summary.
fn wrote_end(end: &GeminiTranscriptEnd, since: Timestamp) -> bool {
    match end.written {
        Some(WriterProcess::AtResume) => true,
        Some(WriterProcess::At(at)) => at >= since,
        None => false,
    }
}

fn turn_ended(turn: GeminiTurnEnd, at: Timestamp) -> Signal {
    match turn {
        GeminiTurnEnd::Answered(text) => signals::answered(text),
        GeminiTurnEnd::Failed(message) => {
            signals::failed("", failures::failure(&message, Some(at)))
        }
        GeminiTurnEnd::Cancelled => signals::interrupted(),
    }
}

/// Returns the activity that the title shows. `None` for an unknown title.
pub(super) fn title_activity(title: &str) -> Option<Activity> {
    match title.trim_start().chars().next()? {
        WAITING_MARK => Some(Activity::Waiting(WaitingFor::Permission)),
        WORKING_MARK | '⏲' => Some(Activity::Working),
        '◇' => Some(Activity::Idle),
        _ => None,
    }
}

/// A line of a headless turn's output that contains signals.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum GeminiStreamLine {
    Init { session_id: String },
    Result { status: String, error: Option<GeminiError>, timestamp: Option<Timestamp> },
}

#[derive(Deserialize)]
struct GeminiError {
    message: String,
}

#[cfg(test)]
mod tests;
