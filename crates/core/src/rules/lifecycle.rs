//! Decides how a session's state changes when something is observed about its launch.
//!
//! [`next`] is a pure function from a state and an observation to actions. `flows::observe` carries
//! out the actions, and decides nothing itself.

use std::time::Duration;

use super::restarts::{Failures, Next};
use crate::model::{
    Activity, Evidence, Exit, FailureClass, How, LaunchEnd, LaunchId, LaunchMode, Restart, Signal,
    Source, Status, VendorSessionId, WaitingFor,
};

/// How long a restart with the environment of the login shell waits for a command of the user. The
/// environment of a command is preferred to that of the login shell.
pub const USER_FIRST: Duration = Duration::from_secs(5);

/// A restart that no daemon carried out within this time is left to the user.
const RESTART_EXPIRES: Duration = Duration::from_secs(600);

/// What is known about a session when an observation arrives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LifecycleFacts {
    pub status: Status,
    pub open: Option<OpenLaunchFacts>,
    /// The newest binding.
    pub bound: Option<(VendorSessionId, Evidence)>,
    /// The source of the open launch's current status.
    pub source: Option<Source>,
    pub headless: bool,
    pub restart: Restart,
}

/// What is known about the launch without a recorded end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenLaunchFacts {
    pub launch: LaunchId,
    pub mode: LaunchMode,
    /// Whether evidence from this launch's own process has confirmed the expected conversation.
    pub confirmed: bool,
    /// Whether the turn of a headless launch succeeded. `None` if the launch has not reported it yet.
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

/// Where the values of the agent's environment can be found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EnvironmentKept {
    /// In the memory of the holder.
    Yes,
    /// Not in a holder's memory, but the user's login shell may have the same variables.
    InLoginShell,
    /// Nowhere.
    No,
}

/// A change of the session, or a step that must be carried out.
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
    /// Record whether the turn succeeded, as the launch reported it.
    NoteTurn {
        ok: bool,
    },
    CloseLaunch {
        end: LaunchEnd,
    },
    /// End every process that still carries the launch's mark: its cgroup or its environment
    /// variable.
    EndLeftovers,
    /// End the holder that keeps the environment.
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
pub fn next(facts: &LifecycleFacts, launch: LaunchId, observation: &Observation) -> Vec<Action> {
    let Some(open) = facts.open.as_ref().filter(|open| open.launch == launch) else {
        return Vec::new();
    };
    match observation {
        Observation::Signal(_) if was_refused(facts) => Vec::new(),
        Observation::Ended { end, .. } if was_refused(facts) => {
            vec![Action::EndLeftovers, Action::CloseLaunch { end: *end }, Action::ReleaseHolder]
        }
        Observation::Signal(Signal::Conversation { id, evidence }) => {
            conversation(facts, open, id, *evidence)
        }
        Observation::Signal(Signal::Activity { activity, source }) => {
            active(facts, *activity, *source)
        }
        Observation::Signal(Signal::TurnEnded { ok, .. }) => vec![Action::NoteTurn { ok: *ok }],
        // `flows::usage` counts costs. They change nothing about the launch.
        Observation::Signal(Signal::Cost { .. }) => Vec::new(),
        Observation::Ended { end, environment, failures } => {
            ended(facts, open, *end, *environment, *failures)
        }
    }
}

/// Returns whether the open launch was refused because it started in the wrong conversation. Its
/// signals are ignored, and the session waits for the user. The same status with another cause never
/// occurs together with an open launch.
fn was_refused(facts: &LifecycleFacts) -> bool {
    facts.status == Status::Waiting(WaitingFor::Choice)
}

