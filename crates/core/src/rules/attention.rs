//! Decides when to notify the user: a session waits for the user, or cannot continue alone.

use std::fmt;

use crate::model::{FailureClass, How, Status, WaitingFor};

/// Why a session needs the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    Waiting(WaitingFor),
    Failed(FailureClass),
    /// The conversation is found nowhere.
    Lost,
}

/// Returns why a session needs the user now. `failure` is the reason why its last turn failed. The
/// user is not notified about a session that waits for a command (interrupted, or
/// `WaitingFor::Environment`), because all sessions may do so after a reboot.
pub fn reason(status: Status, failure: Option<FailureClass>) -> Option<Reason> {
    let failure = match status {
        Status::Waiting(WaitingFor::Environment) => return None,
        Status::Waiting(what) => return Some(Reason::Waiting(what)),
        // In these statuses, an earlier failure is obsolete.
        Status::Ended(How::Stopped | How::Quit) | Status::Starting | Status::Working => {
            return None;
        }
        Status::Ended(How::Failed(class)) => Some(class),
        Status::Lost => return Some(Reason::Lost),
        Status::Ended(_) | Status::Idle | Status::Interrupted => failure,
    };
    failure
        .filter(|class| matches!(class, FailureClass::Account | FailureClass::UsageLimit))
        .map(Reason::Failed)
}

impl Reason {
    /// Returns the place of the reason in a list: an agent that could go on at once comes first.
    pub fn urgency(self) -> u8 {
        match self {
            Self::Waiting(WaitingFor::Permission) => 0,
            Self::Waiting(WaitingFor::Question) => 1,
            Self::Waiting(WaitingFor::Trust) => 2,
            Self::Waiting(WaitingFor::Choice | WaitingFor::Environment) => 3,
            Self::Failed(_) => 4,
            Self::Lost => 5,
        }
    }

    /// Returns the word that scripts get.
    pub fn word(self) -> &'static str {
        match self {
            Self::Waiting(what) => what.word(),
            Self::Failed(class) => class.word(),
            Self::Lost => "lost",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Waiting(WaitingFor::Trust) => f.write_str("asks whether the folder is trusted"),
            Self::Waiting(WaitingFor::Permission) => f.write_str("asks for permission"),
            Self::Waiting(WaitingFor::Question) => f.write_str("asks something"),
            Self::Waiting(WaitingFor::Choice) => f.write_str("could not be brought back"),
            Self::Waiting(WaitingFor::Environment) => f.write_str("waits to be brought back"),
            Self::Failed(class) => write!(f, "cannot go on: {class}"),
            Self::Lost => f.write_str("cannot go on: its conversation is found nowhere"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Exit;

    #[test]
    fn questions_are_more_urgent_than_sessions_that_cannot_go_on() {
        let reasons = [
            Reason::Waiting(WaitingFor::Permission),
            Reason::Waiting(WaitingFor::Question),
            Reason::Waiting(WaitingFor::Trust),
            Reason::Waiting(WaitingFor::Choice),
            Reason::Failed(FailureClass::Account),
            Reason::Lost,
        ];
        assert!(reasons.is_sorted_by_key(|reason| reason.urgency()));
    }

    #[test]
    fn user_is_notified_only_if_the_session_cannot_continue_alone() {
        let (account, limit) = (FailureClass::Account, FailureClass::UsageLimit);
        let waits = |what| Some(Reason::Waiting(what));
        let table = [
            (Status::Waiting(WaitingFor::Permission), None, waits(WaitingFor::Permission)),
            (Status::Waiting(WaitingFor::Trust), Some(limit), waits(WaitingFor::Trust)),
            (Status::Waiting(WaitingFor::Question), None, waits(WaitingFor::Question)),
            (Status::Waiting(WaitingFor::Choice), None, waits(WaitingFor::Choice)),
            (Status::Waiting(WaitingFor::Environment), Some(account), None),
            (Status::Idle, Some(limit), Some(Reason::Failed(limit))),
            (Status::Idle, Some(FailureClass::Service), None),
            (Status::Idle, None, None),
            (Status::Working, Some(account), None),
            (Status::Ended(How::Failed(account)), None, Some(Reason::Failed(account))),
            (Status::Ended(How::Failed(FailureClass::Request)), None, None),
            (
                Status::Ended(How::Crashed(Exit::Code(1))),
                Some(account),
                Some(Reason::Failed(account)),
            ),
            (Status::Ended(How::Stopped), Some(account), None),
            (Status::Interrupted, None, None),
            (Status::Lost, None, Some(Reason::Lost)),
        ];
        for (status, failure, expected) in table {
            assert_eq!(reason(status, failure), expected, "{status:?} {failure:?}");
        }
    }
}
