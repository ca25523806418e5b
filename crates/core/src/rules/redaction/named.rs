//! Values whose name says that they are secret.

use std::ops::Range;

use super::Look;
use super::values::{
    LOOKED_AT, bare, ends_with_escape, has_signs_of_code, is_code, is_drawn, is_name, is_stand_in,
    quote, quoted,
};
use crate::rules::secrets::is_telling;

/// Words that make a name secret wherever they stand in it.
const ANYWHERE: [&str; 4] = ["secret", "password", "passwd", "passphrase"];
/// What makes a key one that opens something.
const KEYS: [&str; 9] =
    ["access", "secret", "private", "auth", "encryption", "signing", "ssh", "master", "account"];
/// Endings of names that tell about a secret and do not hold it.
const ABOUT: [&str; 22] = [
    "name", "url", "uri", "path", "file", "dir", "length", "len", "size", "count", "ttl", "age",
    "type", "policy", "host", "port", "enabled", "field", "label", "prompt", "min", "max",
];
/// Separators between a name and its value, and the blanks around them.
const BLANKS: [char; 2] = [' ', '\t'];
/// Where a bare value of an ordinary name ends.
const STOPS: &[u8] = b"&,;)}]|<>";

/// What a name says about its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Strength {
    /// It may be secret: its look decides.
    May,
    /// It is a password, but the name is also one of programs.
    Is,
    /// It is the name of a variable of the environment.
    Constant,
}

/// How a value is joined to its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Join {
    /// `NAME=value`.
    Tight,
    /// `name: value`.
    Colon,
    /// `name = value`.
    Loose,
    /// `--name value`.
    Flag,
}

/// Looks at the value of the name in which the hint is.
pub(super) fn value(text: &str, hint: Range<usize>, floor: usize) -> Look {
    let name = name_around(text, &hint, floor);
    let after = Look::Nothing(name.end);
    let word = text[name.clone()].trim_matches('-');
    let Some(strength) = strength(word).filter(|_| !text[..name.start].ends_with("${")) else {
        return after;
    };
    let Some((join, start)) = joined(text, &name) else {
        return after;
    };
    match secret(&text[start..], word, (strength, join)) {
        Some(range) => Look::Secret(start + range.start..start + range.end),
        None => after,
    }
}

fn name_around(text: &str, hint: &Range<usize>, floor: usize) -> Range<usize> {
    let bytes = text.as_bytes();
    let is_part = |byte: &&u8| is_name(**byte) || **byte == b'-';
    let before = bytes[floor..hint.start].iter().rev().take_while(is_part).count();
    let after = bytes[hint.end..].iter().take_while(is_part).count();
    let start = hint.start - before;
    let is_escape = before > 0 && ends_with_escape(&bytes[..=start]);
    start + usize::from(is_escape)..hint.end + after
}

fn strength(name: &str) -> Option<Strength> {
    let is_constant = name.bytes().all(|byte| !byte.is_ascii_lowercase()) && !name.contains('-');
    let parts = parts(name);
    let last = parts.rsplit('-').next().unwrap_or_default();
    if ABOUT.contains(&last) {
        return None;
    }
    let holds = |words: &[&str]| words.iter().any(|word| parts.contains(word));
    let is_key = last == "key" && !parts.contains("public") && parts.len() > 3;
    let opens =
        is_key && (is_constant || KEYS.iter().any(|word| parts.ends_with(&format!("{word}-key"))));
    let is_secret = is_telling(&parts) || opens || holds(&ANYWHERE);
    let is_last = ANYWHERE.iter().any(|word| last.ends_with(word));
    let small = if is_last { Strength::Is } else { Strength::May };
    is_secret.then_some(if is_constant { Strength::Constant } else { small })
}

/// Returns the words of a name in small letters, with `-` between them.
fn parts(name: &str) -> String {
    let mut parts = String::with_capacity(name.len() + 4);
    let mut was_small = false;
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && was_small {
            parts.push('-');
        }
        was_small = letter.is_ascii_lowercase() || letter.is_ascii_digit();
        parts.push(if letter == '_' { '-' } else { letter.to_ascii_lowercase() });
    }
    parts
}

