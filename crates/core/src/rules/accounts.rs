//! Who of an account may start: a service that refuses it refuses all of its agents alike, so that
//! one of them is enough to find that out.

use crate::model::{Failure, FailureClass};

/// What is known about whether the service takes an account.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Standing {
    /// Nothing was tried yet.
    #[default]
    Unknown,
    /// It was taken, or at least nothing was said against it.
    Open,
    /// It was refused.
    Refused,
}

/// Who wants a start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// A person, for one session.
    One,
    /// A person, for several at once.
    Many,
    /// Nobody: a crash is to be followed by a restart.
    ByItself,
}

/// Whether what wants to start was asked for before the account was refused, or in spite of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Since {
    BeforeRefusal,
    AfterRefusal,
}

/// Whether one is on its way to find out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scout {
    Out,
    None,
}

/// What becomes of a wish to start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    Enter,
    /// It goes ahead, and the others wait for what comes of it.
    EnterAsScout,
    WaitForScout,
    /// It is not begun.
    Hold,
}

/// Decides whether a start may begin.
pub fn admit(standing: Standing, scout: Scout, wanted: Wanted, since: Since) -> Admission {
    let tries = match scout {
        Scout::None => Admission::EnterAsScout,
        Scout::Out => Admission::WaitForScout,
    };
    match (standing, wanted, since) {
        // Whoever starts one agent waits for no other.
        (Standing::Open, _, _) | (Standing::Unknown, Wanted::One, _) => Admission::Enter,
        (Standing::Unknown, Wanted::Many | Wanted::ByItself, _) => tries,
        (Standing::Refused, Wanted::ByItself, _) | (Standing::Refused, _, Since::BeforeRefusal) => {
            Admission::Hold
        }
        // A person who asks again may have signed in meanwhile.
        (Standing::Refused, Wanted::One | Wanted::Many, Since::AfterRefusal) => tries,
    }
}

/// Says what a turn that ended tells about the account; none where it tells nothing.
pub fn told_by(failure: Option<&Failure>) -> Option<Standing> {
    match failure.map(|failure| failure.class) {
        Some(FailureClass::Account) => Some(Standing::Refused),
        // Only an account that is known has a limit, or a request that is looked at.
        None | Some(FailureClass::UsageLimit | FailureClass::Request) => Some(Standing::Open),
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_tries_an_account_and_a_refusal_holds_the_others() {
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
    fn only_a_refused_account_is_held_and_what_proves_nothing_changes_nothing() {
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
