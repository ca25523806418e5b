//! Which sessions are brought back: those that ended although nobody ended them.
//!
//! `segue resume`, its plan, `segue up` and the count that bare `segue` shows follow this one
//! decision.

use jiff::Timestamp;

use crate::model::{Handoff, How, SessionId, Status};

/// What is known about a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "four facts that do not depend on each other")]
pub struct LastSeen {
    pub status: Status,
    /// Its newest launch has no end.
    pub is_open: bool,
    pub was_launched: bool,
    pub is_headless: bool,
    /// Messages to its agent are queued.
    pub has_messages: bool,
    /// Its conversation goes on in another session: see [`successor`].
    pub went_on: bool,
}

/// What a command that brings sessions back does with one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BringingBack {
    /// It runs already.
    Runs,
    /// It ended otherwise than on purpose: a crash, a signal, a reboot, a start that failed.
    Due,
    Left(Rest),
}

/// Why a session is left alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rest {
    /// `segue stop`.
    Stopped,
    /// A person left the agent.
    Quit,
    /// Its conversation goes on in another session.
    HandedOver,
    /// It was taken in, and never ran here.
    NeverRan,
    /// Headless, and its last turn went well.
    BetweenTurns,
    /// Headless, and its last turn failed: a person was told.
    TurnFailed,
}

/// How a session was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AskedFor {
    /// By its own name, as opposed to a fleet, a folder or everything.
    pub by_name: bool,
    /// `--stopped`.
    pub with_stopped: bool,
}

/// Decides what is done with a session that nobody named.
pub fn bringing_back(seen: &LastSeen) -> BringingBack {
    if seen.is_open {
        return BringingBack::Runs;
    }
    if seen.went_on {
        return BringingBack::Left(Rest::HandedOver);
    }
    match seen.status {
        Status::Ended(How::Stopped) => BringingBack::Left(Rest::Stopped),
        Status::Ended(How::Quit) if !seen.was_launched => BringingBack::Left(Rest::NeverRan),
        Status::Ended(How::Quit) => BringingBack::Left(Rest::Quit),
        Status::Ended(How::TurnFailed | How::Failed(_)) => BringingBack::Left(Rest::TurnFailed),
        Status::Idle if seen.is_headless && !seen.has_messages => {
            BringingBack::Left(Rest::BetweenTurns)
        }
        _ => BringingBack::Due,
    }
}

impl Rest {
    /// Tells whether a session is left alone for this reason. A conversation that goes on elsewhere
    /// is continued here only if its session is named and `--stopped` is given.
    pub fn keeps(self, asked: AskedFor) -> bool {
        match self {
            Self::HandedOver => !(asked.by_name && asked.with_stopped),
            Self::Stopped | Self::Quit => !asked.by_name && !asked.with_stopped,
            Self::NeverRan | Self::BetweenTurns | Self::TurnFailed => !asked.by_name,
        }
    }

    /// Tells whether somebody ended the session on purpose.
    pub fn is_deliberate(self) -> bool {
        matches!(self, Self::Stopped | Self::Quit | Self::HandedOver)
    }

    /// Tells whether a session that is left alone is named in the report. Headless sessions between
    /// their turns would make up most of it.
    pub fn is_reported(self) -> bool {
        self.is_deliberate() || self == Self::NeverRan
    }

    /// Returns the word used in tables and JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Stopped => "stopped",
            Self::Quit => "quit",
            Self::HandedOver => "handed_over",
            Self::NeverRan => "never_ran",
            Self::BetweenTurns => "between_turns",
            Self::TurnFailed => "turn_failed",
        }
    }
}

/// Returns the session in which a conversation goes on: the target of its newest handoff, unless the
/// conversation came back or the session was started again since.
pub fn successor(
    handoffs: &[Handoff],
    session: SessionId,
    launched_at: Option<Timestamp>,
) -> Option<SessionId> {
    let newest = handoffs.last().filter(|step| step.from == session && step.to != session)?;
    let is_newer = launched_at.is_none_or(|launched_at| newest.at >= launched_at);
    is_newer.then_some(newest.to)
}

#[cfg(test)]
mod tests;
