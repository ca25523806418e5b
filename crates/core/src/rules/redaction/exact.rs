//! Known secret values: from `.env` files, from the environment, and from secrets that were removed
//! before.

use std::collections::BTreeMap;
use std::fmt;

use regex::Regex;

use super::assignments;
use super::encoding::{to_base64, to_json, to_percent};
use super::names::{is_secret_variable, may_be_secret_variable};
use super::values::{is_code, is_placeholder, looks_chosen};
use super::{Secret, addresses};
use crate::rules::shapes::looks_random;

/// Minimum length of a value. Shorter values occur too often in ordinary text.
const MIN_BYTES: usize = 8;
/// The same limit for values that mix letters with digits or punctuation.
const MIN_MIXED_BYTES: usize = 6;
/// The same limit for values of variables whose names do not indicate a secret.
const MIN_UNNAMED_BYTES: usize = 12;
/// Only this many bytes at the beginning of a longer value are searched for.
const MAX_SEARCHED_BYTES: usize = 4 * 1024;
/// At most this many values are searched for.
const MAX_VALUES: usize = 2_000;
/// Values of at least this length are searched for inside words, too.
const MIN_BYTES_INSIDE_WORD: usize = 16;

/// Prefixes of paths, which are not secret.
const PATH_PREFIXES: [&str; 21] = [
    "~/",
    "./",
    "../",
    "/home/",
    "/tmp/",
    "/usr/",
    "/var/",
    "/root/",
    "/etc/",
    "/opt/",
    "/run/",
    "/Users/",
    "/mnt/",
    "/srv/",
    "/bin/",
    "/dev/",
    "/proc/",
    "/nix/",
    "/private/",
    "/workspace/",
    "/app/",
];

/// Secret values of a session. They are never printed.
#[derive(Clone, Default)]
pub struct KnownSecrets {
    /// Each value with the kind under which its removal is counted.
    values: BTreeMap<String, &'static str>,
}

impl KnownSecrets {
    /// Adds the values of environment variables whose names indicate a secret, and passwords in
    /// URLs.
    pub fn add_environment<'a>(&mut self, variables: impl Iterator<Item = (&'a str, &'a str)>) {
        for (name, value) in variables {
            let looks_secret = || looks_random(value) || looks_chosen(value);
            if is_secret_variable(name) || may_be_secret_variable(name) && looks_secret() {
                self.add_named(value, "environment-value");
            }
            self.add_password_of_url(value, "environment-value");
        }
    }

    /// Adds the values of an `.env` file that are secret by their names or look like secrets.
    pub fn add_variables(&mut self, text: &str) {
        for (name, value) in assignments::pairs(text) {
            let looks_secret = || looks_random(value) || looks_chosen(value);
            if is_secret_variable(name) || may_be_secret_variable(name) && looks_secret() {
                self.add_named(value, "env-file-value");
            } else {
                self.add_unnamed(value, "env-file-value");
            }
            self.add_password_of_url(value, "env-file-value");
        }
    }

    /// Adds the values of another instance.
    pub fn merge(&mut self, other: Self) {
        for (value, kind) in other.values {
            self.add(&value, kind);
        }
    }

    pub fn len(&self) -> usize {
        self.values.len()
    }

    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Adds a value whose name indicates a secret. Returns whether the value was added.
    pub(super) fn add_named(&mut self, value: &str, kind: &'static str) -> bool {
        let value = value.trim();
        let is_mixed = looks_chosen(value) && value.len() >= MIN_MIXED_BYTES;
        let is_number = value.bytes().all(|byte| byte.is_ascii_digit()) && value.len() < 12;
        let is_path = PATH_PREFIXES.iter().any(|place| value.starts_with(place));
        let is_usable = (value.len() >= MIN_BYTES || is_mixed) && !is_number && !is_path;
        is_usable && !is_placeholder(value, "") && self.add(value, kind)
    }

    /// Adds a value whose name does not indicate a secret, if the value itself looks like one.
    fn add_unnamed(&mut self, value: &str, kind: &'static str) -> bool {
        let is_plain = !value.contains(char::is_whitespace) && !is_code(value);
        let is_address =
            value.contains("://") || value.contains('/') && !value.contains(['+', '=']);
        let is_id = value.len() == 36 && value.bytes().filter(|byte| *byte == b'-').count() == 4;
        let looks_secret = value.len() >= MIN_UNNAMED_BYTES && looks_random(value);
        is_plain && !is_address && !is_id && looks_secret && self.add(value, kind)
    }

    fn add_password_of_url(&mut self, value: &str, kind: &'static str) {
        let at = value.find("://").map(|at| at + 3);
        if let Some(range) = at.and_then(|at| addresses::password_of_url(value, at)) {
            self.add_named(&value[range], kind);
        }
    }

    fn add(&mut self, value: &str, kind: &'static str) -> bool {
        let value = &value[..value.floor_char_boundary(MAX_SEARCHED_BYTES)];
        let has_room = self.values.len() < MAX_VALUES && !value.contains(super::REDACTED);
        has_room && self.values.insert(value.to_owned(), kind).is_none()
    }

    /// Creates a finder for these values. `None` if there are no values.
    pub(super) fn finder(&self) -> Option<Finder> {
        let mut forms: BTreeMap<String, &'static str> = BTreeMap::new();
        for (value, kind) in &self.values {
            for form in [to_base64(value.as_bytes()), to_percent(value), to_json(value)] {
                forms.entry(form).or_insert(kind);
            }
            forms.insert(value.clone(), kind);
        }
        // If one value begins with another, the longer one must be found.
        let mut order: Vec<&String> = forms.keys().collect();
        order.sort_by_key(|form| std::cmp::Reverse(form.len()));
        let patterns: Vec<String> = order.iter().map(|form| regex::escape(form)).collect();
        if patterns.is_empty() {
            return None;
        }
        let regex = Regex::new(&patterns.join("|")).ok()?;
        Some(Finder { regex, forms })
    }
}

impl fmt::Debug for KnownSecrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KnownSecrets").field("count", &self.values.len()).finish()
    }
}

/// Finds known values in texts.
#[derive(Clone)]
pub(super) struct Finder {
    regex: Regex,
    forms: BTreeMap<String, &'static str>,
}

impl Finder {
    pub(super) fn find(&self, text: &str, found: &mut Vec<Secret>) {
        for value in self.regex.find_iter(text) {
            let kind = self.forms.get(value.as_str()).copied().unwrap_or("known-value");
            if value.len() >= MIN_BYTES_INSIDE_WORD || is_alone(text, value.start(), value.end()) {
                let is_cut = value.len() >= MAX_SEARCHED_BYTES;
                let rest = if is_cut { rest_of_value(&text[value.end()..]) } else { 0 };
                found.push(Secret { range: value.start()..value.end() + rest, kind });
            }
        }
    }
}

impl fmt::Debug for Finder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Finder").field("count", &self.forms.len()).finish()
    }
}

/// Returns the length of the rest of a value of which only the beginning is known.
fn rest_of_value(text: &str) -> usize {
    let is_gap = |letter: char| letter.is_whitespace() || "\"'`\\".contains(letter);
    text.find(is_gap).unwrap_or(text.len())
}

/// Returns whether this range is not part of a longer word.
fn is_alone(text: &str, start: usize, end: usize) -> bool {
    let is_of_word = |letter: char| letter.is_alphanumeric();
    let before = text[..start].chars().next_back();
    let is_escaped = super::values::ends_with_escape(&text.as_bytes()[..start]);
    (is_escaped || !before.is_some_and(is_of_word))
        && !text[end..].chars().next().is_some_and(is_of_word)
}
