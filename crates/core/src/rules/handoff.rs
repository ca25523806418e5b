//! Decides in which form a conversation is handed over to another vendor, and which conversation.

use std::cmp::Reverse;

use jiff::Timestamp;

use crate::error::{Error, Result};
use crate::model::{SessionId, VendorSessionId};
use crate::word_enum::word_enum;

word_enum! {
    /// How the user wants to hand over a conversation.
    #[derive(Default)]
    pub enum HandoffMode {
        /// As the target vendor's own conversation if possible, otherwise as a message.
        #[default]
        Auto = "auto",
        /// As the target vendor's own conversation.
        Native = "native",
        /// As a message that contains the conversation as text.
        Digest = "digest",
    }
}

impl HandoffMode {
    /// Parses a mode from its word.
    pub fn parse(word: &str) -> Result<Self> {
        Self::from_word(word).ok_or_else(|| {
            Error::usage(format!("`{word}` is no way to hand a conversation over"))
                .hint("use `--mode auto`, `--mode native` or `--mode digest`")
        })
    }
}

/// How a conversation is handed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandoffMethod {
    /// As the target vendor's own conversation. If this fails and `else_digest` is set, as a
    /// message.
    Native {
        else_digest: bool,
    },
    Digest,
    /// The conversation is empty.
    Plain,
}

/// Whether a conversation has content to hand over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConversationContent {
    Something,
    Nothing,
}

/// Chooses the form of a handoff. Returns an error if the user requires `native` and the target
/// does not support it.
pub fn choose_method(
    mode: HandoffMode,
    target_takes_native: bool,
    content: ConversationContent,
) -> Result<HandoffMethod> {
    match mode {
        HandoffMode::Native if !target_takes_native => {
            Err(Error::usage("the target does not take a conversation in as its own")
                .hint("use `--mode auto` or `--mode digest`"))
        }
        _ if content == ConversationContent::Nothing => Ok(HandoffMethod::Plain),
        HandoffMode::Native => Ok(HandoffMethod::Native { else_digest: false }),
        HandoffMode::Auto if target_takes_native => Ok(HandoffMethod::Native { else_digest: true }),
        HandoffMode::Auto | HandoffMode::Digest => Ok(HandoffMethod::Digest),
    }
}

/// An earlier session of an agent whose vendor was changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandoffCandidate {
    pub session: SessionId,
    /// The vendor's session id of its conversation. `None` if it never had one.
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

impl<'a> ContinuedConversation<'a> {
    /// Returns the session to hand over and the content that `read` returned for it. `read` returns
    /// `None` if a session has an id but no content; then the next session is tried.
    pub fn hand_over<T>(
        &self,
        mut read: impl FnMut(&HandoffCandidate) -> Result<Option<T>>,
    ) -> Result<Option<(&'a HandoffCandidate, T)>> {
        let Self::FirstOf(order) = self else {
            return Ok(None);
        };
        for candidate in order {
            if let Some(content) = read(candidate)? {
                return Ok(Some((candidate, content)));
            }
        }
        Ok(None)
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
        let number =
            |it: &HandoffCandidate| candidates.iter().position(|other| other == it).unwrap();
        let read = |it: &HandoffCandidate| Ok(with_content.contains(&number(it)).then_some(()));
        continued_conversation(candidates).hand_over(read).unwrap().map(|(it, ())| number(it))
    }

    #[test]
    fn every_mode_is_parsed_from_its_word() {
        for mode in HandoffMode::ALL {
            assert_eq!(HandoffMode::parse(mode.word()).unwrap(), *mode);
        }
        assert!(HandoffMode::parse("Native").is_err());
    }

    #[test]
    fn handoff_form_depends_on_mode_target_and_content() {
        let native = |else_digest| Some(HandoffMethod::Native { else_digest });
        let (some, none) = (ConversationContent::Something, ConversationContent::Nothing);
        let table = [
            (HandoffMode::Auto, true, some, native(true)),
            (HandoffMode::Auto, false, some, Some(HandoffMethod::Digest)),
            (HandoffMode::Auto, true, none, Some(HandoffMethod::Plain)),
            (HandoffMode::Native, true, some, native(false)),
            (HandoffMode::Native, false, some, None),
            (HandoffMode::Native, true, none, Some(HandoffMethod::Plain)),
            (HandoffMode::Digest, true, some, Some(HandoffMethod::Digest)),
            (HandoffMode::Digest, false, none, Some(HandoffMethod::Plain)),
        ];
        for (mode, takes, content, method) in table {
            assert_eq!(
                choose_method(mode, takes, content).ok(),
                method,
                "{mode:?} {takes} {content:?}"
            );
        }
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
    fn session_without_content_is_skipped_for_the_next_one() {
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
        let nameless = HandoffCandidate { id: None, ..candidate(3, true) };
        assert_eq!(handed(&[nameless, candidate(1, false)], &[0, 1]), Some(1));
    }
}
