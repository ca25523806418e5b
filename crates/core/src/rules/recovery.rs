//! How a session comes back: one table, as a pure function.

use crate::model::{LaunchId, VendorSessionId};

/// Everything that was looked at before deciding; nothing in here is remembered, all of it is seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    pub process: Process,
    pub folder: Place,
    /// The newest id of the ledger, if it was proven to belong to this session.
    pub proven: Option<VendorSessionId>,
    pub transcript: Transcript,
    /// Something was said in this session, so that an absent transcript is a loss.
    pub spoke: bool,
    pub unproven: Unproven,
    pub vendor: Resumes,
    pub turn: Turn,
    pub history: History,
}

/// Which process has the conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Process {
    None,
    /// Our own holder, with its agent alive.
    Ours,
    /// Somebody else's process has it open.
    Foreign {
        pid: u32,
        command: String,
    },
}

/// Whether the folder in which the session works is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    There,
    Gone,
}

/// Where the transcript of the proven id is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transcript {
    There,
    /// Gone, but this launch's guard has it.
    Guarded(LaunchId),
    /// Gone, and no guard has it, but the archive does.
    Archived,
    Gone,
}

/// What could be the conversation of a session without a proven id.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unproven {
    /// No other launch without an id was started for this vendor, config dir and folder.
    pub only_one: bool,
    pub candidates: Vec<Candidate>,
}

/// A conversation that no session has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    pub id: VendorSessionId,
    /// It began while the session's launch lived.
    pub began_during_launch: bool,
    /// Its first message is the one that the launch was given.
    pub first_message_is_ours: bool,
    /// Which process has it open.
    pub process: Process,
    /// For a person: when, and how it begins.
    pub description: String,
}

/// Whether the vendor can go on with a conversation at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resumes {
    Yes,
    No,
}

/// The state of a headless session's turn; an interactive one has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    Interactive,
    Cut,
    Over,
}

/// Whether automatic attempts ended, and whether a person named this very session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum History {
    Unremarkable,
    /// It died at once, three times; nobody has chosen yet.
    GaveUp,
}

/// What to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It runs: nothing is started.
    Attach,
    /// Headless and between turns: nothing needs to run.
    Rest {
        id: VendorSessionId,
    },
    Resume {
        id: VendorSessionId,
    },
    /// Put the transcript back from where it was kept, then resume.
    Restore {
        id: VendorSessionId,
        from: Keeper,
    },
    /// Bind the only possible conversation, say so, then resume.
    Adopt {
        id: VendorSessionId,
    },
    /// Nothing was ever said: start with the same message.
    StartAgain,
    /// The vendor cannot resume.
    Fresh,
    Refuse(Refusal),
}

/// Where a transcript was kept that is gone from its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeper {
    /// In the guard of this launch.
    Guard(LaunchId),
    Archive,
}

/// Why a session cannot be brought back without a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    OpenElsewhere {
        pid: u32,
        command: String,
    },
    FolderGone,
    TranscriptGone {
        id: VendorSessionId,
    },
    /// Which conversation it is cannot be told.
    Ambiguous {
        candidates: Vec<Candidate>,
    },
    DiedAtOnce,
}

/// Decides how a session comes back.
pub fn decide(seen: &Seen) -> Decision {
    match &seen.process {
        Process::Ours => return Decision::Attach,
        Process::Foreign { pid, command } => return elsewhere(*pid, command),
        Process::None => {}
    }
    if seen.folder == Place::Gone {
        return Decision::Refuse(Refusal::FolderGone);
    }
    if seen.history == History::GaveUp {
        return Decision::Refuse(Refusal::DiedAtOnce);
    }
    match (&seen.proven, seen.vendor) {
        (_, Resumes::No) if seen.spoke => Decision::Fresh,
        (_, Resumes::No) => Decision::StartAgain,
        (Some(id), Resumes::Yes) => with_id(seen, id.clone()),
        (None, Resumes::Yes) => without_id(seen),
    }
}

fn elsewhere(pid: u32, command: &str) -> Decision {
    Decision::Refuse(Refusal::OpenElsewhere { pid, command: command.to_owned() })
}

fn with_id(seen: &Seen, id: VendorSessionId) -> Decision {
    match (seen.transcript, seen.turn) {
        (Transcript::There, Turn::Over) => Decision::Rest { id },
        (Transcript::There, _) => Decision::Resume { id },
        (Transcript::Guarded(from), _) => Decision::Restore { id, from: Keeper::Guard(from) },
        (Transcript::Archived, _) => Decision::Restore { id, from: Keeper::Archive },
        (Transcript::Gone, _) if seen.spoke => Decision::Refuse(Refusal::TranscriptGone { id }),
        (Transcript::Gone, _) => Decision::StartAgain,
    }
}

fn without_id(seen: &Seen) -> Decision {
    let candidates = &seen.unproven.candidates;
    let began: Vec<_> = candidates.iter().filter(|it| it.began_during_launch).collect();
    match began.as_slice() {
        [only] if seen.unproven.only_one && only.first_message_is_ours => match &only.process {
            Process::Foreign { pid, command } => elsewhere(*pid, command),
            Process::None | Process::Ours => Decision::Adopt { id: only.id.clone() },
        },
        [] if !seen.spoke => Decision::StartAgain,
        _ => Decision::Refuse(Refusal::Ambiguous { candidates: candidates.clone() }),
    }
}

#[cfg(test)]
mod tests;
