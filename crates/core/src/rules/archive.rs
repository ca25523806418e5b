//! Decides when a conversation is copied into the archive, and which copies are deleted if the
//! archive is too large.

use crate::model::{Archived, CopiedConversation, Status, VendorSessionId};

/// Archive in the middle of a turn after this many new bytes.
pub const MID_TURN_COPY_BYTES: u64 = 256 * 1024;

/// The state of a session that determines whether its conversation is copied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchiveFacts {
    pub conversation: Option<VendorSessionId>,
    pub status: Status,
    /// Whether a launch is open.
    pub is_open: bool,
    /// Length of the transcript in bytes, as last reported by the kernel.
    pub length: u64,
}

/// Returns whether to copy the conversation now. A copy is due:
///
/// - if the session is seen for the first time, or has another conversation than before;
/// - if a turn or a launch has ended;
/// - if the transcript has grown although the agent does not work: events that happen at the same
///   time are reported together, so a short turn may never be seen as `Working`;
/// - if a turn has added more than [`MID_TURN_COPY_BYTES`] bytes.
///
/// `copied` is the length of the transcript at the last copy.
pub fn is_due(before: Option<&ArchiveFacts>, now: &ArchiveFacts, copied: u64) -> bool {
    let Some(before) = before else { return true };
    before.conversation != now.conversation
        || (before.is_open && !now.is_open)
        || (is_working(before.status) && !is_working(now.status))
        || (!is_working(now.status) && now.length != copied)
        || now.length > copied.saturating_add(MID_TURN_COPY_BYTES)
}

fn is_working(status: Status) -> bool {
    matches!(status, Status::Starting | Status::Working)
}

/// Whether the session that a copy belongs to is live.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CopyOwner {
    /// No session has this conversation.
    None,
    /// The session has ended or was lost.
    Resting,
    /// The session has an open launch, or has neither ended nor been lost. Its copy is never
    /// deleted, whatever its size.
    Live,
}

/// Returns the copies to delete so that the others fit into `limit` bytes. Copies that belong to no
/// session go first, then the oldest ones.
pub fn to_drop(
    mut copies: Vec<CopiedConversation>,
    limit: u64,
    owner: impl Fn(&Archived) -> CopyOwner,
) -> Vec<CopiedConversation> {
    let mut size: u64 = copies.iter().map(|it| it.bytes).sum();
    copies.retain(|it| owner(&it.conversation) != CopyOwner::Live);
    copies.sort_by_key(|it| (owner(&it.conversation), it.copied_at));
    let must_drop = |it: &CopiedConversation| {
        let before = size;
        size = size.saturating_sub(it.bytes);
        before > limit
    };
    copies.into_iter().take_while(must_drop).collect()
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::model::{How, VendorId, WaitingFor};

    fn facts(status: Status) -> ArchiveFacts {
        let is_open = !matches!(status, Status::Ended(_) | Status::Lost);
        ArchiveFacts {
            conversation: Some(VendorSessionId::new("a")),
            status,
            is_open,
            length: 1000,
        }
    }

    #[test]
    fn copy_is_due_after_a_turn_or_a_launch_and_after_many_new_bytes() {
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
            assert_eq!(is_due(Some(&facts(before)), &facts(now), 1000), due, "{before:?} {now:?}");
        }
        let working = facts(Working);
        assert!(is_due(None, &working, 0), "the session is seen for the first time");
        let other =
            ArchiveFacts { conversation: Some(VendorSessionId::new("b")), ..facts(Working) };
        assert!(is_due(Some(&working), &other, 1000));
        for (status, due) in [(Idle, true), (Working, false)] {
            let more = ArchiveFacts { length: 1001, ..facts(status) };
            assert_eq!(is_due(Some(&more), &more, 1000), due, "{status:?} with a new byte");
        }
        let long = ArchiveFacts { length: 1000 + MID_TURN_COPY_BYTES, ..working.clone() };
        assert!(!is_due(Some(&working), &long, 1000));
        assert!(is_due(Some(&working), &ArchiveFacts { length: long.length + 1, ..long }, 1000));
    }

    fn copy(name: &str, bytes: u64, copied: i64) -> CopiedConversation {
        let conversation = Archived { vendor: VendorId::new("v"), id: VendorSessionId::new(name) };
        CopiedConversation {
            conversation,
            bytes,
            copied_at: Timestamp::from_second(copied).unwrap(),
        }
    }

    #[test]
    fn copies_without_a_session_are_deleted_first_then_the_oldest_and_live_ones_never() {
        let owner = |it: &Archived| match it.id.as_str().as_bytes()[0] {
            b'l' => CopyOwner::Live,
            b'r' => CopyOwner::Resting,
            _ => CopyOwner::None,
        };
        let all = || {
            vec![
                copy("live", 50, 1),
                copy("rests", 10, 2),
                copy("rests-2", 10, 3),
                copy("no-session", 10, 9),
                copy("no-session-2", 10, 8),
            ]
        };
        let dropped = |limit| -> Vec<String> {
            let dropped = to_drop(all(), limit, owner);
            dropped.into_iter().map(|it| it.conversation.id.to_string()).collect()
        };
        assert_eq!(dropped(90), Vec::<String>::new());
        assert_eq!(dropped(89), ["no-session-2"]);
        assert_eq!(dropped(70), ["no-session-2", "no-session"]);
        assert_eq!(dropped(69), ["no-session-2", "no-session", "rests"]);
        assert_eq!(dropped(0), ["no-session-2", "no-session", "rests", "rests-2"]);
    }
}
