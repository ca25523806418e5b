//! Secrets in HTTP headers.

use std::ops::Range;

use super::values::{is_placeholder, looks_secret, opening_quote, unquoted_length};

const SCHEMES: [&str; 10] =
    ["bearer", "basic", "token", "digest", "apikey", "negotiate", "bot", "key", "flyv1", "sso-key"];
/// Minimum length of the value after the word `Bearer` if no name of a header precedes it.
const MIN_BEARER_BYTES: usize = 16;
/// At most this many bytes of a digest are checked.
const MAX_DIGEST_BYTES: usize = 2 * 1024;
/// At most this many bytes of a cookie header are checked.
const MAX_COOKIE_BYTES: usize = 4 * 1024;
/// Characters that end a cookie header.
const HEADER_ENDS: [char; 6] = ['"', '\'', '`', '\n', '\r', '\\'];

/// Returns the credential after the word `Bearer`.
pub(super) fn bearer(text: &str, word: Range<usize>) -> Option<Range<usize>> {
    let start = word.end + spaces(&text[word.end..])?;
    let value = &text[start..start + unquoted_length(&text[start..], b",")];
    let is_secret = value.len() >= MIN_BEARER_BYTES
        && value.bytes().any(|byte| byte.is_ascii_digit())
        && !is_placeholder(value, "")
        && !value.contains(['(', '{', '<']);
    is_secret.then_some(start..start + value.len())
}

/// Returns the credential of an authorization header whose name ends at `at`.
pub(super) fn authorization(text: &str, at: usize) -> Option<Range<usize>> {
    let mark = opening_quote(&text[at..]).unwrap_or_default();
    // A name in backticks is only mentioned.
    (mark != "`").then_some(())?;
    let mut start = at + mark.len();
    start += spaces(&text[start..]).unwrap_or(0);
    text[start..].starts_with([':', '=', ',']).then_some(())?;
    start += 1;
    start += spaces(&text[start..]).unwrap_or(0);
    start += opening_quote(&text[start..]).map_or(0, str::len);
    let word = unquoted_length(&text[start..], b",");
    let has_scheme = SCHEMES.iter().any(|it| text[start..start + word].eq_ignore_ascii_case(it));
    if text[start..start + word].eq_ignore_ascii_case("digest") {
        return response_of_digest(text, start + word);
    }
    if has_scheme {
        start = start + word + spaces(&text[start + word..])?;
    }
    let value = &text[start..start + unquoted_length(&text[start..], b"")];
    let is_secret = if has_scheme { is_credential(value) } else { looks_secret(value) };
    is_secret.then_some(start..start + value.len())
}

/// Returns the response of a digest authentication, which is a hash of the password.
fn response_of_digest(text: &str, at: usize) -> Option<Range<usize>> {
    let line = &text[at..text.floor_char_boundary((at + MAX_DIGEST_BYTES).min(text.len()))];
    let line = line.lines().next().unwrap_or_default();
    let name = line.find("response=")? + "response=".len();
    let start = at + name + opening_quote(&line[name..]).map_or(0, str::len);
    let value = &text[start..start + unquoted_length(&text[start..], b",")];
    is_credential(value).then_some(start..start + value.len())
}

fn is_credential(value: &str) -> bool {
    let has_digit = value.bytes().any(|byte| byte.is_ascii_digit());
    (has_digit || value.len() >= 8)
        && !is_placeholder(value, "")
        && !value.contains(['(', '{', '<'])
        && !value.to_ascii_lowercase().ends_with("token")
}

/// Returns the number of blanks at the start of the text. `None` if there are none.
fn spaces(text: &str) -> Option<usize> {
    let count = text.bytes().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    (count > 0).then_some(count)
}

/// Parts of the names of cookies that authenticate a user.
const LOGIN_COOKIES: [&str; 9] =
    ["sess", "sid", "auth", "token", "jwt", "csrf", "xsrf", "remember", "login"];

/// Returns the range of the secret cookies after the name of the header or the flag that ends at
/// `at`.
pub(super) fn cookies(text: &str, at: usize) -> Option<Range<usize>> {
    let mut start = at + opening_quote(&text[at..]).unwrap_or_default().len();
    let rest = text[start..].trim_start_matches([' ', '\t']);
    start = text.len() - rest.len();
    text[start..].starts_with([':', '=', ',']).then_some(())?;
    start += 1;
    start += spaces(&text[start..]).unwrap_or(0);
    start += opening_quote(&text[start..]).map_or(0, str::len);
    secret_cookies(text, start)
}

/// Returns the range from the first to the last cookie value that could authenticate a user.
pub(super) fn secret_cookies(text: &str, start: usize) -> Option<Range<usize>> {
    let is_of_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.%".contains(byte);
    let name = text.as_bytes()[start..].iter().take(128).take_while(|it| is_of_name(it)).count();
    text[start + name..].starts_with('=').then_some(())?;
    let line = &text[start..text.floor_char_boundary((start + MAX_COOKIE_BYTES).min(text.len()))];
    let end = line.find(HEADER_ENDS).unwrap_or(line.len());
    let mut found: Option<Range<usize>> = None;
    let mut at = start;
    for pair in line[..end].split(';') {
        let from = at;
        at += pair.len() + 1;
        let Some((name, value)) = pair.split_once('=') else { continue };
        let name = name.trim().to_ascii_lowercase();
        let value_start = from + pair.len() - value.len();
        let is_login = LOGIN_COOKIES.iter().any(|login| name.contains(login));
        let value = value.trim_end();
        let is_secret = !is_placeholder(value, "")
            && !value.contains(char::is_whitespace)
            && (is_login && value.len() >= 6 && has_digit(value)
                || value.len() >= 16 && looks_secret(value));
        if is_secret {
            let first = found.as_ref().map_or(value_start, |range| range.start);
            found = Some(first..value_start + value.len());
        }
    }
    // The last value may be longer than the part that was checked.
    let is_end =
        |letter: char| letter == ';' || letter.is_whitespace() || HEADER_ENDS.contains(&letter);
    found.map(|range| match &text[range.end..] {
        rest if range.end == start + line.len() => {
            range.start..range.end + rest.find(is_end).unwrap_or(rest.len())
        }
        _ => range,
    })
}

fn has_digit(value: &str) -> bool {
    value.bytes().any(|byte| byte.is_ascii_digit())
}
