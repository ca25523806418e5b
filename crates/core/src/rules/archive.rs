//! When a conversation is copied into the archive, and what goes when there is too much in it.

use crate::model::{Status, VendorSessionId};
use crate::ports::{Archived, Holding};

/// So much of a long turn is not worth losing.
pub const MUCH: u64 = 256 * 1024;

/// What is looked at whenever something has happened to a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sight {
    pub conversation: Option<VendorSessionId>,
    pub status: Status,
    /// A launch is open.
    pub lives: bool,
    /// How much the transcript has, as far as anybody told.
    pub length: u64,
}

/// Decides whether the conversation is to be copied now: when it is first seen, when another one
/// takes its place, when a turn or a launch is over, when something was said though nothing works
/// (what happens at once is told together), and when a turn has said much. `copied` is how much the
/// transcript had at the last copy.
pub fn is_due(before: Option<&Sight>, now: &Sight, copied: u64) -> bool {
    let Some(before) = before else { return true };
    before.conversation != now.conversation
        || (before.lives && !now.lives)
        || (works(before.status) && !works(now.status))
        || (!works(now.status) && now.length != copied)
        || now.length > copied.saturating_add(MUCH)
}

fn works(status: Status) -> bool {
    matches!(status, Status::Starting | Status::Working)
}

/// Whose a copy is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Claim {
    /// No session has that conversation.
    Nobodys,
    /// Of a session that is over.
    Resting,
    /// Of a session that goes on: it stays, whatever it takes.
    Live,
}

/// Returns what has to go so that the rest fits: what no session has goes first, then what is
/// oldest.
pub fn to_drop(
    mut holdings: Vec<Holding>,
    limit: u64,
    claim: impl Fn(&Archived) -> Claim,
) -> Vec<Holding> {
    let mut size: u64 = holdings.iter().map(|it| it.bytes).sum();
    holdings.retain(|it| claim(&it.conversation) != Claim::Live);
    holdings.sort_by_key(|it| (claim(&it.conversation), it.kept_at));
    let is_too_much = |it: &Holding| {
        let before = size;
        size = size.saturating_sub(it.bytes);
        before > limit
    };
    let mut is_too_much = is_too_much;
    holdings.into_iter().take_while(|it| is_too_much(it)).collect()
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::model::{How, VendorId, WaitingFor};

    fn sight(status: Status) -> Sight {
        let lives = !matches!(status, Status::Ended(_) | Status::Lost);
        Sight { conversation: Some(VendorSessionId::new("a")), status, lives, length: 1000 }
    }

    #[test]
    fn a_copy_is_due_at_the_end_of_a_turn_or_a_launch_and_when_much_was_said() {
        use Status::{Ended, Idle, Lost, Starting, Waiting, Working};
        let permission = Waiting(WaitingFor::Permission);
        let table = [
            (Starting, Working, false),
            (Starting, Idle, true),
            (Working, Working, false),
            (Working, Idle, true),
            (Working, permission, true),
            (permission, Working, false),
            (Idle, Idle, false),
            (Idle, Working, false),
            (Idle, Ended(How::Stopped), true),
            (permission, Lost, true),
            (Ended(How::Stopped), Ended(How::Stopped), false),
            (Ended(How::Stopped), Starting, false),
        ];
        for (before, now, due) in table {
            assert_eq!(is_due(Some(&sight(before)), &sight(now), 1000), due, "{before:?} {now:?}");
        }
        let working = sight(Working);
        assert!(is_due(None, &working, 0), "nobody has looked before");
        let other = Sight { conversation: Some(VendorSessionId::new("b")), ..sight(Working) };
        assert!(is_due(Some(&working), &other, 1000));
        for (status, due) in [(Idle, true), (Working, false)] {
            let more = Sight { length: 1001, ..sight(status) };
            assert_eq!(is_due(Some(&more), &more, 1000), due, "{status:?}, and more was said");
        }
        let long = Sight { length: 1000 + MUCH, ..working.clone() };
        assert!(!is_due(Some(&working), &long, 1000));
        assert!(is_due(Some(&working), &Sight { length: long.length + 1, ..long }, 1000));
    }

    fn holding(name: &str, bytes: u64, kept: i64) -> Holding {
        let conversation = Archived { vendor: VendorId::new("v"), id: VendorSessionId::new(name) };
        Holding { conversation, bytes, kept_at: Timestamp::from_second(kept).unwrap() }
    }

    #[test]
    fn the_oldest_goes_first_but_before_it_what_nobody_has_and_never_what_lives() {
        let claim = |it: &Archived| match it.id.as_str().as_bytes()[0] {
            b'l' => Claim::Live,
            b'r' => Claim::Resting,
            _ => Claim::Nobodys,
        };
        let all = || {
            vec![
                holding("live", 50, 1),
                holding("rests", 10, 2),
                holding("rests-2", 10, 3),
                holding("nobodys", 10, 9),
                holding("nobodys-2", 10, 8),
            ]
        };
        let dropped = |limit| -> Vec<String> {
            let dropped = to_drop(all(), limit, claim);
            dropped.into_iter().map(|it| it.conversation.id.to_string()).collect()
        };
        assert_eq!(dropped(90), Vec::<String>::new());
        assert_eq!(dropped(89), ["nobodys-2"]);
        assert_eq!(dropped(70), ["nobodys-2", "nobodys"]);
        assert_eq!(dropped(69), ["nobodys-2", "nobodys", "rests"]);
        assert_eq!(dropped(0), ["nobodys-2", "nobodys", "rests", "rests-2"]);
    }
}
