//! Lists in pages. A cursor is the position behind a page; clients treat it as opaque.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use uuid::Uuid;

use crate::error::{Error, Result};

/// How many items a page has if the request does not say it.
pub const DEFAULT_PAGE_SIZE: u32 = 100;

/// The most items of a page.
pub const MAX_PAGE_SIZE: u32 = 1000;

/// Checks the number of items that a request asks for.
pub fn page_size(limit: Option<u32>) -> Result<u32> {
    let limit = limit.unwrap_or(DEFAULT_PAGE_SIZE);
    if (1..=MAX_PAGE_SIZE).contains(&limit) {
        return Ok(limit);
    }
    Err(Error::usage(format!("`limit` must be between 1 and {MAX_PAGE_SIZE}, got {limit}")))
}

/// Parses a cursor.
pub fn parse_cursor<C: FromStr>(text: Option<&str>) -> Result<Option<C>> {
    let parse = |text: &str| {
        text.parse().map_err(|_| {
            let shown: String = text.chars().take(60).collect();
            Error::usage(format!("`{}` is not a cursor", shown.escape_debug()))
                .hint("use the cursor of an earlier answer, or leave it out to begin again")
        })
    };
    text.map(parse).transpose()
}

/// A text that is not a cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidCursor;

/// A position in a list that is ordered by time and id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TimeCursor {
    pub at: Timestamp,
    pub id: Uuid,
}

impl fmt::Display for TimeCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}.{}", self.at.as_nanosecond(), self.id.simple())
    }
}

impl FromStr for TimeCursor {
    type Err = InvalidCursor;

    fn from_str(text: &str) -> Result<Self, InvalidCursor> {
        let (at, id) = text.split_once('.').ok_or(InvalidCursor)?;
        let at = i128::from_str_radix(at, 16).map_err(|_| InvalidCursor)?;
        let at = Timestamp::from_nanosecond(at).map_err(|_| InvalidCursor)?;
        let id = Uuid::try_parse(id).map_err(|_| InvalidCursor)?;
        Ok(Self { at, id })
    }
}

/// A position in the queue of tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlaceCursor(pub i64);

impl fmt::Display for PlaceCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}", self.0)
    }
}

impl FromStr for PlaceCursor {
    type Err = InvalidCursor;

    fn from_str(text: &str) -> Result<Self, InvalidCursor> {
        i64::from_str_radix(text, 16).map(Self).map_err(|_| InvalidCursor)
    }
}

/// A position in a conversation: a turn, by its number counted from the end, and a digest of its
/// content. Turns that are appended later do not move it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TurnCursor {
    pub from_end: u64,
    pub digest: u64,
}

impl fmt::Display for TurnCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}.{:x}", self.from_end, self.digest)
    }
}

impl FromStr for TurnCursor {
    type Err = InvalidCursor;

    fn from_str(text: &str) -> Result<Self, InvalidCursor> {
        let (from_end, digest) = text.split_once('.').ok_or(InvalidCursor)?;
        let number = |text| u64::from_str_radix(text, 16).map_err(|_| InvalidCursor);
        Ok(Self { from_end: number(from_end)?, digest: number(digest)? })
    }
}

/// A position in the conversations that handoffs connect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoryCursor {
    /// The number of the conversation. The first has the number 0.
    pub part: u32,
    /// The turns before this one are wanted. `None` for the last turns of the conversation.
    pub before: Option<TurnCursor>,
}

impl fmt::Display for StoryCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.before {
            Some(before) => write!(f, "{:x}.{before}", self.part),
            None => write!(f, "{:x}", self.part),
        }
    }
}

impl FromStr for StoryCursor {
    type Err = InvalidCursor;

    fn from_str(text: &str) -> Result<Self, InvalidCursor> {
        let (part, before) = match text.split_once('.') {
            Some((part, before)) => (part, Some(before.parse()?)),
            None => (text, None),
        };
        let part = u32::from_str_radix(part, 16).map_err(|_| InvalidCursor)?;
        Ok(Self { part, before })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursor_is_parsed_to_the_position_that_it_was_made_from() {
        let at = Timestamp::new(1_700_000_000, 123_456_789).unwrap();
        let time = TimeCursor { at, id: Uuid::from_u128(7) };
        assert_eq!(time.to_string().parse(), Ok(time));
        let early = TimeCursor { at: Timestamp::UNIX_EPOCH, ..time };
        assert_eq!(early.to_string().parse(), Ok(early));
        assert_eq!(PlaceCursor(300).to_string().parse(), Ok(PlaceCursor(300)));
        let turn = TurnCursor { from_end: 12, digest: u64::MAX };
        assert_eq!(turn.to_string().parse(), Ok(turn));
        for before in [None, Some(turn)] {
            let story = StoryCursor { part: 3, before };
            assert_eq!(story.to_string().parse(), Ok(story));
        }
    }

    #[test]
    fn text_that_is_no_cursor_is_a_usage_error() {
        let long = "f".repeat(4000);
        for text in ["", "x", ".", "1.", "1.2.3", "-", &long, "7fffffffffffffffffffffffffffffff.1"]
        {
            let time = parse_cursor::<TimeCursor>(Some(text)).unwrap_err();
            assert_eq!(time.kind, crate::Kind::Usage, "{text}");
            assert!(time.message.len() < 100, "{}", time.message);
        }
        for text in ["", "x", "-", &long] {
            assert!(parse_cursor::<PlaceCursor>(Some(text)).is_err(), "{text}");
            assert!(parse_cursor::<TurnCursor>(Some(text)).is_err(), "{text}");
        }
        assert_eq!(parse_cursor::<TimeCursor>(None), Ok(None));
    }

    #[test]
    fn page_has_between_1_and_1000_items() {
        assert_eq!(page_size(None), Ok(100));
        assert_eq!((page_size(Some(1)), page_size(Some(1000))), (Ok(1), Ok(1000)));
        assert!(page_size(Some(0)).is_err() && page_size(Some(1001)).is_err());
        for text in ["", "x", "1.", "1.2", "1.2.3.4", "-1", "100000000.2.3"] {
            assert!(parse_cursor::<StoryCursor>(Some(text)).is_err(), "{text}");
        }
    }
}
