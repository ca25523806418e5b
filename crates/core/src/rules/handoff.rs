//! How a conversation goes to another vendor, and which one goes.

use std::cmp::Reverse;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::model::{SessionId, VendorSessionId};

/// How the user wants a conversation handed over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// As the target's own conversation where that can be, else as a message.
    #[default]
    Auto,
    /// As the target's own conversation.
    Native,
    /// As a message that tells what was said.
    Digest,
}

impl Mode {
    pub const ALL: [Self; 3] = [Self::Auto, Self::Native, Self::Digest];

    /// Returns the word used on the command line and in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Native => "native",
            Self::Digest => "digest",
        }
    }

    /// Reads the word.
    pub fn parse(word: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|mode| mode.word() == word).ok_or_else(|| {
            Error::usage(format!("`{word}` is no way to hand a conversation over"))
                .hint("use `--mode auto`, `--mode native` or `--mode digest`")
        })
    }
}

/// How a conversation is handed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// As the target's own; where that fails, as a message if nothing else was asked for.
    Native {
        else_digest: bool,
    },
    Digest,
    /// There is nothing to carry.
    Plain,
}

/// Whether a conversation has anything to carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    Something,
    Nothing,
}

/// Chooses the way.
pub fn choose(mode: Mode, target_takes_native: bool, content: Content) -> Result<Way> {
    match mode {
        Mode::Native if !target_takes_native => {
            Err(Error::usage("the target does not take a conversation in as its own")
                .hint("use `--mode auto` or `--mode digest`"))
        }
        _ if content == Content::Nothing => Ok(Way::Plain),
        Mode::Native => Ok(Way::Native { else_digest: false }),
        Mode::Auto if target_takes_native => Ok(Way::Native { else_digest: true }),
        Mode::Auto | Mode::Digest => Ok(Way::Digest),
    }
}

/// A session of an agent whose vendor was changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    pub session: SessionId,
    /// The vendor's id of its conversation; none where there never was one.
    pub id: Option<VendorSessionId>,
    /// It is of the vendor that the agent has now.
    pub is_own: bool,
    /// When something last happened in it.
    pub at: Timestamp,
}

/// What an agent goes on with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source<'a> {
    /// Its own session: nothing is handed over.
    Own(&'a Candidate),
    /// The first of these that has content.
    FirstOf(Vec<&'a Candidate>),
}

/// Chooses what an agent goes on with whose vendor was changed: the newest session of its vendor,
/// else the others that have an id, the most recent first.
pub fn source(candidates: &[Candidate]) -> Source<'_> {
    let mut order: Vec<&Candidate> = candidates.iter().filter(|it| it.id.is_some()).collect();
    order.sort_by_key(|candidate| Reverse(candidate.at));
    match order.iter().find(|candidate| candidate.is_own) {
        Some(own) => Source::Own(own),
        None => Source::FirstOf(order),
    }
}

impl<'a> Source<'a> {
    /// Returns the session that is handed over, with what was read of it. Reading gives nothing
    /// where there is an id and no content: then the next is tried.
    pub fn hand_over<T>(
        &self,
        mut read: impl FnMut(&Candidate) -> Result<Option<T>>,
    ) -> Result<Option<(&'a Candidate, T)>> {
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

    fn candidate(number: u8, is_own: bool) -> Candidate {
        let id = VendorSessionId::new(format!("id-{number}"));
        Candidate {
            session: SessionId::new(Uuid::from_u128(u128::from(number))),
            id: Some(id),
            is_own,
            at: Timestamp::from_second(i64::from(number)).unwrap(),
        }
    }

    /// Hands over what has content, and returns the number of it.
    fn handed(candidates: &[Candidate], with_content: &[usize]) -> Option<usize> {
        let number = |it: &Candidate| candidates.iter().position(|other| other == it).unwrap();
        let read = |it: &Candidate| Ok(with_content.contains(&number(it)).then_some(()));
        source(candidates).hand_over(read).unwrap().map(|(it, ())| number(it))
    }

    #[test]
    fn words_are_read_back() {
        for mode in Mode::ALL {
            assert_eq!(Mode::parse(mode.word()).unwrap(), mode);
        }
        assert!(Mode::parse("Native").is_err());
    }

    #[test]
    fn the_way_is_what_was_asked_for_and_can_be() {
        let native = |else_digest| Some(Way::Native { else_digest });
        let (some, none) = (Content::Something, Content::Nothing);
        let table = [
            (Mode::Auto, true, some, native(true)),
            (Mode::Auto, false, some, Some(Way::Digest)),
            (Mode::Auto, true, none, Some(Way::Plain)),
            (Mode::Native, true, some, native(false)),
            (Mode::Native, false, some, None),
            (Mode::Native, true, none, Some(Way::Plain)),
            (Mode::Digest, true, some, Some(Way::Digest)),
            (Mode::Digest, false, none, Some(Way::Plain)),
        ];
        for (mode, takes, content, way) in table {
            assert_eq!(choose(mode, takes, content).ok(), way, "{mode:?} {takes} {content:?}");
        }
    }

    #[test]
    fn check_27_an_own_session_is_not_handed_over() {
        let candidates = [candidate(1, true), candidate(2, false)];
        assert_eq!(source(&candidates), Source::Own(&candidates[0]));
        assert_eq!(handed(&candidates, &[0, 1]), None);
    }

    #[test]
    fn check_27_another_one_is() {
        assert_eq!(handed(&[candidate(2, false)], &[0]), Some(0));
    }

    #[test]
    fn check_27_without_any_nothing_is() {
        assert_eq!(handed(&[], &[]), None);
        assert_eq!(handed(&[candidate(1, false)], &[]), None);
    }

    #[test]
    fn check_27_an_id_without_content_lets_the_next_be_tried() {
        let candidates = [candidate(1, false), candidate(3, false), candidate(2, false)];
        assert_eq!(handed(&candidates, &[0, 2]), Some(2));
        assert_eq!(handed(&candidates, &[0]), Some(0));
    }

    #[test]
    fn check_27_the_most_recent_wins() {
        let candidates = [candidate(1, false), candidate(3, false), candidate(2, false)];
        assert_eq!(handed(&candidates, &[0, 1, 2]), Some(1));
    }

    #[test]
    fn check_27_back_at_the_first_vendor_its_newest_session_goes_on() {
        let candidates = [candidate(1, true), candidate(2, false), candidate(3, true)];
        assert_eq!(source(&candidates), Source::Own(&candidates[2]));
    }

    #[test]
    fn check_27_a_session_without_an_id_does_not_count() {
        let nameless = Candidate { id: None, ..candidate(3, true) };
        assert_eq!(handed(&[nameless, candidate(1, false)], &[0, 1]), Some(1));
    }
}
