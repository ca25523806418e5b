//! What a session's state becomes when something is observed about its launch.
//!
//! One pure function, [`next`]: state and observation in, actions out. The supervisor carries the
//! actions out and commits them; it decides nothing itself.

use std::time::Duration;

use super::restarts::{Failures, Next};
use crate::model::{
    Evidence, Exit, FailureClass, How, LaunchEnd, LaunchId, LaunchMode, Restart, Source, Status,
    VendorSessionId, WaitingFor,
};
use crate::ports::{Activity, Signal};

/// What is known about a session when an observation arrives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    pub status: Status,
    pub open: Option<OpenStanding>,
    /// The newest line of the ledger.
    pub bound: Option<(VendorSessionId, Evidence)>,
    /// Who said what the open launch does now.
    pub source: Option<Source>,
    pub headless: bool,
    pub restart: Restart,
}

/// What is known about the launch that is thought to be alive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenStanding {
    pub launch: LaunchId,
    pub mode: LaunchMode,
    /// Evidence from this launch's own process has named the conversation it was to be in.
    pub confirmed: bool,
    /// A headless launch's own word about its turn.
    pub turn: Option<bool>,
    /// Why that turn failed.
    pub failure: Option<FailureClass>,
}

/// Something that was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Observation {
    /// The launch's own process showed something.
    Signal(Signal),
    /// The launch is over. Without anybody who knows how, the exit is unknown.
    Ended { end: LaunchEnd, environment: Kept, failures: Failures },
}

/// Whether the values of the agent's environment are still in a holder's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    Yes,
    No,
}

/// Something to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    SetStatus(Status),
    /// The agent shows what it does.
    SetActivity {
        status: Status,
        source: Source,
    },
    /// Append to the ledger.
    Bind {
        id: VendorSessionId,
        evidence: Evidence,
    },
    /// A resumed process is in another conversation than the one asked for: end it, tell it.
    RefuseConversation {
        found: VendorSessionId,
    },
    /// Remember a launch's own word about its turn.
    NoteTurn {
        ok: bool,
    },
    CloseLaunch {
        end: LaunchEnd,
    },
    /// End every process that still carries the launch's mark.
    EndLeftovers,
    /// Let the holder go that kept the environment.
    ReleaseHolder,
    Restart {
        after: Duration,
    },
    GiveUp {
        failures: Failures,
    },
}

/// Decides what an observation about `launch` means. What concerns any other launch than the open
/// one comes too late and means nothing.
pub fn next(standing: &Standing, launch: LaunchId, observation: &Observation) -> Vec<Action> {
    let Some(open) = standing.open.as_ref().filter(|open| open.launch == launch) else {
        return Vec::new();
    };
    match observation {
        Observation::Signal(_) if was_refused(standing) => Vec::new(),
        Observation::Ended { end, .. } if was_refused(standing) => {
            vec![Action::EndLeftovers, Action::CloseLaunch { end: *end }, Action::ReleaseHolder]
        }
        Observation::Signal(Signal::Conversation { id, evidence }) => {
            conversation(standing, open, id, *evidence)
        }
        Observation::Signal(Signal::Activity { activity, source }) => {
            active(standing, *activity, *source)
        }
        Observation::Signal(Signal::TurnEnded { ok, .. }) => vec![Action::NoteTurn { ok: *ok }],
        Observation::Ended { end, environment, failures } => {
            ended(standing, open, *end, *environment, *failures)
        }
    }
}

/// Tells whether the open launch came up in the wrong conversation: it means nothing any more, and
/// the session waits for a person. Only a closed launch can have that status for another reason.
fn was_refused(standing: &Standing) -> bool {
    standing.status == Status::Waiting(WaitingFor::Choice)
}

fn conversation(
    standing: &Standing,
    open: &OpenStanding,
    id: &VendorSessionId,
    evidence: Evidence,
) -> Vec<Action> {
    let bind = || vec![Action::Bind { id: id.clone(), evidence }];
    match &standing.bound {
        // The first evidence of this launch for the id that we asked for: worth a line.
        Some((bound, _)) if bound == id && !open.confirmed => bind(),
        Some((bound, _)) if bound == id => Vec::new(),
        // The vendor did not find what it was to resume, and began something else.
        Some(_) if open.mode == LaunchMode::Resume && !open.confirmed => {
            vec![Action::RefuseConversation { found: id.clone() }]
        }
        // The user cleared or forked inside the process, or the vendor chose its own id.
        Some(_) | None => bind(),
    }
}

