//! The tag around the record of a conversation. The record never contains the closing tag.

use std::collections::HashSet;

const NAME: &str = "record-";

/// Returns the tag with this number.
pub(super) fn tag(number: usize) -> String {
    format!("{NAME}{number}")
}

/// Returns the first number whose tag does not occur in the text, regardless of case.
pub(super) fn number(text: &str) -> usize {
    let text = text.to_ascii_lowercase();
    let numbers = text.match_indices(NAME).filter_map(|(at, _)| {
        let rest = &text[at + NAME.len()..];
        let end = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
        rest[..end].parse::<usize>().ok()
    });
    let taken: HashSet<usize> = numbers.collect();
    (1..).find(|number| !taken.contains(number)).unwrap_or_default()
}
