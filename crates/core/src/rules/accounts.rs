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
    Open,
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
    /// Segue itself, to restart an agent after a crash.
    ByItself,
}

/// Whether a start was requested before or after the account was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Since {
    BeforeRefusal,
    AfterRefusal,
}

/// Whether a scout is trying the account at the moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScoutState {
    Out,
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
    standing: AccountStatus,
    scout: ScoutState,
    requester: StartRequester,
    since: Since,
) -> Admission {
    let tries = match scout {
        ScoutState::None => Admission::EnterAsScout,
        ScoutState::Out => Admission::WaitForScout,
    };
    match (standing, requester, since) {
        // A user who starts a single agent does not have to wait for another one.
        (AccountStatus::Open, _, _) | (AccountStatus::Unknown, StartRequester::One, _) => {
            Admission::Enter
        }
        (AccountStatus::Unknown, StartRequester::Many | StartRequester::ByItself, _) => tries,
        (AccountStatus::Refused, StartRequester::ByItself, _)
        | (AccountStatus::Refused, _, Since::BeforeRefusal) => Admission::Hold,
        // The user may have signed in since the refusal, so try the account again.
        (
            AccountStatus::Refused,
            StartRequester::One | StartRequester::Many,
            Since::AfterRefusal,
        ) => tries,
    }
}

/// Returns what the result of a turn shows about the account. `None` if it shows nothing.
pub fn told_by(failure: Option<&Failure>) -> Option<AccountStatus> {
    match failure.map(|failure| failure.class) {
        Some(FailureClass::Account) => Some(AccountStatus::Refused),
        // Only an account that the service knows reaches a usage limit or gets its request checked.
        None | Some(FailureClass::UsageLimit | FailureClass::Request) => Some(AccountStatus::Open),
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
            (AccountStatus::Unknown, ScoutState::Out, One, Before, Enter),
            (AccountStatus::Unknown, ScoutState::None, Many, Before, EnterAsScout),
            (AccountStatus::Unknown, ScoutState::Out, Many, Before, WaitForScout),
            (AccountStatus::Unknown, ScoutState::None, ByItself, Before, EnterAsScout),
            (AccountStatus::Unknown, ScoutState::Out, ByItself, Before, WaitForScout),
            (AccountStatus::Open, ScoutState::None, One, Before, Enter),
            (AccountStatus::Open, ScoutState::Out, Many, Before, Enter),
            (AccountStatus::Open, ScoutState::None, ByItself, After, Enter),
            (AccountStatus::Refused, ScoutState::None, One, Before, Hold),
            (AccountStatus::Refused, ScoutState::Out, Many, Before, Hold),
            (AccountStatus::Refused, ScoutState::None, One, After, EnterAsScout),
            (AccountStatus::Refused, ScoutState::Out, One, After, WaitForScout),
            (AccountStatus::Refused, ScoutState::None, Many, After, EnterAsScout),
            (AccountStatus::Refused, ScoutState::Out, Many, After, WaitForScout),
            (AccountStatus::Refused, ScoutState::None, ByItself, After, Hold),
            (AccountStatus::Refused, ScoutState::Out, ByItself, Before, Hold),
        ];
        for (standing, scout, requester, since, admission) in table {
            let row = (standing, scout, requester, since);
            assert_eq!(admit(standing, scout, requester, since), admission, "{row:?}");
        }
    }

    #[test]
    fn only_account_failures_refuse_an_account_and_unclear_failures_change_nothing() {
        let failure = |class| Failure { class, message: String::new(), resets_at: None };
        let table = [
            (FailureClass::Account, Some(AccountStatus::Refused)),
            (FailureClass::UsageLimit, Some(AccountStatus::Open)),
            (FailureClass::Request, Some(AccountStatus::Open)),
            (FailureClass::Service, None),
            (FailureClass::Connection, None),
            (FailureClass::Stream, None),
            (FailureClass::Silence, None),
            (FailureClass::Settings, None),
            (FailureClass::Other, None),
        ];
        for (class, told) in table {
            assert_eq!(told_by(Some(&failure(class))), told, "{class:?}");
        }
        assert_eq!(told_by(None), Some(AccountStatus::Open));
    }
}
