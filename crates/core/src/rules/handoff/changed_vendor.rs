//! Chooses the conversation that an agent continues after its vendor was changed in the project file.

use std::cmp::Reverse;

use jiff::Timestamp;

use crate::model::{SessionId, VendorSessionId};

/// An earlier session of an agent whose vendor was changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandoffCandidate {
    pub session: SessionId,
    /// The vendor's id of its conversation. `None` if the session never had a conversation.
    pub id: Option<VendorSessionId>,
    /// Whether the session belongs to the agent's current vendor.
    pub is_own: bool,
    /// When something last happened in the session.
    pub at: Timestamp,
}

/// The conversation that an agent continues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ContinuedConversation<'a> {
    /// A session of its current vendor. Nothing is handed over.
    Own(&'a HandoffCandidate),
    /// The first of these sessions that has content is handed over.
    FirstOf(Vec<&'a HandoffCandidate>),
}

/// Chooses the conversation that an agent continues after its vendor was changed: the newest
/// session of its current vendor. If there is none, the other sessions that have an id, most recent
/// first.
pub fn continued_conversation(candidates: &[HandoffCandidate]) -> ContinuedConversation<'_> {
    let mut order: Vec<&HandoffCandidate> =
        candidates.iter().filter(|it| it.id.is_some()).collect();
    order.sort_by_key(|candidate| Reverse(candidate.at));
    match order.iter().find(|candidate| candidate.is_own) {
        Some(own) => ContinuedConversation::Own(own),
        None => ContinuedConversation::FirstOf(order),
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn candidate(number: u8, is_own: bool) -> HandoffCandidate {
        let id = VendorSessionId::new(format!("id-{number}"));
        HandoffCandidate {
            session: SessionId::new(Uuid::from_u128(u128::from(number))),
            id: Some(id),
            is_own,
            at: Timestamp::from_second(i64::from(number)).unwrap(),
        }
    }

    /// Returns the index of the session that is handed over if the sessions `with_content` have
    /// content.
    fn handed(candidates: &[HandoffCandidate], with_content: &[usize]) -> Option<usize> {
        let ContinuedConversation::FirstOf(order) = continued_conversation(candidates) else {
            return None;
        };
        let number =
            |it: &HandoffCandidate| candidates.iter().position(|other| other == it).unwrap();
        order.into_iter().map(number).find(|number| with_content.contains(number))
    }

    #[test]
    fn session_of_the_current_vendor_is_continued_and_not_handed_over() {
        let candidates = [candidate(1, true), candidate(2, false)];
        assert_eq!(continued_conversation(&candidates), ContinuedConversation::Own(&candidates[0]));
        assert_eq!(handed(&candidates, &[0, 1]), None);
    }

    #[test]
    fn session_of_another_vendor_is_handed_over() {
        assert_eq!(handed(&[candidate(2, false)], &[0]), Some(0));
    }

    #[test]
    fn nothing_is_handed_over_without_a_session_that_has_content() {
        assert_eq!(handed(&[], &[]), None);
        assert_eq!(handed(&[candidate(1, false)], &[]), None);
    }

    #[test]
    fn session_without_content_is_skipped() {
        let candidates = [candidate(1, false), candidate(3, false), candidate(2, false)];
        assert_eq!(handed(&candidates, &[0, 2]), Some(2));
        assert_eq!(handed(&candidates, &[0]), Some(0));
    }

    #[test]
    fn most_recent_session_is_handed_over() {
        let candidates = [candidate(1, false), candidate(3, false), candidate(2, false)];
        assert_eq!(handed(&candidates, &[0, 1, 2]), Some(1));
    }

    #[test]
    fn after_a_change_back_the_newest_session_of_that_vendor_is_continued() {
        let candidates = [candidate(1, true), candidate(2, false), candidate(3, true)];
        assert_eq!(continued_conversation(&candidates), ContinuedConversation::Own(&candidates[2]));
    }

    #[test]
    fn session_without_an_id_is_ignored() {
        let without_id = HandoffCandidate { id: None, ..candidate(3, true) };
        assert_eq!(handed(&[without_id, candidate(1, false)], &[0, 1]), Some(1));
    }
}
