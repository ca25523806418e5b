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

/// Shown in the title while Gemini waits for an answer, and while the model works.
const WANTED: char = '✋';
const WORKS: char = '✦';

impl SignalSources for Gemini {
    fn evidence_timeout(&self) -> Duration {
        // A start takes four seconds alone, and several times as long while other agents start.
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

    /// Reads signals about the launch's own process from a changed transcript: the process is in
    /// this conversation if it has written to the transcript since its start. The transcripts of
    /// other processes yield no signal.
    fn file_signals(&self, files: &dyn Files, changed: &Path, agent: &ProcessRef) -> Vec<Signal> {
        if own_log::is_one(changed) {
            return of_log(files, agent);
        }
        let current = changed.parent().and_then(|chats| {
            let id = process::current(files, chats, agent.pid)?;
            Some((paths::transcript_in(files, chats, &id), id))
        });
        let since = process::writes_since(files, agent);
        let Some(((transcript, id), since)) = current.zip(since) else { return Vec::new() };
        if transcript == changed {
            of_transcript(files, changed, id, since)
        } else if paths::id_of(files, changed) == Some(id) {
            of_first_file(files, changed, since)
        } else {
            Vec::new()
        }
    }

    /// Reads one line of a headless turn's output. The agent's answer comes in several lines; the
    /// transcript has the whole text.
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

    /// Reads the title. A title that shows an idle Gemini yields no signal: Gemini also shows it
    /// while it asks a question before the first turn, and only the screen shows the difference.
    fn title_signals(&self, title: &str) -> Vec<Signal> {
        let activity = title_activity(title).filter(|activity| *activity != Activity::Idle);
        activity.map(|activity| signals::activity(activity, Source::Title)).into_iter().collect()
    }

    fn last_words(&self, errors: &str) -> Option<Failure> {
        failures::last_words(errors)
    }
}

/// Reads the file that a process begins before it resumes its conversation. The process writes
/// messages there that are shown but not part of the conversation, such as how turns failed.
fn of_first_file(files: &dyn Files, path: &Path, since: Timestamp) -> Vec<Signal> {
    let length = files::length(files, path);
    let turn = GeminiTranscriptEnd::read(files, path, length).ok().and_then(|end| end.turn);
    let over =
        turn.filter(|(at, turn)| *at >= since && !matches!(turn, GeminiTurnEnd::Answered(_)));
    over.map(|(at, turn)| ended(turn, at)).into_iter().collect()
}

/// Reads the signals after a new line in the process's own log, which may report a new
/// conversation.
fn of_log(files: &dyn Files, agent: &ProcessRef) -> Vec<Signal> {
    let environment = process::environment(files, agent.pid);
    let chats = own_log::place(&environment).map(|place| paths::chats(files, &place));
    let id = chats.as_ref().and_then(|chats| own_log::begun(files, chats, &environment));
    match id.zip(chats) {
        Some((id, chats)) => {
            Gemini.file_signals(files, &paths::transcript_in(files, &chats, &id), agent)
        }
        None => Vec::new(),
    }
}

fn of_transcript(
    files: &dyn Files,
    path: &Path,
    id: VendorSessionId,
    since: Timestamp,
) -> Vec<Signal> {
    let facts = files.facts(path).ok().flatten().filter(|facts| facts.modified >= since);
    let Some(facts) = facts else { return Vec::new() };
    let end =
        GeminiTranscriptEnd::read(files, path, facts.length).ok().filter(|end| is_own(end, since));
    let Some(end) = end else { return Vec::new() };
    let mut found = vec![Signal::Conversation { id, evidence: Evidence::Transcript }];
    // The transcript shows this before the title does. Until then, the input looks ready.
    let works = end.goes_on.filter(|at| *at >= since);
    found.extend(works.map(|_| signals::activity(Activity::Working, Source::Transcript)));
    let over = end.turn.filter(|(at, _)| *at >= since);
    found.extend(over.map(|(at, turn)| ended(turn, at)));
    found
}

/// Returns whether the process itself wrote the end of the transcript. Another process may have
/// added a summary.
fn is_own(end: &GeminiTranscriptEnd, since: Timestamp) -> bool {
    match end.written {
        Some(WriterProcess::AtResume) => true,
        Some(WriterProcess::At(at)) => at >= since,
        None => false,
    }
}

fn ended(turn: GeminiTurnEnd, at: Timestamp) -> Signal {
    match turn {
        GeminiTurnEnd::Answered(text) => signals::answered(text),
        GeminiTurnEnd::Failed(message) => {
            signals::failed("", failures::failure(&message, Some(at)))
        }
        GeminiTurnEnd::Cancelled => signals::interrupted(),
    }
}

/// Returns the activity that the title shows, or `None` for any other title.
pub(super) fn title_activity(title: &str) -> Option<Activity> {
    match title.trim_start().chars().next()? {
        WANTED => Some(Activity::Waiting(WaitingFor::Permission)),
        WORKS | '⏲' => Some(Activity::Working),
        '◇' => Some(Activity::Idle),
        _ => None,
    }
}

/// A line of a headless turn's output, if it is used as a signal.
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
