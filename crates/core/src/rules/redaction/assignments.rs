//! The values of all assignments in `.env` files.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::REDACTED;
use super::values::{opening_quote, quoted_length};

/// Matches a name and `=`. A line number, a file name, a mark of a diff, or an escaped line break
/// can come before the name. The pattern matches bytes, because Unicode classes are not compiled
/// in.
#[expect(clippy::unwrap_used, reason = "the pattern is constant, and tests compile it")]
static NAMES: LazyLock<Regex> = LazyLock::new(|| {
    let before = r"(?:^|[\s#+\-:|\x22'>]|→|\\[nrt])";
    Regex::new(&format!(r"(?-u){before}([A-Za-z_][A-Za-z0-9_.]*)[ \t]*=[ \t]*")).unwrap()
});

/// The kind under which removals are counted.
pub(super) const KIND: &str = "env-file-value";

/// Returns the ranges of the values.
pub(super) fn values(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for_each_assignment(text, |_, value| found.push(value));
    found
}

/// Returns the names with their values, without quotes and comments.
pub(super) fn pairs(text: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    for_each_assignment(text, |name, value| {
        let value = &text[value];
        let end = value.find(" #").unwrap_or(value.len());
        found.push((name, value[..end].trim_end()));
    });
    found
}

fn for_each_assignment<'a>(text: &'a str, mut take: impl FnMut(&'a str, Range<usize>)) {
    let mut from = 0;
    while let Some(name) = NAMES.find_at(text, from) {
        let value = value(text, name.end());
        from = value.end.max(name.end());
        let has_value = !value.is_empty() && !text[value.clone()].starts_with(REDACTED);
        if has_value && !text[value.start..].starts_with('=') {
            let word = name.as_str().trim_end().trim_end_matches('=').trim_end();
            let is_part = |letter: char| letter.is_ascii_alphanumeric() || "_.".contains(letter);
            let start = word.rfind(|letter| !is_part(letter));
            let word = &text[name.start()..name.start() + word.len()];
            let first = start.and_then(|at| Some(at + word[at..].chars().next()?.len_utf8()));
            take(&word[first.unwrap_or(0)..], value);
        }
    }
}

/// Returns the range of the value that begins at `at`: the text in quotes, otherwise the rest of
/// the line.
fn value(text: &str, at: usize) -> Range<usize> {
    let Some(quote) = opening_quote(&text[at..]) else {
        return at..at + rest_of_line(&text[at..]);
    };
    let start = at + quote.len();
    let length = quoted_length(&text[start..], quote);
    let is_open = text.as_bytes().get(start + length) == Some(&b'\n');
    let over_lines = text[start..].find(quote).filter(|_| is_open);
    start..start + over_lines.unwrap_or(length)
}

fn rest_of_line(text: &str) -> usize {
    let bytes = text.as_bytes();
    let is_end = |at: &usize| {
        matches!(bytes[*at], b'\n' | b'\r' | b'"')
            || (bytes[*at] == b'\\' && matches!(bytes.get(at + 1), Some(b'n' | b'r' | b'"')))
    };
    let end = (0..bytes.len()).find(is_end).unwrap_or(bytes.len());
    text[..end].trim_end().len()
}

/// Returns whether this is an `.env` file: most of its first lines are assignments.
pub fn is_env_file(text: &str) -> bool {
    let is_assignment = |line: &str| {
        let line = line.strip_prefix("export ").unwrap_or(line);
        line.split_once('=').is_some_and(|(name, _)| {
            let is_of_name =
                |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
            !name.is_empty() && name.bytes().all(is_of_name)
        })
    };
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).take(50);
    let (all, assigned) = lines.fold((0_usize, 0_usize), |(all, assigned), line| {
        (all + 1, assigned + usize::from(is_assignment(line)))
    });
    all >= 3 && assigned * 5 >= all * 4
}
