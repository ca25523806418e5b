//! Reads the last turns of a conversation.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use segue_core::Result;

use super::{ConversationReading, EachNumbered, Numbered};

/// A transcript of at most this many bytes is read as a whole, so that every turn has its number.
const SHORT_BYTES: u64 = 4 * 1024 * 1024;

/// At most this many bytes of text are held in memory. If the requested turns are larger, the
/// transcript is read from the start.
const MAX_HELD_BYTES: usize = 64 * 1024 * 1024;

/// Reads the last turns, oldest first.
pub(super) fn last(
    reading: &ConversationReading,
    count: usize,
    each: &mut EachNumbered<'_>,
) -> Result<()> {
    let turns = match count {
        0 => return Ok(()),
        _ if is_short(reading) => Some(of_short(reading, count)?),
        _ => backwards(reading, count, MAX_HELD_BYTES)?,
    };
    match turns {
        Some(turns) => {
            let _stopped_early = turns.into_iter().try_for_each(each);
            Ok(())
        }
        None => from_the_start(reading, count, each),
    }
}

fn is_short(reading: &ConversationReading) -> bool {
    let facts = reading.path().and_then(|path| reading.files.facts(&path).ok().flatten());
    facts.is_some_and(|facts| facts.length <= SHORT_BYTES)
}

fn of_short(reading: &ConversationReading, count: usize) -> Result<Vec<Numbered>> {
    let mut turns = VecDeque::new();
    reading.forwards(&mut |turn| {
        if turns.len() == count {
            turns.pop_front();
        }
        turns.push_back(turn);
        ControlFlow::Continue(())
    })?;
    Ok(turns.into())
}

/// Reads only the requested turns, from the end. `None` if they have more than `max_bytes` bytes of
/// text.
fn backwards(
    reading: &ConversationReading,
    count: usize,
    max_bytes: usize,
) -> Result<Option<Vec<Numbered>>> {
    // `read` counts all turns from the end, including those outside of the reading's window.
    let (mut turns, mut read, mut held_bytes) = (Vec::new(), 0_u64, 0);
    let mut stopped = false;
    reading.turns_back(&mut |turn| {
        read += 1;
        if reading.window.contains(&turn) {
            held_bytes += turn.text.len();
            turns.push((read, turn));
        }
        // Do not read on to find out whether there is another turn: that could take long.
        stopped = turns.len() == count || held_bytes > max_bytes;
        if stopped { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    if held_bytes > max_bytes {
        return Ok(None);
    }
    let total = (!stopped).then_some(read);
    let number = |(place, turn)| Numbered { index: total.map(|total| total - place + 1), turn };
    Ok(Some(turns.into_iter().rev().map(number).collect()))
}

/// Counts all turns first, then reads the transcript again. Holds one turn in memory at a time.
fn from_the_start(
    reading: &ConversationReading,
    count: usize,
    each: &mut EachNumbered<'_>,
) -> Result<()> {
    let mut total = 0_usize;
    reading.forwards(&mut |_| {
        total += 1;
        ControlFlow::Continue(())
    })?;
    let mut skipped = total.saturating_sub(count);
    reading.forwards(&mut |turn| {
        if skipped > 0 {
            skipped -= 1;
            return ControlFlow::Continue(());
        }
        each(turn)
    })
}

#[cfg(test)]
mod tests;
