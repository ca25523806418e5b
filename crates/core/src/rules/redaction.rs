//! Taking secrets out of what one vendor's agent said before another vendor is given it.
//!
//! Two steps: one pass finds the places where a secret could be, then each is looked at closely.

mod assignments;
mod blocks;
mod headers;
mod named;
mod values;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::shapes::{self, SHAPES};

/// What stands where a secret was.
pub const REDACTED: &str = "[redacted]";

/// What could begin a secret, or name it.
#[expect(clippy::unwrap_used, reason = "the pattern is the same every time, and tests compile it")]
static HINTS: LazyLock<Regex> = LazyLock::new(|| {
    let starts: Vec<String> = SHAPES.iter().map(|shape| regex::escape(shape.start)).collect();
    let starts = starts.join("|");
    let block = shapes::BLOCK;
    Regex::new(&format!(
        "(?-u){starts}|{block}|://|(?i:authorization|bearer|key|token|secret|passw|passphrase)"
    ))
    .unwrap()
});

/// Returns the text without keys, tokens, passwords and private keys.
pub fn redact(text: &str) -> Cow<'_, str> {
    cover(text, &secrets(text))
}

/// Returns the text without the same, and without the values of all assignments: for what comes
/// out of a file of variables.
pub fn redact_assignments(text: &str) -> Cow<'_, str> {
    let known = redact(text);
    let values = assignments::values(&known);
    if values.is_empty() { known } else { cover(&known, &values).into_owned().into() }
}

/// Counts the secrets that were taken out of a text.
pub(super) fn count(before: &str, after: &str) -> usize {
    after.matches(REDACTED).count().saturating_sub(before.matches(REDACTED).count())
}

fn cover<'a>(text: &'a str, secrets: &[Range<usize>]) -> Cow<'a, str> {
    if secrets.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut covered = String::with_capacity(text.len());
    let mut from = 0;
    for secret in secrets {
        covered.push_str(&text[from..secret.start]);
        covered.push_str(REDACTED);
        from = secret.end;
    }
    covered.push_str(&text[from..]);
    Cow::Owned(covered)
}

/// What a closer look at a hint gave.
enum Look {
    Secret(Range<usize>),
    /// Nothing before this place is secret.
    Nothing(usize),
}

fn secrets(text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut from = 0;
    while let Some(hint) = HINTS.find_at(text, from) {
        let floor = found.last().map_or(0, |range| range.end);
        match look(text, hint.range(), floor) {
            Look::Secret(range) => {
                from = range.end;
                found.push(range);
            }
            Look::Nothing(next) => from = next.max(hint.start() + 1),
        }
    }
    found
}

/// Looks closely at a hint. Nothing before the floor is looked at again.
fn look(text: &str, hint: Range<usize>, floor: usize) -> Look {
    let word = &text[hint.clone()];
    let secret = match word {
        "://" => headers::password_of_url(text, hint.end),
        shapes::BLOCK => blocks::private_key(text, hint.start),
        _ if word.eq_ignore_ascii_case("bearer") => headers::bearer(text, hint.clone()),
        _ if word.eq_ignore_ascii_case("authorization") => headers::authorization(text, hint.end),
        _ if !SHAPES.iter().any(|shape| shape.start == word) => {
            return named::value(text, hint, floor);
        }
        _ => shape(text, hint.start),
    };
    secret.map_or(Look::Nothing(hint.start + 1), Look::Secret)
}

fn shape(text: &str, at: usize) -> Option<Range<usize>> {
    let length = is_beginning(text, at).then(|| shapes::at_start(&text[at..]))??;
    Some(at..at + length)
}

/// Tells whether a word begins here.
fn is_beginning(text: &str, at: usize) -> bool {
    let before = &text.as_bytes()[..at];
    let is_inside = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.".contains(byte);
    !before.last().is_some_and(is_inside) || values::ends_with_escape(before)
}
