//! Removes secrets from a conversation before another vendor gets it.
//!
//! Three passes over a text find secrets:
//!
//! - `hints` finds them by their names, their formats and the text around them;
//! - `runs` finds them by their length and their characters alone;
//! - `exact` finds them by their values, if the values are known.
//!
//! docs/redaction.md lists for users what is removed.

mod addresses;
mod assignments;
mod blocks;
mod commands;
mod context;
mod encoding;
mod exact;
mod headers;
mod hints;
mod joins;
mod key_lines;
mod lines;
mod literals;
mod named;
mod names;
mod phrases;
mod redactor;
mod runs;
mod values;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::ops::Range;

pub use self::assignments::is_env_file;
pub use self::exact::KnownSecrets;
pub use self::redactor::{Redactor, Removed};

use super::shapes;

/// The text that replaces a secret.
pub const REDACTED: &str = "[redacted]";

/// A range of a text that must not leave Segue, and the kind of the secret in it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Secret {
    range: Range<usize>,
    kind: &'static str,
}

impl Secret {
    fn of(kind: &'static str, range: Option<Range<usize>>) -> Option<Self> {
        range.filter(|range| !range.is_empty()).map(|range| Self { range, kind })
    }
}

/// Returns whether a variable with this name contains a password.
pub(super) fn is_password_variable(name: &str) -> bool {
    names::meaning(name).is_some_and(|it| it.kind == "password" && names::is_secret_variable(name))
}

/// Returns the text without keys, tokens, passwords and private keys.
pub fn redact(text: &str) -> Cow<'_, str> {
    replaced(text, &secrets(text, None))
}

/// Returns the text without secrets and without the values of all assignments. Used for the
/// contents of `.env` files.
pub fn redact_assignments(text: &str) -> Cow<'_, str> {
    replaced(text, &with_assignments(text, secrets(text, None)))
}

fn replaced<'a>(text: &'a str, secrets: &[Secret]) -> Cow<'a, str> {
    if secrets.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut covered = String::with_capacity(text.len());
    let mut from = 0;
    for Secret { range, .. } in secrets {
        covered.push_str(&text[from..range.start]);
        covered.push_str(REDACTED);
        from = range.end;
    }
    covered.push_str(&text[from..]);
    Cow::Owned(covered)
}

/// Returns the secrets of a text in order. Their ranges do not overlap.
fn secrets(text: &str, known: Option<&exact::Finder>) -> Vec<Secret> {
    let mut found = Vec::new();
    hints::find(text, &mut found);
    runs::find(text, &mut found);
    if let Some(known) = known {
        known.find(text, &mut found);
    }
    for secret in &mut found {
        // The format of a secret determines its kind better than the text around it.
        let shape = shapes::at_start(&text[secret.range.clone()]);
        secret.kind = shape.map_or(secret.kind, |(_, kind)| kind);
    }
    merged(text, found)
}

fn with_assignments(text: &str, mut found: Vec<Secret>) -> Vec<Secret> {
    let values = assignments::values(text).into_iter();
    found.extend(values.map(|range| Secret { range, kind: assignments::KIND }));
    merged(text, found)
}

/// Merges ranges that overlap. Removes ranges that contain only [`REDACTED`]: the secret was removed
/// before.
fn merged(text: &str, mut found: Vec<Secret>) -> Vec<Secret> {
    let is_removed = |text: &str| text.starts_with(REDACTED) || text == "redacted";
    found.retain(|secret| !is_removed(&text[secret.range.clone()]));
    found.sort_by_key(|secret| secret.range.start);
    let mut merged: Vec<Secret> = Vec::with_capacity(found.len());
    for secret in found {
        match merged.last_mut().filter(|last| secret.range.start < last.range.end) {
            Some(last) => {
                last.range.end = last.range.end.max(secret.range.end);
                if last.kind == assignments::KIND {
                    last.kind = secret.kind;
                }
            }
            None => merged.push(secret),
        }
    }
    merged
}
