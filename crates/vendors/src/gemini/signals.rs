//! Reads signals of a launch from Gemini's files, title and output.

use std::path::Path;

use jiff::Timestamp;
use segue_core::model::{
    Activity, Evidence, ProcessRef, Signal, Source, VendorSessionId, WaitingFor,
};
use segue_core::ports::Files;
use serde::Deserialize;

use super::records::WriterProcess;
use super::transcript::{GeminiTranscriptEnd, GeminiTurnEnd};
use super::{failures, home, own_log, process};

/// Shown in the title while Gemini waits for an answer, and while the model works.
const WANTED: char = '✋';
const WORKS: char = '✦';

/// Reads signals about the launch's own process from a changed transcript: the process is in this
/// conversation if it has written to the transcript since its start. The transcripts of other
/// processes yield no signal.
pub(super) fn of_file(files: &dyn Files, changed: &Path, agent: &ProcessRef) -> Vec<Signal> {
    if own_log::is_one(changed) {
        return of_log(files, agent);
    }
    let current = changed.parent().and_then(|chats| {
        let id = process::current(files, chats, agent.pid)?;
        Some((home::transcript_in(files, chats, &id), id))
    });
    let since = process::writes_since(files, agent);
    let Some(((transcript, id), since)) = current.zip(since) else { return Vec::new() };
    if transcript == changed {
        of_transcript(files, changed, id, since)
    } else if home::id_of(files, changed) == Some(id) {
        of_first_file(files, changed, since)
    } else {
        Vec::new()
    }
}

/// Reads the file that a process begins before it resumes its conversation. The process writes
/// messages there that are shown but not part of the conversation, such as how turns failed.
fn of_first_file(files: &dyn Files, path: &Path, since: Timestamp) -> Vec<Signal> {
    let length = files.facts(path).ok().flatten().map_or(0, |facts| facts.length);
    let turn = GeminiTranscriptEnd::read(files, path, length).ok().and_then(|end| end.turn);
    let over =
        turn.filter(|(at, turn)| *at >= since && !matches!(turn, GeminiTurnEnd::Answered(_)));
    over.map(|(at, turn)| ended(turn, at)).into_iter().collect()
}

/// Reads the signals after a new line in the process's own log, which may report a new
/// conversation.
fn of_log(files: &dyn Files, agent: &ProcessRef) -> Vec<Signal> {
    let environment = process::environment(files, agent.pid);
    let chats = own_log::place(&environment).map(|place| home::chats(files, &place));
    let id = chats.as_ref().and_then(|chats| own_log::begun(files, chats, &environment));
    match id.zip(chats) {
        Some((id, chats)) => of_file(files, &home::transcript_in(files, &chats, &id), agent),
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
    let mut signals = vec![Signal::Conversation { id, evidence: Evidence::Transcript }];
    // The transcript shows this before the title does. Until then, the input looks ready.
    let works = end.goes_on.filter(|at| *at >= since);
    signals.extend(works.map(|_| active(Activity::Working, Source::Transcript)));
    let over = end.turn.filter(|(at, _)| *at >= since);
    signals.extend(over.map(|(at, turn)| ended(turn, at)));
    signals
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
        GeminiTurnEnd::Answered(text) => Signal::TurnEnded { ok: true, text, failure: None },
        GeminiTurnEnd::Failed(words) => failed(&words, Some(at)),
        GeminiTurnEnd::Cancelled => {
            Signal::TurnEnded { ok: false, text: String::new(), failure: None }
        }
    }
}

fn failed(words: &str, at: Option<Timestamp>) -> Signal {
    let failure = Some(failures::failure(words, at));
    Signal::TurnEnded { ok: false, text: String::new(), failure }
}

fn active(activity: Activity, source: Source) -> Signal {
    Signal::Activity { activity, source }
}

/// Reads the title. A title that shows an idle Gemini yields no signal: Gemini also shows it while
/// it asks a question before the first turn, and only the screen shows the difference.
pub(super) fn of_title(title: &str) -> Vec<Signal> {
    let activity = title_activity(title).filter(|activity| *activity != Activity::Idle);
    activity.map(|activity| active(activity, Source::Title)).into_iter().collect()
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

/// Reads one line of a headless turn's output. The agent's answer comes in several lines; the
/// transcript has the whole text.
pub(super) fn of_stream(line: &str) -> Vec<Signal> {
    match serde_json::from_str(line) {
        Ok(GeminiStreamLine::Init { session_id }) if home::is_id(&session_id) => {
            let id = VendorSessionId::new(session_id);
            let named = Signal::Conversation { id, evidence: Evidence::Stream };
            vec![named, active(Activity::Working, Source::Stream)]
        }
        Ok(GeminiStreamLine::Result { status, .. }) if status == "success" => {
            vec![Signal::TurnEnded { ok: true, text: String::new(), failure: None }]
        }
        Ok(GeminiStreamLine::Result { error, timestamp, .. }) => {
            vec![failed(&error.map_or_else(String::new, |told| told.message), timestamp)]
        }
        Ok(GeminiStreamLine::Init { .. }) | Err(_) => Vec::new(),
    }
}

#[cfg(test)]
mod tests;
