//! Reads a page of a conversation, from its end towards its beginning.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::ops::ControlFlow;

use segue_core::api::TurnCursor;
use segue_core::model::Turn;
use segue_core::{Error, Result};

use super::ConversationReading;

/// A page ends after this many bytes of text. It has at least one turn.
const MAX_PAGE_BYTES: usize = 8 * 1024 * 1024;

/// Consecutive turns of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnPage {
    /// Oldest first.
    pub turns: Vec<Turn>,
    /// The oldest turn of the page. `None` if the page begins with the first turn.
    pub next: Option<TurnCursor>,
}

impl ConversationReading {
    /// Reads at most `limit` turns before a turn, or the last turns. Reads only the end of the
    /// transcript, up to the oldest turn of the page. Fails if the transcript does not have the turn
    /// of the cursor any more.
    pub fn page(&self, before: Option<TurnCursor>, limit: usize) -> Result<TurnPage> {
        let (mut turns, mut held_bytes, mut from_end) = (VecDeque::new(), 0, 0);
        let (mut sought, mut oldest, mut is_full) = (before, None, false);
        self.turns_back(&mut |turn| {
            from_end += 1;
            let cursor = TurnCursor { from_end, digest: digest(&turn) };
            if let Some(wanted) = sought {
                // Turns that were appended since the previous page increase the number of the turn.
                if from_end >= wanted.from_end && cursor.digest == wanted.digest {
                    sought = None;
                }
                return ControlFlow::Continue(());
            }
            if !self.window.contains(&turn) {
                return ControlFlow::Continue(());
            }
            held_bytes += turn.text.len();
            oldest = Some(cursor);
            turns.push_front(turn);
            // Do not read on to find out whether there is another turn: that could take long.
            is_full = turns.len() >= limit || held_bytes > MAX_PAGE_BYTES;
            if is_full { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        if sought.is_some() {
            return Err(Error::conflict("the transcript has changed since the previous page")
                .caused_by("it does not have the turn of the cursor any more")
                .hint("begin again without `before`"));
        }
        Ok(TurnPage { turns: turns.into(), next: oldest.filter(|_| is_full) })
    }
}

fn digest(turn: &Turn) -> u64 {
    let mut hasher = DefaultHasher::new();
    (turn.role, &turn.text, turn.at).hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests;