fn conversation(
    facts: &LifecycleFacts,
    open: &OpenLaunchFacts,
    id: &VendorSessionId,
    evidence: Evidence,
) -> Vec<Action> {
    let bind = || vec![Action::Bind { id: id.clone(), evidence }];
    match &facts.bound {
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

fn active(facts: &LifecycleFacts, activity: Activity, source: Source) -> Vec<Action> {
    if facts.source.is_some_and(|known| outranks(known, source)) {
        return Vec::new();
    }
    // A growing transcript does not prove that a question was answered: its new lines may have been
    // written before the question appeared.
    let asks = matches!(facts.status, Status::Waiting(_));
    if asks && source == Source::Transcript && activity == Activity::Working {
        return Vec::new();
    }
    // Only the questions themselves show whether a headless agent still asks. Other sources do not
    // know about its questions.
    let asks_headless =
        facts.headless && facts.status.waiting_for().is_some_and(|it| it.needs_answer());
    if asks_headless && source != Source::Question {
        return Vec::new();
    }
    let status = match activity {
        Activity::Working => Status::Working,
        Activity::Idle => Status::Idle,
        Activity::Waiting(reason) => Status::Waiting(reason),
    };
    let is_unchanged = status == facts.status;
    if is_unchanged { Vec::new() } else { vec![Action::SetActivity { status, source }] }
}

/// Returns whether a status from source `known` stays valid if source `other` reports a different
/// status. The screen is only an interpretation, and a hook can be late.
pub fn outranks(known: Source, other: Source) -> bool {
    match other {
        Source::Screen => known != Source::Screen,
        Source::Hook => known == Source::Registry,
        _ => false,
    }
}

fn ended(
    facts: &LifecycleFacts,
    open: &OpenLaunchFacts,
    end: LaunchEnd,
    environment: EnvironmentKept,
    failures: Failures,
) -> Vec<Action> {
    let mut actions = vec![Action::EndLeftovers, Action::CloseLaunch { end }];
    // The service would refuse the account again right after a restart.
    let is_refused = open.failure == Some(FailureClass::Account);
    if has_crashed(facts, end) && facts.restart == Restart::OnCrash && !is_refused {
        actions.extend(after_crash(end, environment, failures));
    } else {
        actions.push(Action::SetStatus(status_after_end(facts, open, end)));
        actions.push(Action::ReleaseHolder);
    }
    actions
}

/// Returns whether an interactive agent crashed. An agent that exits while it asks whether the folder
/// is trusted did not crash: the user answered no.
fn has_crashed(facts: &LifecycleFacts, end: LaunchEnd) -> bool {
    let declined_trust =
        facts.status == Status::Waiting(WaitingFor::Trust) && matches!(end.exit, Exit::Code(_));
    let failed = !end.exit.is_clean() && end.exit != Exit::NeverStarted;
    !facts.headless && !end.is_requested && failed && !declined_trust
}

/// Returns whether a session whose launch has ended must be restarted automatically. A daemon that
/// did not observe the end uses this.
pub fn must_restart(facts: &LifecycleFacts) -> bool {
    let crashed = matches!(facts.status, Status::Ended(How::Crashed(_)) | Status::Interrupted);
    let restarts = !facts.headless && facts.restart == Restart::OnCrash;
    crashed && restarts && facts.open.is_none()
}

/// Returns whether a new daemon that finds no holder of the last launch must read the login shell.
/// This is the case if a restart was due when the last daemon ended, or if the session waits for
/// variables. `unchanged_for` is the time since the last change of the status.
pub fn must_read_login_shell(facts: &LifecycleFacts, unchanged_for: Duration) -> bool {
    match facts.status {
        Status::Interrupted => must_restart(facts) && unchanged_for < RESTART_EXPIRES,
        Status::Waiting(WaitingFor::Environment) => facts.open.is_none(),
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
            vec![Action::SetStatus(status_after_exit(end.exit)), Action::Restart { after }]
        }
    }
}

/// Returns the status of a session whose launch has ended and is not restarted.
fn status_after_end(facts: &LifecycleFacts, open: &OpenLaunchFacts, end: LaunchEnd) -> Status {
    if end.is_requested {
        return Status::Ended(How::Stopped);
    }
    match (facts.headless, end.exit, open.turn) {
        (true, Exit::Code(0), Some(true)) => Status::Idle,
        (true, Exit::Code(_), Some(false)) => {
            Status::Ended(open.failure.map_or(How::TurnFailed, How::Failed))
        }
        (true, Exit::Code(0), None) => Status::Ended(How::TurnFailed),
        (false, Exit::Code(0), _) => Status::Ended(How::Quit),
        (false, Exit::Code(_), _) if facts.status == Status::Waiting(WaitingFor::Trust) => {
            Status::Ended(How::Quit)
        }
        (_, exit, _) => status_after_exit(exit),
    }
}

fn status_after_exit(exit: Exit) -> Status {
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
