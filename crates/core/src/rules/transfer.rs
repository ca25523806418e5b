//! Prepares the turns of one vendor's conversation for another vendor.

mod cleaner;
mod collector;
mod new_turns;

#[cfg(test)]
mod tests;

pub use cleaner::TurnCleaner;
pub use collector::{CollectedTurns, TurnCollector};
pub use new_turns::NewTurns;

/// A cut moves to a line break that is at most this many bytes away.
const MAX_LINE_BYTES: usize = 80;

/// Cuts out the middle of a text and inserts a mark with the number of missing characters. The
/// result has at most `most` characters, including the mark.
pub fn cut_in_middle(text: &str, most: usize) -> String {
    // A text has at least as many bytes as characters, so this case needs no counting.
    if text.len() <= most {
        return text.to_owned();
    }
    let length = text.chars().count();
    if length <= most {
        return text.to_owned();
    }
    let kept = most.saturating_sub(mark(length).chars().count());
    if kept == 0 {
        return text.chars().take(most).collect();
    }
    let head = end_of_line(&text[..byte_offset_of(text, kept - kept / 2)]);
    let tail = start_of_line(&text[byte_offset_of(text, length - kept / 2)..]);
    let missing = length - head.chars().count() - tail.chars().count();
    format!("{head}{}{tail}", mark(missing))
}

fn mark(missing: usize) -> String {
    format!("\n[… {missing} characters left out …]\n")
}

/// Returns the byte offset of the character with this number.
fn byte_offset_of(text: &str, number: usize) -> usize {
    text.char_indices().nth(number).map_or(text.len(), |(at, _)| at)
}

/// Removes an incomplete line from the end of the text, unless that line is long.
fn end_of_line(text: &str) -> &str {
    text.rfind('\n').filter(|at| text.len() - at <= MAX_LINE_BYTES).map_or(text, |at| &text[..at])
}

/// Removes an incomplete line from the start of the text, unless that line is long.
fn start_of_line(text: &str) -> &str {
    text.find('\n').filter(|at| *at < MAX_LINE_BYTES).map_or(text, |at| &text[at + 1..])
}
