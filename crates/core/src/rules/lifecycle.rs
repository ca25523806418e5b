//! Decides how a session's state changes when something is observed about its launch.
//!
//! [`next`] is a pure function: it gets the state and an observation and returns actions. The
//! supervisor executes and commits the actions; it decides nothing itself.

use std::time::Duration;

use super::restarts::{Failures, Next};
use crate::model::{
    Activity, Evidence, Exit, FailureClass, How, LaunchEnd, LaunchId, LaunchMode, Restart, Signal,
    Source, Status, VendorSessionId, WaitingFor,
};

/// How long a restart with the environment of the login shell waits for a command of the user,
/// whose own environment is the better one.
pub const USER_FIRST: Duration = Duration::from_secs(5);

/// A restart that no daemon carried out within this time is left to the user.
const RESTART_EXPIRES: Duration = Duration::from_secs(600);

/// What is known about a session when an observation arrives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    pub status: Status,
    pub open: Option<OpenStanding>,
    /// The newest binding.
    pub bound: Option<(VendorSessionId, Evidence)>,
    /// The source of the open launch's current status.
    pub source: Option<Source>,
    pub headless: bool,
    pub restart: Restart,
}

/// What is known about the launch that is believed to be alive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenStanding {
    pub launch: LaunchId,
    pub mode: LaunchMode,
    /// Evidence from this launch's own process has confirmed the expected conversation.
    pub confirmed: bool,
    /// Whether a headless launch reported success of its turn. `None` if it has not reported yet.
    pub turn: Option<bool>,
    /// Why that turn failed.
    pub failure: Option<FailureClass>,
}

/// Something that was observed about a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Observation {
    /// The launch's own process sent a signal.
    Signal(Signal),
    /// The launch has ended. The exit is unknown if no process collected it.
    Ended { end: LaunchEnd, environment: EnvironmentKept, failures: Failures },
}

/// Whether the values of the agent's environment are still there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EnvironmentKept {
    /// A holder has them in memory.
    Yes,
    /// No holder has them, but the user's login shell may have the same variables.
    InLoginShell,
    No,
}

/// An action for the supervisor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    SetStatus(Status),
    /// The agent's activity has changed.
    SetActivity {
        status: Status,
        source: Source,
    },
    /// Add a binding.
    Bind {
        id: VendorSessionId,
        evidence: Evidence,
    },
    /// A resumed process is in another conversation than the requested one: end it and report it.
    RefuseConversation {
        found: VendorSessionId,
    },
    /// Record whether the launch reported success of its turn.
    NoteTurn {
        ok: bool,
    },
    CloseLaunch {
        end: LaunchEnd,
    },
    /// End every process that still carries the launch's mark: its cgroup or its environment
    /// variable.
    EndLeftovers,
    /// Let the holder that kept the environment exit.
    ReleaseHolder,
    Restart {
        after: Duration,
    },
    GiveUp {
        failures: Failures,
    },
}

/// Returns the actions for an observation about `launch`. An observation about any launch but the
/// open one is too late and has no effect.
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

/// Returns whether the open launch was refused because it started in the wrong conversation. Its
/// signals are ignored, and the session waits for the user. If the status has another cause, no
/// launch is open.
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
        // The first evidence of this launch for the requested id is recorded.
        Some((bound, _)) if bound == id && !open.confirmed => bind(),
        Some((bound, _)) if bound == id => Vec::new(),
        // The vendor did not find the conversation to resume and started another one.
        Some(_) if open.mode == LaunchMode::Resume && !open.confirmed => {
            vec![Action::RefuseConversation { found: id.clone() }]
        }
        // The user cleared or forked the conversation inside the process, or the vendor chose its
        // own id.
        Some(_) | None => bind(),
    }
}

fn active(standing: &Standing, activity: Activity, source: Source) -> Vec<Action> {
    if standing.source.is_some_and(|known| outranks(known, source)) {
        return Vec::new();
    }
    // A growing transcript does not prove that a question was answered: lines that were written
    // while the question appeared can be read after it.
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

/// Returns whether a status from source `known` stays valid if source `other` reports a different
/// one. A screen is only an interpretation, and a hook can be late.
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
    environment: EnvironmentKept,
    failures: Failures,
) -> Vec<Action> {
    let mut actions = vec![Action::EndLeftovers, Action::CloseLaunch { end }];
    // A service that refuses the account now refuses it a moment later, too.
    let refused = open.failure == Some(FailureClass::Account);
    if crashed(standing, end) && standing.restart == Restart::OnCrash && !refused {
        actions.extend(after_crash(end, environment, failures));
    } else {
        actions.push(Action::SetStatus(settled(standing, open, end)));
        actions.push(Action::ReleaseHolder);
    }
    actions
}

/// Returns whether an interactive agent ended unintentionally. If it exits while it asks whether
/// the folder is trusted, the user answered no.
fn crashed(standing: &Standing, end: LaunchEnd) -> bool {
    let told_no =
        standing.status == Status::Waiting(WaitingFor::Trust) && matches!(end.exit, Exit::Code(_));
    let failed = !end.exit.is_clean() && end.exit != Exit::NeverStarted;
    !standing.headless && !end.asked && failed && !told_no
}

/// Returns whether a session whose launch has ended must be restarted automatically. A daemon that
/// did not observe the end uses this.
pub fn is_to_restart(standing: &Standing) -> bool {
    let crashed = matches!(standing.status, Status::Ended(How::Crashed(_)) | Status::Interrupted);
    let restarts = !standing.headless && standing.restart == Restart::OnCrash;
    crashed && restarts && standing.open.is_none()
}

/// Returns whether a daemon that finds no holder of the last launch must read the login shell: a
/// restart was due when the last daemon ended, or the missing variables are not known any more.
pub fn is_to_read_login_shell(standing: &Standing, settled_for: Duration) -> bool {
    match standing.status {
        Status::Interrupted => is_to_restart(standing) && settled_for < RESTART_EXPIRES,
        Status::Waiting(WaitingFor::Environment) => standing.open.is_none(),
        _ => false,
    }
}

fn after_crash(end: LaunchEnd, environment: EnvironmentKept, failures: Failures) -> Vec<Action> {
    match (failures.next(), environment) {
        (Next::GiveUp, _) => vec![
            Action::SetStatus(Status::Waiting(WaitingFor::Choice)),
            Action::ReleaseHolder,
            Action::GiveUp { failures },
        ],
        (Next::RestartAfter(after), EnvironmentKept::InLoginShell)
            if !failures.is_killed_often() =>
        {
            vec![
                Action::SetStatus(Status::Interrupted),
                Action::Restart { after: after.max(USER_FIRST) },
            ]
        }
        (Next::RestartAfter(_), EnvironmentKept::No | EnvironmentKept::InLoginShell) => {
            vec![Action::SetStatus(Status::Interrupted)]
        }
        (Next::RestartAfter(after), EnvironmentKept::Yes) => {
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
        Exit::Unknown => Status::Interrupted,
        Exit::NeverStarted => Status::Ended(How::NeverStarted),
        exit => Status::Ended(How::Crashed(exit)),
    }
}

#[cfg(test)]
pub(crate) mod samples;
#[cfg(test)]
mod tests;
