//! Passwords in addresses.

use std::ops::Range;

use super::values::{is_drawn, is_stand_in};

/// At most this many bytes of an address are looked at: some passwords are tokens of a kilobyte.
const ADDRESS: usize = 2 * 1024;

/// Returns the secret of the address whose part after `://` begins here.
pub(super) fn password_of_url(text: &str, at: usize) -> Option<Range<usize>> {
    let rest = &text.as_bytes()[at..];
    let is_end = |byte: &u8| byte.is_ascii_whitespace() || b"\"'`<>\\".contains(byte);
    let whole = rest.iter().take(ADDRESS).take_while(|byte| !is_end(byte)).count();
    let whole = text.get(at..at + whole)?;
    let place = &whole[..whole.find(['/', '?', '#', ',', '|']).unwrap_or(whole.len())];
    let range = in_place(place).or_else(|| in_path(text, at, whole))?;
    Some(at + range.start..at + range.end)
}

/// Returns the password, or the name that is none, before the `@` of a plain address.
fn in_place(place: &str) -> Option<Range<usize>> {
    let (user, host) = place.rsplit_once('@')?;
    let Some((name, password)) = user.split_once(':') else {
        return (user.len() >= 16 && is_drawn(user) && host.contains('.')).then_some(0..user.len());
    };
    let start = name.len() + 1;
    is_password(password, host).then_some(start..start + password.len())
}

/// Returns a password that has `/`, `#` or `?` in it, with which the address would end otherwise.
fn in_path(text: &str, at: usize, whole: &str) -> Option<Range<usize>> {
    let colon = whole.find([':', '/', '@', '?', '#']).filter(|at| whole[*at..].starts_with(':'))?;
    let start = colon + 1;
    let is_web = text[..at].ends_with("http://") || text[..at].ends_with("https://");
    let mut signs = whole[start..].match_indices('@').map(|(place, _)| start + place);
    let end = signs.rfind(|end| is_host(&whole[end + 1..]))?;
    let password = &whole[start..end];
    let first = password.split(['/', '#', '?']).next().unwrap_or_default();
    let is_port = first.is_empty() || first.bytes().all(|byte| byte.is_ascii_digit());
    let name = &whole[..colon];
    let is_user = !name.contains('.') && !matches!(name, "localhost" | "host");
    let is_sure = !is_port || !is_web && is_user && !first.is_empty();
    (is_sure && is_user && is_password(password, &whole[end + 1..])).then_some(start..end)
}

/// Tells whether a host follows, with nothing strange behind it.
fn is_host(rest: &str) -> bool {
    let end = rest.find(['/', '?', ',', ';']).unwrap_or(rest.len());
    let host = rest[..end].split(':').next().unwrap_or_default();
    let is_of_host = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    !host.is_empty() && host.bytes().all(is_of_host)
}

fn is_password(password: &str, host: &str) -> bool {
    let is_digest = host.starts_with("sha256:");
    !is_digest && (!is_stand_in(password, "") || matches!(password, "password" | "secret"))
}
