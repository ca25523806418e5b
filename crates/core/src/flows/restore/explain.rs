//! Describes decisions and refusals for the user.

use crate::api::{OutcomeNote, PlannedDecision};
use crate::error::Error;
use crate::flows::SessionState;
use crate::rules::recovery::{CopyLocation, Decision, ResumeCandidate, ResumeRefusal};

/// Returns a decision and its description for the report of `--plan`. If a message is queued for a
/// headless session between turns, a resume starts the next turn with it.
pub fn plan(
    decision: &Decision,
    name: &str,
    has_queued_message: bool,
) -> (PlannedDecision, OutcomeNote) {
    match decision {
        Decision::Rest { .. } if has_queued_message => {
            (PlannedDecision::Resume, OutcomeNote::new("start the next turn with its message"))
        }
        _ => (planned(decision), describe(decision, name)),
    }
}

fn planned(decision: &Decision) -> PlannedDecision {
    match decision {
        Decision::Attach => PlannedDecision::Running,
        Decision::Rest { .. } => PlannedDecision::Rest,
        Decision::Resume { .. } => PlannedDecision::Resume,
        Decision::Restore { .. } => PlannedDecision::Restore,
        Decision::Adopt { .. } => PlannedDecision::Adopt,
        Decision::StartAgain => PlannedDecision::Start,
        Decision::Fresh => PlannedDecision::Fresh,
        Decision::Refuse(_) => PlannedDecision::Refuse,
    }
}

/// Describes in one line what a decision would do, for `--plan`.
fn describe(decision: &Decision, name: &str) -> OutcomeNote {
    OutcomeNote::new(match decision {
        Decision::Attach => "runs: nothing to do",
        Decision::Rest { .. } => "headless and between turns: nothing to start",
        Decision::Resume { .. } => "resume",
        Decision::Restore { from: CopyLocation::Guard(_), .. } => {
            "restore the transcript from its guard, then resume"
        }
        Decision::Restore { from: CopyLocation::Archive, .. } => {
            "restore the transcript from the archive, then resume"
        }
        Decision::Adopt { .. } => "adopt the only possible conversation, then resume",
        Decision::StartAgain => "start: the conversation is empty",
        Decision::Fresh => "start fresh: the vendor cannot resume",
        Decision::Refuse(refusal) => {
            let note = OutcomeNote::new(format!("refuse: {}", reason(refusal)));
            return match refusal {
                ResumeRefusal::GaveUp => note.hint(format!("`segue resume {name}` tries again")),
                _ => note,
            };
        }
    })
}

fn reason(refusal: &ResumeRefusal) -> String {
    match refusal {
        ResumeRefusal::OpenElsewhere { pid, command } => {
            format!("its conversation is open in process {pid} ({command})")
        }
        ResumeRefusal::FolderGone => "the folder it works in is gone from its place".to_owned(),
        ResumeRefusal::TranscriptGone { id } => {
            format!(
                "the transcript of conversation {id} is gone, and neither a guard nor the archive has it"
            )
        }
        ResumeRefusal::Ambiguous { candidates } if candidates.is_empty() => {
            "its conversation was never identified, and there is no candidate".to_owned()
        }
        ResumeRefusal::Ambiguous { candidates } => {
            format!("it is unknown which of {} conversations is its own", candidates.len())
        }
        ResumeRefusal::GaveUp => "Segue gave up after failures".to_owned(),
    }
}

pub(super) fn refusal_error(state: &SessionState, refusal: &ResumeRefusal) -> Error {
    let name = state.session.address();
    let error = Error::conflict(format!("cannot resume `{name}`: {}", reason(refusal)));
    let fresh = format!("run `segue resume {name} --fresh {name}` to begin a new conversation");
    match refusal {
        ResumeRefusal::OpenElsewhere { .. } => error.hint("end that process, then resume again"),
        ResumeRefusal::FolderGone => {
            error.hint(format!("bring `{}` back, then resume again", state.session.cwd.display()))
        }
        ResumeRefusal::TranscriptGone { .. } => error
            .caused_by(format!("it is not in `{}`", state.session.config_dir.display()))
            .hint("restore the transcript from a backup, then resume again")
            .hint(fresh),
        ResumeRefusal::Ambiguous { candidates } => {
            candidates.iter().fold(error, with_candidate).hint(fresh)
        }
        ResumeRefusal::GaveUp => error
            .hint(format!("run `segue log {name}` to see why"))
            .hint(format!("run `segue resume {name}` to try again"))
            .hint(fresh),
    }
}

fn with_candidate(error: Error, candidate: &ResumeCandidate) -> Error {
    error.caused_by(format!("candidate {}: {}", candidate.id, candidate.description))
}
