//! Decides how a session is brought back. The decision is a table, written as a pure function.

use crate::model::{How, LaunchId, Resumes, Status, VendorSessionId, WaitingFor};

/// The facts for the decision. `flows::look` collects them right before the decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecoveryFacts {
    pub process: OpeningProcess,
    pub folder: FolderPresence,
    /// The id of the newest binding, if evidence proves that it belongs to this session.
    pub proven: Option<VendorSessionId>,
    pub transcript: TranscriptLocation,
    /// The conversation has content. If its transcript is missing, it is lost.
    pub has_content: bool,
    pub unproven: Unproven,
    pub vendor: Resumes,
    pub turn: TurnState,
    pub history: History,
}

/// Which process has the conversation open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpeningProcess {
    None,
    /// The agent of Segue's own holder, which is alive.
    Ours,
    /// A process that Segue did not start.
    Foreign {
        pid: u32,
        command: String,
    },
}

/// Whether the folder in which the session works exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FolderPresence {
    There,
    /// The folder is a worktree that can be made again.
    GoneWorktree,
    Gone,
}

/// Where the transcript of the proven id is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TranscriptLocation {
    There,
    /// The transcript is missing, but the guard of this launch has its content.
    Guarded(LaunchId),
    /// The transcript and its guards are missing, but the archive has a copy.
    Archived,
    Gone,
}

/// The possible conversations of a session without a proven id.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unproven {
    /// Whether no other session without an id was launched with this vendor, config dir and folder.
    pub is_only_session: bool,
    pub candidates: Vec<ResumeCandidate>,
}

/// A conversation that belongs to no session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResumeCandidate {
    pub id: VendorSessionId,
    /// Whether the conversation began while a launch of the session was alive.
    pub began_during_launch: bool,
    /// Whether its first message is the message that a launch of the session was given.
    pub first_message_is_ours: bool,
    /// Which process has it open.
    pub process: OpeningProcess,
    /// A description for the user: when the conversation began, and its first words.
    pub description: String,
}

/// The state of a headless session's turn. An interactive session has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurnState {
    Interactive,
    Interrupted,
    Over,
}

/// Whether automatic restarts were given up. A user who names exactly this session overrides that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum History {
    Unremarkable,
    /// The session waits for the user's choice, for example after three immediate crashes.
    GaveUp,
}

/// The decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The agent is running. Nothing is started.
    Attach,
    /// The session is headless and between turns. No process is needed.
    Rest {
        id: VendorSessionId,
    },
    Resume {
        id: VendorSessionId,
    },
    /// Restore the transcript from its copy, then resume.
    Restore {
        id: VendorSessionId,
        from: CopyLocation,
    },
    /// Bind the only possible conversation, report this, then resume.
    Adopt {
        id: VendorSessionId,
    },
    /// The conversation is empty. Start with the same message.
    StartAgain,
    /// The vendor cannot resume. Start a new conversation.
    Fresh,
    Refuse(ResumeRefusal),
}

/// Where the copy of a missing transcript is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyLocation {
    /// In the guard of this launch.
    Guard(LaunchId),
    Archive,
}

/// Why a session cannot be brought back without the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResumeRefusal {
    OpenElsewhere {
        pid: u32,
        command: String,
    },
    FolderGone,
    TranscriptGone {
        id: VendorSessionId,
    },
    /// It is not clear which conversation belongs to the session.
    Ambiguous {
        candidates: Vec<ResumeCandidate>,
    },
    GaveUp,
}

/// Decides how a session is brought back.
pub fn decide(facts: &RecoveryFacts) -> Decision {
    match &facts.process {
        OpeningProcess::Ours => return Decision::Attach,
        OpeningProcess::Foreign { pid, command } => return open_elsewhere(*pid, command),
        OpeningProcess::None => {}
    }
    if facts.folder == FolderPresence::Gone {
        return Decision::Refuse(ResumeRefusal::FolderGone);
    }
    if facts.history == History::GaveUp {
        return Decision::Refuse(ResumeRefusal::GaveUp);
    }
    match (&facts.proven, facts.vendor) {
        (_, Resumes::No) if facts.has_content => Decision::Fresh,
        (_, Resumes::No) => Decision::StartAgain,
        (Some(id), Resumes::Yes) => with_id(facts, id.clone()),
        (None, Resumes::Yes) => without_id(facts),
    }
}

/// Returns the new status of a session that does not run, after [`decide`] has shown whether its
/// conversation exists. `None` if the status does not change. A session that its user ended keeps its
/// status.
pub fn status_after_look(status: Status, decision: &Decision) -> Option<Status> {
    let is_expected = matches!(
        status,
        Status::Interrupted
            | Status::Waiting(WaitingFor::Environment | WaitingFor::Choice)
            | Status::Ended(How::Crashed(_) | How::NeverStarted)
    );
    match decision {
        Decision::Refuse(ResumeRefusal::TranscriptGone { .. }) => {
            is_expected.then_some(Status::Lost)
        }
        Decision::Rest { .. } | Decision::Resume { .. } | Decision::Restore { .. } => {
            (status == Status::Lost).then_some(Status::Interrupted)
        }
        _ => None,
    }
}

fn open_elsewhere(pid: u32, command: &str) -> Decision {
    Decision::Refuse(ResumeRefusal::OpenElsewhere { pid, command: command.to_owned() })
}

fn with_id(facts: &RecoveryFacts, id: VendorSessionId) -> Decision {
    match (facts.transcript, facts.turn) {
        (TranscriptLocation::There, TurnState::Over) => Decision::Rest { id },
        (TranscriptLocation::There, _) => Decision::Resume { id },
        (TranscriptLocation::Guarded(from), _) => {
            Decision::Restore { id, from: CopyLocation::Guard(from) }
        }
        (TranscriptLocation::Archived, _) => Decision::Restore { id, from: CopyLocation::Archive },
        (TranscriptLocation::Gone, _) if facts.has_content => {
            Decision::Refuse(ResumeRefusal::TranscriptGone { id })
        }
        (TranscriptLocation::Gone, _) => Decision::StartAgain,
    }
}

fn without_id(facts: &RecoveryFacts) -> Decision {
    let candidates = &facts.unproven.candidates;
    let began: Vec<_> = candidates.iter().filter(|it| it.began_during_launch).collect();
    match began.as_slice() {
        [only] if facts.unproven.is_only_session && only.first_message_is_ours => match &only
            .process
        {
            OpeningProcess::Foreign { pid, command } => open_elsewhere(*pid, command),
            OpeningProcess::None | OpeningProcess::Ours => Decision::Adopt { id: only.id.clone() },
        },
        [] if !facts.has_content => Decision::StartAgain,
        _ => Decision::Refuse(ResumeRefusal::Ambiguous { candidates: candidates.clone() }),
    }
}

#[cfg(test)]
mod tests;
