//! Values whose names indicate a secret.

use std::ops::Range;

use super::joins::{self, Join, Joined};
use super::names::{Meaning, Strength, meaning};
use super::values::{
    CHECKED_BYTES, ends_with_escape, has_code_punctuation, is_code, is_encoded_pair, is_identifier,
    is_name_byte, is_placeholder, looks_chosen, looks_secret, names_a_secret, opening_quote,
    quoted_length, unquoted_length,
};
use super::{Secret, context};

/// Characters that end an unquoted value of an ordinary name.
const VALUE_ENDS: &[u8] = b"&,;)}]|<>";
/// The content of an XML element with a secret has at most this many bytes.
const MAX_ELEMENT_BYTES: usize = 16 * 1024;
/// The value of `${NAME:-value}` has at most this many bytes.
const MAX_DEFAULT_BYTES: usize = 4 * 1024;
/// A name is shorter than this. The limit keeps the running time linear.
const MAX_NAME_CHARS: usize = 96;

/// Returns the value of the name that contains the hint, if the value is a secret.
pub(super) fn value(text: &str, hint: Range<usize>, floor: usize) -> Option<Secret> {
    let name = name_around(text, &hint, floor)?;
    let word = text[name.clone()].trim_matches(['-', '.']);
    let word = variable_of_environment(word);
    let meaning = meaning(word).or_else(|| of_two_words(text, &name, word))?;
    let occurrence = NameOccurrence { text, name: name.clone(), word, meaning };
    if text[..name.start].ends_with("${") {
        return occurrence.default();
    }
    let joined = joins::joined(text, &name);
    joined.and_then(|joined| occurrence.secret(&joined)).or_else(|| occurrence.beside())
}

/// Returns the name of the variable in `process.env.NAME`. Any other name is returned unchanged.
fn variable_of_environment(name: &str) -> &str {
    name.rsplit_once("env.").map_or(name, |(_, variable)| variable)
}

/// Returns the meaning of a name whose first word is before it, such as `API key`.
fn of_two_words(text: &str, name: &Range<usize>, word: &str) -> Option<Meaning> {
    let owners = ["api ", "access ", "secret ", "private ", "encryption ", "account ", "license "];
    let from = text.floor_char_boundary(name.start.saturating_sub(12));
    let before = text[from..name.start].to_ascii_lowercase();
    let is_key = word.eq_ignore_ascii_case("key") && owners.iter().any(|it| before.ends_with(it));
    is_key.then_some(Meaning { strength: Strength::Possible, kind: "key" })
}

fn name_around(text: &str, hint: &Range<usize>, floor: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let is_part = |byte: &&u8| is_name_byte(**byte) || **byte == b'-' || **byte == b'.';
    let before =
        bytes[floor..hint.start].iter().rev().take(MAX_NAME_CHARS).take_while(is_part).count();
    let is_part = |byte: &&u8| is_name_byte(**byte) || **byte == b'-';
    let after = bytes[hint.end..].iter().take(MAX_NAME_CHARS).take_while(is_part).count();
    let start = hint.start - before;
    let is_escape = before > 0 && ends_with_escape(&bytes[..=start]);
    (before < MAX_NAME_CHARS && after < MAX_NAME_CHARS)
        .then_some(start + usize::from(is_escape)..hint.end + after)
}

/// A name in a text.
struct NameOccurrence<'a> {
    text: &'a str,
    name: Range<usize>,
    word: &'a str,
    meaning: Meaning,
}