/// Returns how and where the value of a name begins.
fn joined(text: &str, name: &Range<usize>) -> Option<(Join, usize)> {
    let mut rest = &text[name.end..];
    // A name in backticks is one that is spoken of.
    let is_told = rest.starts_with('`');
    rest = quote(rest).map_or(rest, |quote| &rest[quote.len()..]);
    rest = rest.strip_prefix(']').unwrap_or(rest);
    let trimmed = rest.trim_start_matches(BLANKS);
    let blanks = rest.len() - trimmed.len();
    let at = |rest: &str| text.len() - rest.len();
    let is_flag = text[name.clone()].starts_with("--") && blanks == 1;
    if trimmed.starts_with("==") || trimmed.starts_with("::") || trimmed.starts_with("=~") {
        return None;
    }
    for sign in [":=", "=>", "=", ":"] {
        let Some(value) = trimmed.strip_prefix(sign) else {
            continue;
        };
        let start = value.trim_start_matches(BLANKS);
        let is_tight = sign == "=" && blanks == 0 && start.len() == value.len();
        let typed = behind_type(start).filter(|_| sign == ":");
        let join = match typed {
            None if is_tight => Join::Tight,
            None if sign == ":" && !is_told => Join::Colon,
            None | Some(_) => Join::Loose,
        };
        return Some((join, at(typed.unwrap_or(start))));
    }
    is_flag.then(|| (Join::Flag, at(trimmed)))
}

/// Returns what is behind the type of a variable, as in `password: &str = "…"`.
fn behind_type(value: &str) -> Option<&str> {
    let is_of_type = |letter: char| letter.is_ascii_alphanumeric() || "_&':<>? ".contains(letter);
    let length = value.bytes().take(48).take_while(|byte| is_of_type(char::from(*byte))).count();
    let (kind, rest) = value.split_at(length);
    rest.strip_prefix("= ").filter(|_| kind.len() > 1 && kind.ends_with(' '))
}

/// Returns where in the text the secret is, if its value is one.
fn secret(text: &str, name: &str, how: (Strength, Join)) -> Option<Range<usize>> {
    let prefix = usize::from(text.starts_with(['b', 'r', 'u']) && quote(&text[1..]).is_some());
    if let Some(quote) = quote(&text[prefix..]) {
        let start = prefix + quote.len();
        let length = quoted(&text[start..], quote);
        let value = looked_at(&text[start..start + length]);
        return is_quoted_secret(value, name, how.0).then_some(start..start + length);
    }
    let stops = if how.0 == Strength::Constant { b"" } else { STOPS };
    let value = &text[..bare(looked_at(text), stops)];
    is_bare_secret(value, &text[value.len()..], name, how).then(|| 0..bare(text, stops))
}

fn looked_at(text: &str) -> &str {
    &text[..text.floor_char_boundary(LOOKED_AT)]
}

fn is_quoted_secret(value: &str, name: &str, strength: Strength) -> bool {
    let is_one_word = !value.contains(char::is_whitespace) && value.contains(char::is_alphanumeric);
    let is_long = value.len() >= 24 && value.bytes().all(|byte| byte.is_ascii_graphic());
    !is_stand_in(value, name)
        && match strength {
            Strength::Constant => !is_small_number(value),
            Strength::Is => is_one_word,
            Strength::May => is_one_word && (is_drawn(value) || is_long),
        }
}

fn is_bare_secret(value: &str, rest: &str, name: &str, (strength, join): (Strength, Join)) -> bool {
    if is_stand_in(value, name) || is_code(value) {
        return false;
    }
    let is_last =
        rest.trim_start_matches(BLANKS).chars().next().is_none_or(|it| "\n\r&\\#\"'".contains(it));
    match (strength, join) {
        (Strength::Constant, Join::Tight) => !is_small_number(value),
        (Strength::Constant, Join::Colon) if is_last => !is_small_number(value),
        (Strength::Is, Join::Tight | Join::Colon) if is_last => !has_signs_of_code(value),
        _ => is_drawn(value),
    }
}

/// Tells whether this counts something: nobody's password is so short.
fn is_small_number(value: &str) -> bool {
    value.len() < 6 && value.bytes().all(|byte| byte.is_ascii_digit())
}
