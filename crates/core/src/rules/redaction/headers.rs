//! Secrets in addresses and in headers of requests.

use std::ops::Range;

use super::values::{LOOKED_AT, bare, is_drawn, is_stand_in, quote};

const SCHEMES: [&str; 6] = ["bearer", "basic", "token", "digest", "apikey", "negotiate"];
/// What a header says after the word `Bearer` is at least so long when nothing else tells.
const BEARER: usize = 16;

/// Returns the password of the address whose part after `://` begins here.
pub(super) fn password_of_url(text: &str, at: usize) -> Option<Range<usize>> {
    let rest = &text.as_bytes()[at..];
    let is_end = |byte: &u8| byte.is_ascii_whitespace() || b"/\"'`<>\\?#,|".contains(byte);
    let place = rest.iter().take(LOOKED_AT).take_while(|byte| !is_end(byte)).count();
    let place = text.get(at..at + place)?;
    let (user, _) = place.rsplit_once('@')?;
    let (name, password) = user.split_once(':')?;
    let start = at + name.len() + 1;
    (!is_stand_in(password, "") || password == "password" || password == "secret")
        .then_some(start..start + password.len())
}

/// Returns the credential behind the word `Bearer`.
pub(super) fn bearer(text: &str, word: Range<usize>) -> Option<Range<usize>> {
    let start = word.end + spaces(&text[word.end..])?;
    let value = &text[start..start + bare(&text[start..], b",")];
    let is_secret = value.len() >= BEARER
        && value.bytes().any(|byte| byte.is_ascii_digit())
        && !is_stand_in(value, "")
        && !value.contains(['(', '{', '<']);
    is_secret.then_some(start..start + value.len())
}

/// Returns the credential of a header whose name ends here.
pub(super) fn authorization(text: &str, at: usize) -> Option<Range<usize>> {
    let mark = quote(&text[at..]).unwrap_or_default();
    // A name in backticks is one that is spoken of.
    (mark != "`").then_some(())?;
    let mut start = at + mark.len();
    start += spaces(&text[start..]).unwrap_or(0);
    text[start..].starts_with([':', '=', ',']).then_some(())?;
    start += 1;
    start += spaces(&text[start..]).unwrap_or(0);
    start += quote(&text[start..]).map_or(0, str::len);
    let word = bare(&text[start..], b",");
    let has_scheme = SCHEMES.iter().any(|it| text[start..start + word].eq_ignore_ascii_case(it));
    if has_scheme {
        start = start + word + spaces(&text[start + word..])?;
    }
    let value = &text[start..start + bare(&text[start..], b"")];
    let is_secret = if has_scheme { is_credential(value) } else { is_drawn(value) };
    is_secret.then_some(start..start + value.len())
}

fn is_credential(value: &str) -> bool {
    let has_digit = value.bytes().any(|byte| byte.is_ascii_digit());
    (has_digit || value.len() >= 8)
        && !is_stand_in(value, "")
        && !value.contains(['(', '{', '<'])
        && !value.to_ascii_lowercase().ends_with("token")
}

/// Returns how many blanks begin the text; none where there is none.
fn spaces(text: &str) -> Option<usize> {
    let count = text.bytes().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    (count > 0).then_some(count)
}
