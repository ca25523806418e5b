//! Turns of one vendor, made fit for another.

mod cleaner;
mod gathering;
mod news;

#[cfg(test)]
mod tests;

pub use cleaner::Cleaner;
pub use gathering::{Carried, Gathering};
pub use news::{News, since};

/// A cut looks so far for the end of a line.
const LINE: usize = 80;

/// Returns the text cut in its middle, with a mark that says how much is missing: at most so many
/// characters with the mark.
pub fn cut_in_middle(text: &str, most: usize) -> String {
    // Bytes are never fewer than characters.
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
    let head = end_of_line(&text[..place_of(text, kept - kept / 2)]);
    let tail = start_of_line(&text[place_of(text, length - kept / 2)..]);
    let missing = length - head.chars().count() - tail.chars().count();
    format!("{head}{}{tail}", mark(missing))
}

fn mark(missing: usize) -> String {
    format!("\n[… {missing} characters left out …]\n")
}

/// Returns where the character with this number begins.
fn place_of(text: &str, number: usize) -> usize {
    text.char_indices().nth(number).map_or(text.len(), |(at, _)| at)
}

/// Returns the text without a begun line at its end, unless that is long.
fn end_of_line(text: &str) -> &str {
    text.rfind('\n').filter(|at| text.len() - at <= LINE).map_or(text, |at| &text[..at])
}

/// Returns the text without the rest of a line at its start, unless that is long.
fn start_of_line(text: &str) -> &str {
    text.find('\n').filter(|at| *at < LINE).map_or(text, |at| &text[at + 1..])
}
