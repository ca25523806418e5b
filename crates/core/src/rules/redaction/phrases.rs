//! Secrets after fixed phrases.

use std::ops::Range;

use super::Secret;
use super::blocks;
use super::values::{is_placeholder, opening_quote, quoted_length};
use crate::rules::shapes::looks_random;

/// Statements that are followed by a password, and names for the seed words of a wallet.
const STATEMENTS: [&str; 8] = [
    "identified by",
    "identified with",
    "convertto-securestring",
    "seed phrase",
    "recovery phrase",
    "seed_phrase",
    "mnemonic",
    "private-lines:",
];
/// Fields of a private key in JSON.
const FIELDS: [&str; 7] = ["d", "p", "q", "dp", "dq", "qi", "k"];
/// Minimum length of a number in a private key.
const MIN_NUMBER_CHARS: usize = 40;
/// Maximum length of the name of a plugin and `BY`.
const MAX_PLUGIN_BYTES: usize = 96;
/// Minimum number of seed words of a wallet.
const MIN_SEED_WORDS: usize = 11;

/// Returns all phrases in lowercase.
pub(super) fn all() -> impl Iterator<Item = String> {
    let ends = ["\":", "\" :", "\\\":", "\\\" :", "\\\\\\\":"];
    let fields = FIELDS.iter().flat_map(move |name| ends.map(|end| format!("\"{name}{end}")));
    STATEMENTS.iter().map(|it| (*it).to_owned()).chain(fields)
}

/// Returns the secret after a phrase.
pub(super) fn find(text: &str, hint: Range<usize>) -> Option<Secret> {
    let phrase = &text[hint.clone()];
    if phrase.eq_ignore_ascii_case("private-lines:") {
        let length = blocks::length_of_key_lines(text[hint.end..].trim_start_matches([' ', '\t']))?;
        let blanks =
            text[hint.end..].len() - text[hint.end..].trim_start_matches([' ', '\t']).len();
        return Secret::of("private-key", Some(hint.end..hint.end + blanks + length));
    }
    if phrase.ends_with(':') {
        return number(text, hint.end);
    }
    let phrase = phrase.to_ascii_lowercase();
    if phrase.ends_with("phrase") || phrase == "mnemonic" {
        return words(text, hint.end);
    }
    let end = if phrase == "identified with" { after_plugin(text, hint.end)? } else { hint.end };
    let (value, _) = string(text, end).filter(|_| text[end..].starts_with([' ', '\t']))?;
    let is_secret = !is_placeholder(&text[value.clone()], "");
    Secret::of("password", Some(value).filter(|_| is_secret))
}

/// Returns the offset after the plugin and `BY` in `IDENTIFIED WITH plugin BY 'password'`.
fn after_plugin(text: &str, at: usize) -> Option<usize> {
    let rest = &text[at..text.floor_char_boundary((at + MAX_PLUGIN_BYTES).min(text.len()))];
    let by = rest.to_ascii_lowercase().find(" by ")?;
    let is_plugin = |letter: char| letter.is_ascii_alphanumeric() || "_\"'\\".contains(letter);
    rest[..by].trim_start().chars().all(is_plugin).then_some(at + by + " by".len())
}

/// Returns the string that begins after blanks.
fn string(text: &str, at: usize) -> Option<(Range<usize>, &str)> {
    let rest = text[at..].trim_start_matches([' ', '\t']);
    let start = text.len() - rest.len();
    let quote = opening_quote(rest).filter(|quote| !quote.ends_with('`'))?;
    let start = start + quote.len();
    Some((start..start + quoted_length(&text[start..], quote), quote))
}

/// Returns a number of a private key in JSON.
fn number(text: &str, at: usize) -> Option<Secret> {
    let (value, _) = string(text, at)?;
    let number = &text[value.clone()];
    let is_of_number = |byte: u8| byte.is_ascii_alphanumeric() || b"-_=".contains(&byte);
    let is_secret = number.len() >= MIN_NUMBER_CHARS
        && number.bytes().all(is_of_number)
        && looks_random(number);
    Secret::of("private-key", Some(value).filter(|_| is_secret))
}

/// Returns the seed words of a wallet after the name for them.
pub(super) fn words(text: &str, at: usize) -> Option<Secret> {
    let is_gap = |letter: char| " \t:=\"'`\\-".contains(letter);
    let rest = text[at..].trim_start_matches("is").trim_start_matches(is_gap);
    let rest = rest.strip_prefix("is ").unwrap_or(rest);
    let start = text.len() - rest.len();
    let is_of_words = |byte: &u8| byte.is_ascii_lowercase() || *byte == b' ';
    let length = rest.as_bytes().iter().take(300).take_while(|byte| is_of_words(byte)).count();
    let phrase = rest[..length].trim_end();
    let lengths = phrase.split(' ').map(str::len);
    let is_list = lengths.clone().all(|length| (3..=8).contains(&length));
    let is_secret = is_list && (MIN_SEED_WORDS..=25).contains(&lengths.count());
    Secret::of("seed-phrase", Some(start..start + phrase.len()).filter(|_| is_secret))
}