impl NameOccurrence<'_> {
    fn found(&self, range: Range<usize>) -> Option<Secret> {
        (!range.is_empty()).then_some(Secret { range, kind: self.meaning.kind })
    }

    /// Returns the secret that a separator joins to the name.
    fn secret(&self, joined: &Joined) -> Option<Secret> {
        let (text, start) = (&self.text[joined.start..], joined.start);
        let prefix = usize::from(text.starts_with(['b', 'r', 'u', 'f', '@', '$', 'L', 'N']));
        let prefix = if text.get(prefix..).and_then(opening_quote).is_some() { prefix } else { 0 };
        if let Some(quote) = opening_quote(&text[prefix..]) {
            let (quote, inside) = joins::opening(&text[prefix..], quote);
            let length = joins::closing(&text[prefix + inside..], quote);
            let from = start + prefix + inside;
            let value = checked_part(&self.text[from..from + length]);
            // A name of a secret in backticks is only mentioned.
            let is_mentioned = quote.ends_with('`') && names_a_secret(value);
            return (!is_mentioned && self.is_quoted_secret(value, joined))
                .then(|| self.found(from..from + length))?;
        }
        if joined.join == Join::Element {
            let length = text.find('<').filter(|length| *length <= MAX_ELEMENT_BYTES)?;
            let is_secret = self.is_quoted_secret(checked_part(&text[..length]), joined);
            return is_secret.then(|| self.found(start..start + length))?;
        }
        let is_free = self.meaning.strength == Strength::Constant && joined.join == Join::Tight;
        let stops: &[u8] = if is_free || self.is_on_own_line(joined) { b"" } else { VALUE_ENDS };
        let is_password = self.meaning.kind == "password" && joined.join == Join::Tight;
        if let Some(length) = app_password(text).filter(|_| is_password) {
            return self.found(start..start + length);
        }
        let value = &text[..unquoted_length(checked_part(text), stops)];
        let is_secret = self.is_bare_secret(value, &text[value.len()..], joined);
        is_secret.then(|| self.found(start..start + unquoted_length(text, stops)))?
    }

    /// Returns the value in `${NAME:-value}`, which is used if the variable is not set.
    fn default(&self) -> Option<Secret> {
        let rest = &self.text[self.name.end..];
        let inside = rest.strip_prefix(":-").or_else(|| rest.strip_prefix(":="))?;
        let length = inside[..inside.floor_char_boundary(MAX_DEFAULT_BYTES)].find('}')?;
        let value = inside[..length].trim_matches(['"', '\'', '\\']);
        let start = self.text.len() - inside.len() + inside.find(value)?;
        let joined = Joined { join: Join::Tight, start, is_name_quoted: false };
        let is_secret =
            !value.contains(['$', '\n']) && self.is_quoted_secret(checked_part(value), &joined);
        is_secret.then(|| self.found(start..start + value.len()))?
    }

    /// Returns whether name and value are on a line of their own, as in settings files.
    fn is_on_own_line(&self, joined: &Joined) -> bool {
        let is_password = matches!(self.meaning.strength, Strength::Likely | Strength::Constant);
        let settings = matches!(joined.join, Join::Tight | Join::Colon);
        is_password && settings && context::begins_line(self.text, self.name.start)
    }

    /// Returns the secret that follows the name with only words or blanks between them.
    fn beside(&self) -> Option<Secret> {
        let is_password = self.meaning.kind == "password";
        let start = joins::after_words(self.text, self.name.end)?;
        let text = &self.text[start.at..];
        if let Some(quote) = opening_quote(text) {
            let from = start.at + quote.len();
            let length = quoted_length(&self.text[from..], quote);
            let value = checked_part(&self.text[from..from + length]);
            let is_statement = self.word == "PASSWORD" || start.is_verb;
            let is_secret = !is_placeholder(value, self.word)
                && value.len() >= 4
                && (self.meaning.strength != Strength::Weak || start.is_verb)
                && !value.contains(['{', '('])
                && !value.contains(char::is_whitespace)
                && (looks_secret(value) || is_password && (is_statement || looks_chosen(value)));
            return is_secret.then(|| self.found(from..from + length))?;
        }
        let value = first_word(checked_part(text));
        let is_setting = context::is_variable_statement(self.text, self.name.start)
            || context::is_login(self.text, self.name.start) && self.word == "password"
            || matches!(self.word, "requirepass" | "masterauth" | "rootpw" | "bindpw");
        let is_secret = !is_placeholder(value, self.word)
            && !is_code(value)
            && (is_setting
                || looks_secret(value) && !has_code_punctuation(value)
                || start.is_verb && is_password && looks_chosen(value));
        is_secret.then(|| self.found(start.at..start.at + first_word(text).len()))?
    }

    fn is_quoted_secret(&self, value: &str, joined: &Joined) -> bool {
        let is_one_word =
            !value.contains(char::is_whitespace) && value.contains(char::is_alphanumeric);
        let is_long = value.len() >= 24 && value.bytes().all(|byte| byte.is_ascii_graphic());
        let is_path = value.starts_with(['/', '~', '.']) && value.contains('/');
        // The quote may close the string that contains the name, instead of opening another one.
        if value.bytes().all(|byte| b"{}[](),:; ".contains(&byte)) {
            return false;
        }
        if is_placeholder(value, self.word) || !self.is_joined_to(value, joined.join) {
            return false;
        }
        match self.meaning.strength {
            Strength::Constant => !is_small_number(value) && !self.is_of_program(value),
            Strength::Likely => {
                is_one_word || is_phrase(value, self.word) || app_password(value).is_some()
            }
            Strength::Weak => {
                let is_sure = joined.is_name_quoted && value.len() >= 6
                    || looks_chosen(value)
                    || context::has_user(self.text, self.name.start);
                is_one_word && !is_path && is_sure && !names_a_secret(value)
            }
            Strength::Possible => {
                is_one_word
                    && (looks_secret(value) || is_long && !is_path || is_encoded_pair(value))
            }
        }
    }

    /// Returns whether a quoted value is an identifier in a program. Only keys and tokens are
    /// checked: passwords that people choose can look like identifiers, too.
    fn is_of_program(&self, value: &str) -> bool {
        let name = self.word.to_ascii_lowercase();
        matches!(self.meaning.kind, "key" | "token")
            && !name.contains("secret")
            && (value.len() == 1 || is_identifier(value))
    }

    /// Returns whether a quoted value belongs to the name, as far as the separator shows it.
    fn is_joined_to(&self, value: &str, join: Join) -> bool {
        let is_password = self.meaning.kind == "password";
        let is_variable = self.meaning.strength == Strength::Constant;
        looks_secret(value)
            || match join {
                Join::Comma => context::is_lookup(self.text, self.name.start),
                Join::Or => is_variable || is_password && looks_chosen(value),
                Join::Call => self.word == "PASSWORD" || is_password && looks_chosen(value),
                _ => true,
            }
    }

    fn is_bare_secret(&self, value: &str, rest: &str, joined: &Joined) -> bool {
        if is_placeholder(value, self.word) || is_code(value) {
            return false;
        }
        let mut next = rest.trim_start_matches([' ', '\t']).chars();
        let is_last = next.next().is_none_or(|it| "\n\r&\\#\"'".contains(it));
        let is_plain = !has_code_punctuation(value) && !names_a_secret(value);
        match (self.meaning.strength, joined.join) {
            (Strength::Constant, Join::Tight) => !is_small_number(value),
            (Strength::Constant, Join::Colon) if is_last => !is_small_number(value),
            (Strength::Likely, Join::Flag) => is_plain && !is_help_placeholder(value),
            (Strength::Likely, Join::Tight | Join::Colon) if is_last => {
                is_plain || looks_chosen(value) && !value.contains(['(', '{', '['])
            }
            (Strength::Likely | Strength::Constant, Join::Loose) if is_last => {
                is_plain && context::is_in_section(self.text, self.name.start)
                    || looks_chosen(value) && !value.contains(['(', '{', '[', '.', ';'])
            }
            (Strength::Likely, _) => is_plain && looks_chosen(value),
            (Strength::Weak, Join::Tight | Join::Colon | Join::Flag) => {
                let is_path = value.starts_with(['/', '~', '.']);
                let has_user = is_last && context::has_user(self.text, self.name.start);
                is_plain && !is_path && (has_user && value.len() >= 4 || looks_chosen(value))
            }
            (Strength::Weak, Join::Loose) => {
                is_last && is_plain && context::is_in_section(self.text, self.name.start)
            }
            _ => looks_secret(value) || is_encoded_pair(value),
        }
    }
}

