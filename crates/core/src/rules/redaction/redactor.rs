//! Redaction of a conversation. Secrets that are found in one text are removed from the others, too.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::exact::{Finder, KnownSecrets};
use super::{Secret, assignments, blocks, replaced, secrets, with_assignments};
use crate::rules::shapes::looks_random;

/// At most this many values are learned from the conversation itself.
const MAX_LEARNED_VALUES: usize = 200;
/// Kinds of secrets whose values are learned, so that they are removed wherever they occur again.
const LEARNED_KINDS: [&str; 8] = [
    "password",
    "secret",
    "token",
    "key",
    "credential",
    "password-in-url",
    "password-in-command",
    assignments::KIND,
];
/// Minimum length of the rest of a token in the next result, and of a value that is learned.
const MIN_REST_BYTES: usize = 8;

/// The number of removed secrets by kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Removed(BTreeMap<&'static str, u64>);

impl Removed {
    fn add(&mut self, found: &[Secret]) {
        for secret in found {
            *self.0.entry(secret.kind).or_default() += 1;
        }
    }

    /// Adds the numbers of another instance.
    pub fn merge(&mut self, other: &Self) {
        for (kind, count) in &other.0 {
            *self.0.entry(kind).or_default() += count;
        }
    }

    pub fn total(&self) -> u64 {
        self.0.values().sum()
    }

    /// Returns the number of removed secrets by kind.
    pub fn by_kind(&self) -> BTreeMap<String, u64> {
        self.0.iter().map(|(kind, count)| ((*kind).to_owned(), *count)).collect()
    }
}

/// How the last tool result ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Tail {
    #[default]
    Plain,
    /// In the middle of a private key.
    Key,
    /// With a secret that may continue in the next result.
    Token,
}

/// Removes secrets from the texts of one conversation, one after the other.
#[derive(Debug, Default)]
pub struct Redactor {
    known: KnownSecrets,
    finder: Option<Finder>,
    /// Whether values were learned that the finder does not have yet.
    is_stale: bool,
    learned: usize,
    removed: Removed,
    tail: Tail,
}

impl Redactor {
    /// Creates a redactor that also removes these values wherever they occur.
    pub fn new(known: KnownSecrets) -> Self {
        let is_stale = !known.is_empty();
        Self { known, is_stale, ..Self::default() }
    }

    /// Returns the text without secrets.
    pub fn redact<'a>(&mut self, text: &'a str) -> Cow<'a, str> {
        let found = self.find(text);
        self.removed.add(&found);
        replaced(text, &found)
    }

    /// Returns a tool result without secrets. If it is an `.env` file, all values are removed.
    pub fn redact_result<'a>(&mut self, text: &'a str, is_env_file: bool) -> Cow<'a, str> {
        if is_env_file {
            self.learn_variables(text);
        }
        let mut found = self.find(text);
        if is_env_file {
            found = with_assignments(text, found);
        }
        let rest = self.rest_of_last_result(text);
        if let Some(rest) = rest {
            found.retain(|secret| secret.range.start >= rest.range.end);
            found.insert(0, rest);
        }
        self.tail = self.tail_of(text, &found);
        self.removed.add(&found);
        replaced(text, &found)
    }

    /// Learns the secrets of a text, so that they are found where only their value identifies them.
    pub fn learn(&mut self, text: &str) {
        if assignments::is_env_file(text) {
            self.learn_variables(text);
        }
        self.find(text);
    }

    /// Learns the values of an `.env` file.
    pub fn learn_variables(&mut self, text: &str) {
        if self.learned < MAX_LEARNED_VALUES {
            let before = self.known.len();
            self.known.add_variables(text);
            self.count_learned(before);
        }
    }

    pub fn removed(&self) -> &Removed {
        &self.removed
    }

    /// Returns the number of removed secrets and resets it.
    pub fn take_removed(&mut self) -> Removed {
        std::mem::take(&mut self.removed)
    }

    fn find(&mut self, text: &str) -> Vec<Secret> {
        if self.is_stale {
            self.finder = self.known.finder();
            self.is_stale = false;
        }
        let found = secrets(text, self.finder.as_ref());
        let before = self.known.len();
        for secret in found.iter().filter(|secret| LEARNED_KINDS.contains(&secret.kind)) {
            let value = &text[secret.range.clone()];
            if self.learned < MAX_LEARNED_VALUES
                && value.len() >= MIN_REST_BYTES
                && looks_random(value)
            {
                self.known.add_named(value, "known-value");
            }
        }
        self.count_learned(before);
        found
    }

    fn count_learned(&mut self, before: usize) {
        let more = self.known.len() - before;
        self.learned += more;
        self.is_stale |= more > 0;
    }

    /// Returns the secret at the start of a text that continues from the end of the last result.
    fn rest_of_last_result(&self, text: &str) -> Option<Secret> {
        match self.tail {
            Tail::Plain => None,
            Tail::Key => {
                let (length, _) = blocks::continued(text)?;
                Some(Secret { range: 0..length, kind: "private-key" })
            }
            Tail::Token => {
                let is_of_token =
                    |byte: &u8| byte.is_ascii_alphanumeric() || b"_-+/=".contains(byte);
                let length = text.bytes().take_while(|byte| is_of_token(byte)).count();
                let is_rest = length >= MIN_REST_BYTES && looks_random(&text[..length]);
                is_rest.then_some(Secret { range: 0..length, kind: "rest-of-secret" })
            }
        }
    }

    fn tail_of(&self, text: &str, found: &[Secret]) -> Tail {
        let continues =
            self.tail == Tail::Key && blocks::continued(text).is_some_and(|(_, is_end)| !is_end);
        if blocks::is_open(text) || continues {
            return Tail::Key;
        }
        let last = found.last().map(|secret| secret.range.end);
        if last == Some(text.len()) { Tail::Token } else { Tail::Plain }
    }
}
