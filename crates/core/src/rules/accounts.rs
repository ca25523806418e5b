//! Decides which agents of an account may start. A service that refuses an account refuses all of
//! its agents, so one agent (the scout) tries the account before the others start.

use crate::model::{Failure, FailureClass};

/// What is known about whether the service accepts an account.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AccountStatus {
    /// No agent has used the account yet.
    #[default]
    Unknown,
    /// The service accepted the account, or at least did not refuse it.
    Accepted,
    /// The service refused the account.
    Refused,
}

/// Who requested a start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartRequester {
    /// A user, for one session.
    One,
    /// A user, for several sessions at once.
    Many,
    /// Segue, to restart an agent after a crash.
    ByItself,
}

/// Whether a start was requested before or after the account was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Since {
    BeforeRefusal,
    AfterRefusal,
}

/// Whether a scout is trying the account now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScoutState {
    Running,
    None,
}

/// The decision about a requested start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    Enter,
    /// The agent starts first, and the other agents wait for its result.
    EnterAsScout,
    WaitForScout,
    /// The agent is not started.
    Hold,
}

/// Decides whether a start may begin.
pub fn admit(
    status: AccountStatus,
    scout: ScoutState,
    requester: StartRequester,
    since: Since,
) -> Admission {
    let with_scout = match scout {
        ScoutState::None => Admission::EnterAsScout,
        ScoutState::Running => Admission::WaitForScout,
    };
    match (status, requester, since) {
        // A user who starts a single agent does not have to wait for another one.
        (AccountStatus::Accepted, _, _) | (AccountStatus::Unknown, StartRequester::One, _) => {
            Admission::Enter
        }
        (AccountStatus::Unknown, StartRequester::Many | StartRequester::ByItself, _) => with_scout,
        (AccountStatus::Refused, StartRequester::ByItself, _)
        | (AccountStatus::Refused, _, Since::BeforeRefusal) => Admission::Hold,
        // The user may have signed in since the refusal, so try the account again.
        (
            AccountStatus::Refused,
            StartRequester::One | StartRequester::Many,
            Since::AfterRefusal,
        ) => with_scout,
    }
}

/// Returns what the result of a turn shows about the account. `None` if it shows nothing.
pub fn status_shown_by(failure: Option<&Failure>) -> Option<AccountStatus> {
    match failure.map(|failure| failure.class) {
        Some(FailureClass::Account) => Some(AccountStatus::Refused),
        // Only an account that the service knows reaches a usage limit or gets its request checked.
        None | Some(FailureClass::UsageLimit | FailureClass::Request) => {
            Some(AccountStatus::Accepted)
        }
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scout_tries_an_unknown_account_and_a_refusal_holds_the_other_starts() {
        use Admission::{Enter, EnterAsScout, Hold, WaitForScout};
        use Since::{AfterRefusal as After, BeforeRefusal as Before};
        use StartRequester::{ByItself, Many, One};
        let table = [
            (AccountStatus::Unknown, ScoutState::None, One, Before, Enter),
            (AccountStatus::Unknown, ScoutState::Running, One, Before, Enter),
            (AccountStatus::Unknown, ScoutState::None, Many, Before, EnterAsScout),
            (AccountStatus::Unknown, ScoutState::Running, Many, Before, WaitForScout),
            (AccountStatus::Unknown, ScoutState::None, ByItself, Before, EnterAsScout),
            (AccountStatus::Unknown, ScoutState::Running, ByItself, Before, WaitForScout),
            (AccountStatus::Accepted, ScoutState::None, One, Before, Enter),
            (AccountStatus::Accepted, ScoutState::Running, Many, Before, Enter),
            (AccountStatus::Accepted, ScoutState::None, ByItself, After, Enter),
            (AccountStatus::Refused, ScoutState::None, One, Before, Hold),
            (AccountStatus::Refused, ScoutState::Running, Many, Before, Hold),
            (AccountStatus::Refused, ScoutState::None, One, After, EnterAsScout),
            (AccountStatus::Refused, ScoutState::Running, One, After, WaitForScout),
            (AccountStatus::Refused, ScoutState::None, Many, After, EnterAsScout),
            (AccountStatus::Refused, ScoutState::Running, Many, After, WaitForScout),
            (AccountStatus::Refused, ScoutState::None, ByItself, After, Hold),
            (AccountStatus::Refused, ScoutState::Running, ByItself, Before, Hold),
        ];
        for (status, scout, requester, since, admission) in table {
            let row = (status, scout, requester, since);
            assert_eq!(admit(status, scout, requester, since), admission, "{row:?}");
        }
    }

    #[test]
    fn only_account_failures_refuse_an_account_and_unclear_failures_change_nothing() {
        let failure = |class| Failure { class, message: String::new(), resets_at: None };
        let table = [
            (FailureClass::Account, Some(AccountStatus::Refused)),
            (FailureClass::UsageLimit, Some(AccountStatus::Accepted)),
            (FailureClass::Request, Some(AccountStatus::Accepted)),
            (FailureClass::Service, None),
            (FailureClass::Connection, None),
            (FailureClass::Stream, None),
            (FailureClass::Silence, None),
            (FailureClass::Settings, None),
            (FailureClass::Other, None),
        ];
        for (class, expected) in table {
            assert_eq!(status_shown_by(Some(&failure(class))), expected, "{class:?}");
        }
        assert_eq!(status_shown_by(None), Some(AccountStatus::Accepted));
    }
}
