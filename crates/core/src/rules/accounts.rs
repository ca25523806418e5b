//! Decides which agents of an account may start. A service that refuses an account refuses all of
//! its agents, so one agent (the scout) tries the account before the others start.

use crate::model::{Failure, FailureClass};

/// What is known about whether the service accepts an account.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Standing {
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
pub enum Wanted {
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
pub enum Scout {
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
pub fn admit(standing: Standing, scout: Scout, wanted: Wanted, since: Since) -> Admission {
    let tries = match scout {
        Scout::None => Admission::EnterAsScout,
        Scout::Out => Admission::WaitForScout,
    };
    match (standing, wanted, since) {
        // A user who starts a single agent does not have to wait for another one.
        (Standing::Open, _, _) | (Standing::Unknown, Wanted::One, _) => Admission::Enter,
        (Standing::Unknown, Wanted::Many | Wanted::ByItself, _) => tries,
        (Standing::Refused, Wanted::ByItself, _) | (Standing::Refused, _, Since::BeforeRefusal) => {
            Admission::Hold
        }
        // The user may have signed in since the refusal, so try the account again.
        (Standing::Refused, Wanted::One | Wanted::Many, Since::AfterRefusal) => tries,
    }
}

/// Returns what the result of a turn shows about the account. `None` if it shows nothing.
pub fn told_by(failure: Option<&Failure>) -> Option<Standing> {
    match failure.map(|failure| failure.class) {
        Some(FailureClass::Account) => Some(Standing::Refused),
        // Only an account that the service knows reaches a usage limit or gets its request checked.
        None | Some(FailureClass::UsageLimit | FailureClass::Request) => Some(Standing::Open),
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
        use Wanted::{ByItself, Many, One};
        let table = [
            (Standing::Unknown, Scout::None, One, Before, Enter),
            (Standing::Unknown, Scout::Out, One, Before, Enter),
            (Standing::Unknown, Scout::None, Many, Before, EnterAsScout),
            (Standing::Unknown, Scout::Out, Many, Before, WaitForScout),
            (Standing::Unknown, Scout::None, ByItself, Before, EnterAsScout),
            (Standing::Unknown, Scout::Out, ByItself, Before, WaitForScout),
            (Standing::Open, Scout::None, One, Before, Enter),
            (Standing::Open, Scout::Out, Many, Before, Enter),
            (Standing::Open, Scout::None, ByItself, After, Enter),
            (Standing::Refused, Scout::None, One, Before, Hold),
            (Standing::Refused, Scout::Out, Many, Before, Hold),
            (Standing::Refused, Scout::None, One, After, EnterAsScout),
            (Standing::Refused, Scout::Out, One, After, WaitForScout),
            (Standing::Refused, Scout::None, Many, After, EnterAsScout),
            (Standing::Refused, Scout::Out, Many, After, WaitForScout),
            (Standing::Refused, Scout::None, ByItself, After, Hold),
            (Standing::Refused, Scout::Out, ByItself, Before, Hold),
        ];
        for (standing, scout, wanted, since, admission) in table {
            let row = (standing, scout, wanted, since);
            assert_eq!(admit(standing, scout, wanted, since), admission, "{row:?}");
        }
    }

    #[test]
    fn only_account_failures_refuse_an_account_and_unclear_failures_change_nothing() {
        let failure = |class| Failure { class, message: String::new(), resets_at: None };
        let table = [
            (FailureClass::Account, Some(Standing::Refused)),
            (FailureClass::UsageLimit, Some(Standing::Open)),
            (FailureClass::Request, Some(Standing::Open)),
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
        assert_eq!(told_by(None), Some(Standing::Open));
    }
}
