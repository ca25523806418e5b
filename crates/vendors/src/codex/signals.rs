//! Signals from Codex's files, title and output.

use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use segue_core::model::{
    Activity, Evidence, Failure, ProcessRef, Signal, Source, VendorSessionId, WaitingFor,
};
use segue_core::ports::{Files, Place, SignalSources, Transcripts as _};
use serde::Deserialize;

use super::records::CodexTurnEnd;
use super::transcript::RolloutEnd;
use super::{Codex, failures, lock, paths};
use crate::shared::{files, signals};

/// How many bytes at the end of a rollout are read at most after each change. For longer turns, the
/// title shows the activity.
const READ_LIMIT_BYTES: usize = 256 * 1024;

/// Shown in the title while Codex waits for an answer.
const WAITING_TEXT: &str = "Action Required";

impl SignalSources for Codex {
    fn evidence_timeout(&self) -> Duration {
        Duration::from_secs(60)
    }

    fn watched(&self, place: &Place) -> Vec<PathBuf> {
        vec![paths::locks(&place.config_dir)]
    }

    fn watched_for(
        &self,
        files: &dyn Files,
        place: &Place,
        id: Option<&VendorSessionId>,
        now: Timestamp,
    ) -> Vec<PathBuf> {
        let rollout = id.map(|id| self.transcript(files, place, id));
        let own = rollout.as_deref().and_then(Path::parent).map(Path::to_owned);
        let mut days = paths::days_around(&place.config_dir, now);
        days.extend(own.filter(|own| !days.contains(own)));
        days
    }

    /// Reads the conversation of the lock that the process holds, and the last turn in that
    /// conversation's rollout.
    fn file_signals(&self, files: &dyn Files, changed: &Path, agent: &ProcessRef) -> Vec<Signal> {
        if let Some((config_dir, id)) = paths::config_dir_and_id_of_rollout(changed) {
            let id = VendorSessionId::new(id.to_string());
            let is_open = files.is_open_in(&paths::lock(config_dir, id.as_str()), agent.pid);
            return if is_open {
                rollout_signals(files, config_dir, (changed, &id), agent)
            } else {
                vec![]
            };
        }
        let Some(config_dir) = paths::config_dir_of_lock(changed) else { return Vec::new() };
        lock::current(files, config_dir, agent.pid).map(conversation).into_iter().collect()
    }

    /// The output does not contain the agent's answer; the rollout does. The end of a failed turn
    /// repeats the error, so lines with errors are ignored.
    fn stream_signals(&self, line: &str) -> Vec<Signal> {
        match serde_json::from_str(line) {
            Ok(CodexStreamLine::Started { thread_id }) if paths::is_id(&thread_id) => {
                let working = signals::activity(Activity::Working, Source::Stream);
                vec![signals::conversation(thread_id, Evidence::Stream), working]
            }
            Ok(CodexStreamLine::Completed) => vec![signals::answered("")],
            Ok(CodexStreamLine::Failed { error }) => {
                vec![signals::failed("", failures::failure(&error.message, None))]
            }
            Ok(CodexStreamLine::Started { .. }) | Err(_) => Vec::new(),
        }
    }

    /// The title has a spinner while Codex works, a blinking mark while it waits for an answer, and
    /// otherwise the name of the folder. There is no title before the input is ready.
    fn title_signals(&self, title: &str) -> Vec<Signal> {
        let activity =
            title_activity(title).map(|activity| signals::activity(activity, Source::Title));
        activity.into_iter().collect()
    }

    fn failure_in_output(&self, errors: &str) -> Option<Failure> {
        failures::failure_in_output(errors)
    }
}

fn rollout_signals(
    files: &dyn Files,
    config_dir: &Path,
    (path, id): (&Path, &VendorSessionId),
    agent: &ProcessRef,
) -> Vec<Signal> {
    let current = lock::current(files, config_dir, agent.pid);
    if current.as_ref() != Some(id) {
        return Vec::new();
    }
    let mut signals = vec![conversation(id.clone())];
    let length = files::length(files, path);
    let since = lock::taken_at(files, &paths::lock(config_dir, id.as_str()));
    if let Ok(tail) = RolloutEnd::read(files, path, length, READ_LIMIT_BYTES) {
        signals.extend(turn_signals(tail, since));
    }
    signals
}

/// Returns the signals of the last turn. There are none if the turn is from before the process took
/// the lock.
fn turn_signals(tail: RolloutEnd, since: Option<jiff::Timestamp>) -> Vec<Signal> {
    let is_own = |at: jiff::Timestamp| since.is_none_or(|since| at >= since);
    if let Some((_, end)) = tail.end.filter(|(at, _)| is_own(*at)) {
        return vec![turn_ended(end), signals::activity(Activity::Idle, Source::Transcript)];
    }
    // A tool without a result may be waiting for a permission. The title shows whether it does.
    let is_working = tail.began.is_some_and(is_own) && !tail.is_in_tool;
    is_working
        .then(|| signals::activity(Activity::Working, Source::Transcript))
        .into_iter()
        .collect()
}

fn turn_ended(end: CodexTurnEnd) -> Signal {
    let failure = end.error.as_deref().map(|message| failures::failure(message, end.resets_at));
    let ok = failure.is_none() && !end.aborted;
    Signal::TurnEnded { ok, text: end.answer.unwrap_or_default(), failure }
}

fn conversation(id: VendorSessionId) -> Signal {
    Signal::Conversation { id, evidence: Evidence::Lock }
}

/// Returns the activity that the title shows, or `None` if there is no title.
pub(super) fn title_activity(title: &str) -> Option<Activity> {
    let first = title.trim().chars().next()?;
    Some(match first {
        '[' if title.contains(WAITING_TEXT) => Activity::Waiting(WaitingFor::Permission),
        // Spinners are drawn with Braille characters.
        '\u{2800}'..='\u{28ff}' => Activity::Working,
        _ => Activity::Idle,
    })
}

/// A line of a headless turn's output, if it is used as a signal.
#[derive(Deserialize)]
#[serde(tag = "type")]
enum CodexStreamLine {
    #[serde(rename = "thread.started")]
    Started { thread_id: String },
    #[serde(rename = "turn.completed")]
    Completed,
    #[serde(rename = "turn.failed")]
    Failed { error: CodexError },
}

#[derive(Deserialize)]
struct CodexError {
    message: String,
}

#[cfg(test)]
mod tests;