/// Returns the first word of a text, without the punctuation of a sentence.
fn first_word(text: &str) -> &str {
    text[..unquoted_length(text, VALUE_ENDS)].trim_end_matches(['.', ',', ':', '?'])
}

fn checked_part(text: &str) -> &str {
    &text[..text.floor_char_boundary(CHECKED_BYTES)]
}

/// Returns the length of an app password of Google: four groups of four letters.
fn app_password(text: &str) -> Option<usize> {
    const LENGTH: usize = 19;
    let password = text.get(..LENGTH)?;
    let is_of_password = |(at, byte): (usize, u8)| match at % 5 {
        4 => byte == b' ',
        _ => byte.is_ascii_lowercase(),
    };
    let is_end = text[LENGTH..].starts_with(['\n', '\r', '"', '\'', '\\']) || text.len() == LENGTH;
    (is_end && password.bytes().enumerate().all(is_of_password)).then_some(LENGTH)
}

/// Returns whether this is a small number, such as a count. Passwords are longer.
fn is_small_number(value: &str) -> bool {
    value.len() < 6 && value.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns whether this is a placeholder for a value in a help text.
fn is_help_placeholder(value: &str) -> bool {
    value.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_') || value.starts_with('-')
}

/// Returns whether this is a passphrase: several words without the punctuation of a sentence.
fn is_phrase(value: &str, name: &str) -> bool {
    let is_of_phrase = |letter: char| letter.is_ascii_alphanumeric() || letter == ' ';
    let name = name.to_ascii_lowercase();
    let words = value.split(' ').filter(|word| !word.is_empty()).count();
    name.contains("passphrase") && (3..=24).contains(&words) && value.chars().all(is_of_phrase)
}