fn active(standing: &Standing, activity: Activity, source: Source) -> Vec<Action> {
    if standing.source.is_some_and(|known| outranks(known, source)) {
        return Vec::new();
    }
    // A transcript that grows does not tell that a question was answered: what is written in the
    // moment in which it is asked can be read after it.
    let asks = matches!(standing.status, Status::Waiting(_));
    if asks && source == Source::Transcript && activity == Activity::Working {
        return Vec::new();
    }
    let status = match activity {
        Activity::Working => Status::Working,
        Activity::Idle => Status::Idle,
        Activity::Waiting(reason) => Status::Waiting(reason),
    };
    let said_before = status == standing.status;
    if said_before { Vec::new() } else { vec![Action::SetActivity { status, source }] }
}

/// Tells whether what one source says stands whatever the other one says: a screen only looks like
/// something, and a hook can come late.
pub fn outranks(known: Source, other: Source) -> bool {
    match other {
        Source::Screen => known != Source::Screen,
        Source::Hook => known == Source::Registry,
        _ => false,
    }
}

fn ended(
    standing: &Standing,
    open: &OpenStanding,
    end: LaunchEnd,
    environment: Kept,
    failures: Failures,
) -> Vec<Action> {
    let mut actions = vec![Action::EndLeftovers, Action::CloseLaunch { end }];
    // A service that does not take the account does not take it a moment later either.
    let refused = open.failure == Some(FailureClass::Account);
    if crashed(standing, end) && standing.restart == Restart::OnCrash && !refused {
        actions.extend(after_crash(end, environment, failures));
    } else {
        actions.push(Action::SetStatus(settled(standing, open, end)));
        actions.push(Action::ReleaseHolder);
    }
    actions
}

/// Tells whether an interactive agent ended without anybody wanting it. One that leaves while it
/// asks whether the folder is trusted was told no.
fn crashed(standing: &Standing, end: LaunchEnd) -> bool {
    let told_no =
        standing.status == Status::Waiting(WaitingFor::Trust) && matches!(end.exit, Exit::Code(_));
    let failed = !end.exit.is_clean() && end.exit != Exit::NeverStarted;
    !standing.headless && !end.asked && failed && !told_no
}

/// Tells whether a session whose launch is over is to be started again by itself: a daemon asks
/// that did not see how it ended.
pub fn is_to_restart(standing: &Standing) -> bool {
    let crashed = matches!(standing.status, Status::Ended(How::Crashed(_)) | Status::Lost);
    let restarts = !standing.headless && standing.restart == Restart::OnCrash;
    crashed && restarts && standing.open.is_none()
}

fn after_crash(end: LaunchEnd, environment: Kept, failures: Failures) -> Vec<Action> {
    match (failures.next(), environment) {
        (Next::GiveUp, _) => vec![
            Action::SetStatus(Status::Waiting(WaitingFor::Choice)),
            Action::ReleaseHolder,
            Action::GiveUp { failures },
        ],
        (Next::RestartAfter(_), Kept::No) => {
            vec![Action::SetStatus(Status::Waiting(WaitingFor::Environment))]
        }
        (Next::RestartAfter(after), Kept::Yes) => {
            vec![Action::SetStatus(over(end.exit)), Action::Restart { after }]
        }
    }
}

fn settled(standing: &Standing, open: &OpenStanding, end: LaunchEnd) -> Status {
    if end.asked {
        return Status::Ended(How::Stopped);
    }
    match (standing.headless, end.exit, open.turn) {
        (true, Exit::Code(0), Some(true)) => Status::Idle,
        (true, Exit::Code(_), Some(false)) => {
            Status::Ended(open.failure.map_or(How::TurnFailed, How::Failed))
        }
        (true, Exit::Code(0), None) => Status::Ended(How::TurnFailed),
        (false, Exit::Code(0), _) => Status::Ended(How::Quit),
        (false, Exit::Code(_), _) if standing.status == Status::Waiting(WaitingFor::Trust) => {
            Status::Ended(How::Quit)
        }
        (_, exit, _) => over(exit),
    }
}

fn over(exit: Exit) -> Status {
    match exit {
        Exit::Unknown => Status::Lost,
        Exit::NeverStarted => Status::Ended(How::NeverStarted),
        exit => Status::Ended(How::Crashed(exit)),
    }
}

#[cfg(test)]
pub(crate) mod samples;
#[cfg(test)]
mod tests;
