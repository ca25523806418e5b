//! Reads the last turns of a conversation.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use segue_core::Result;

use super::{ConversationReading, EachNumbered, Numbered};

/// A transcript of at most this many bytes is read as a whole, so that every turn has its number.
const SHORT: u64 = 4 * 1024 * 1024;

/// At most this many bytes of text are held in memory. If the requested turns are larger, the
/// transcript is read from the start.
const MOST_HELD: usize = 64 * 1024 * 1024;

/// Reads the last turns, oldest first.
pub(super) fn last(
    reading: &ConversationReading,
    count: usize,
    each: &mut EachNumbered<'_>,
) -> Result<()> {
    let turns = match count {
        0 => return Ok(()),
        _ if is_short(reading) => Some(of_short(reading, count)?),
        _ => backwards(reading, count, MOST_HELD)?,
    };
    match turns {
        Some(turns) => {
            let _told_to_stop = turns.into_iter().try_for_each(each);
            Ok(())
        }
        None => from_the_beginning(reading, count, each),
    }
}

fn is_short(reading: &ConversationReading) -> bool {
    let facts = reading.path().and_then(|path| reading.files.facts(&path).ok().flatten());
    facts.is_some_and(|facts| facts.length <= SHORT)
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

/// Reads only the requested turns, from the end. `None` if they have more than `most` bytes of
/// text.
fn backwards(
    reading: &ConversationReading,
    count: usize,
    most: usize,
) -> Result<Option<Vec<Numbered>>> {
    // `seen` counts all turns from the end, including those that do not belong to this part.
    let (mut turns, mut seen, mut held) = (Vec::new(), 0_u64, 0);
    let mut stopped = false;
    reading.turns_back(&mut |turn| {
        seen += 1;
        if reading.window.has(&turn) {
            held += turn.text.len();
            turns.push((seen, turn));
        }
        // Do not read on to find out whether there is another turn: that could take long.
        stopped = turns.len() == count || held > most;
        if stopped { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    if held > most {
        return Ok(None);
    }
    let whole = (!stopped).then_some(seen);
    let number = |(place, turn)| Numbered { index: whole.map(|whole| whole - place + 1), turn };
    Ok(Some(turns.into_iter().rev().map(number).collect()))
}

fn from_the_beginning(
    reading: &ConversationReading,
    count: usize,
    each: &mut EachNumbered<'_>,
) -> Result<()> {
    let mut all = 0_usize;
    reading.forwards(&mut |_| {
        all += 1;
        ControlFlow::Continue(())
    })?;
    let mut before = all.saturating_sub(count);
    reading.forwards(&mut |turn| {
        if before > 0 {
            before -= 1;
            return ControlFlow::Continue(());
        }
        each(turn)
    })
}

#[cfg(test)]
mod tests;
