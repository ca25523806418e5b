//! Decides which sessions are brought back: those that ended without a request of the user.
//!
//! `segue resume`, its `--plan`, `segue up` and the count that `segue` without arguments shows use
//! this decision.

use jiff::Timestamp;

use crate::model::{Handoff, How, SessionId, Status};
use crate::word_enum::word_enum;

/// What is known about a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "six facts that do not depend on each other")]
pub struct LastSeen {
    pub status: Status,
    /// Whether the newest launch has no recorded end.
    pub is_open: bool,
    /// Whether that launch is on another machine.
    pub is_on_other_machine: bool,
    pub was_launched: bool,
    pub is_headless: bool,
    /// Whether messages to the agent are queued.
    pub has_messages: bool,
    /// Whether the conversation continues in another session: see [`successor`].
    pub has_successor: bool,
}

/// What a command that brings sessions back does with a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BringingBack {
    /// The session is running already.
    Runs,
    /// The session did not end on purpose: crash, signal, reboot or failed start.
    Due,
    Left(LeftAloneReason),
}

word_enum! {
    /// Why a session is not brought back.
    pub enum LeftAloneReason {
        /// The user ran `segue stop`.
        Stopped = "stopped",
        /// The user quit the agent.
        Quit = "quit",
        /// The conversation continues in another session.
        HandedOver = "handed_over",
        /// The conversation was adopted and has never run under Segue.
        NeverRan = "never_ran",
        /// The session is headless, and its last turn succeeded.
        BetweenTurns = "between_turns",
        /// The session is headless, and its last turn failed. The user was informed.
        TurnFailed = "turn_failed",
        /// The session runs on another machine.
        OtherMachine = "other_machine",
    }
}

/// How the user selected a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UserSelection {
    /// By its own name, as opposed to a fleet, a folder or all sessions.
    pub by_name: bool,
    /// With the option `--stopped`.
    pub with_stopped: bool,
}

/// Decides what to do with a session that the user did not name.
pub fn bringing_back(seen: &LastSeen) -> BringingBack {
    if seen.is_open && seen.is_on_other_machine {
        return BringingBack::Left(LeftAloneReason::OtherMachine);
    }
    if seen.is_open {
        return BringingBack::Runs;
    }
    if seen.has_successor {
        return BringingBack::Left(LeftAloneReason::HandedOver);
    }
    match seen.status {
        Status::Ended(How::Stopped) => BringingBack::Left(LeftAloneReason::Stopped),
        Status::Ended(How::Quit) if !seen.was_launched => {
            BringingBack::Left(LeftAloneReason::NeverRan)
        }
        Status::Ended(How::Quit) => BringingBack::Left(LeftAloneReason::Quit),
        Status::Ended(How::TurnFailed | How::Failed(_)) => {
            BringingBack::Left(LeftAloneReason::TurnFailed)
        }
        Status::Idle if seen.is_headless && !seen.has_messages => {
            BringingBack::Left(LeftAloneReason::BetweenTurns)
        }
        _ => BringingBack::Due,
    }
}

impl LeftAloneReason {
    /// Returns whether this reason prevents a session from being brought back. A conversation that
    /// continues in another session is resumed in this one only if the user names this session and
    /// gives `--stopped`.
    pub fn prevents(self, selection: UserSelection) -> bool {
        match self {
            Self::HandedOver => !(selection.by_name && selection.with_stopped),
            Self::Stopped | Self::Quit => !selection.by_name && !selection.with_stopped,
            Self::NeverRan | Self::BetweenTurns | Self::TurnFailed => !selection.by_name,
            Self::OtherMachine => true,
        }
    }

    /// Returns whether a user ended the session on purpose.
    pub fn is_deliberate(self) -> bool {
        matches!(self, Self::Stopped | Self::Quit | Self::HandedOver)
    }

    /// Returns whether the report mentions a session that is not brought back for this reason.
    /// Headless sessions between turns are left out, because there may be very many of them.
    pub fn is_reported(self) -> bool {
        self.is_deliberate() || matches!(self, Self::NeverRan | Self::OtherMachine)
    }
}

/// Returns the session in which a conversation continues: the target of its newest handoff. `None`
/// if the conversation came back, or if the session was started again after the handoff.
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
