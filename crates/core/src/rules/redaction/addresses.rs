//! Passwords in URLs and connection strings.

use std::ops::Range;

use super::values::{is_placeholder, looks_secret};

/// At most this many bytes of a URL are checked. Some passwords are tokens of a kilobyte.
const MAX_URL_BYTES: usize = 2 * 1024;

/// Returns the secret of the URL whose part after `://` begins at `at`.
pub(super) fn password_of_url(text: &str, at: usize) -> Option<Range<usize>> {
    let rest = &text.as_bytes()[at..];
    let url = rest.iter().take(MAX_URL_BYTES).take_while(|byte| !is_end(**byte)).count();
    let url = &text[at..text.floor_char_boundary(at + url)];
    let authority = &url[..url.find(['/', '?', '#', ',', '|']).unwrap_or(url.len())];
    let range = in_authority(authority).or_else(|| in_path(text, at, url))?;
    Some(at + range.start..at + range.end)
}

/// Returns the password before the `@` of an ordinary URL, or the user name if it is a token.
fn in_authority(authority: &str) -> Option<Range<usize>> {
    let (user, host) = authority.rsplit_once('@')?;
    let Some((name, password)) = user.split_once(':') else {
        return (user.len() >= 16 && looks_secret(user) && host.contains('.'))
            .then_some(0..user.len());
    };
    let start = name.len() + 1;
    is_password(password, host).then_some(start..start + password.len())
}

/// Returns a password that contains `/`, `#` or `?`, which would end the host part of an ordinary
/// URL.
fn in_path(text: &str, at: usize, url: &str) -> Option<Range<usize>> {
    let colon = url.find([':', '/', '@', '?', '#']).filter(|at| url[*at..].starts_with(':'))?;
    let start = colon + 1;
    let is_web = text[..at].ends_with("http://") || text[..at].ends_with("https://");
    let mut at_signs = url[start..].match_indices('@').map(|(place, _)| start + place);
    let end = at_signs.rfind(|end| is_host(&url[end + 1..]))?;
    let password = &url[start..end];
    let name = &url[..colon];
    let is_user = !name.contains('.') && !matches!(name, "localhost" | "host");
    let is_sure = !is_web && !password.starts_with("//") || !begins_with_port(name, password);
    (is_sure && is_user && is_password(password, &url[end + 1..])).then_some(start..end)
}

/// Returns whether this can be the port and the path of a URL whose path contains an `@`, as in
/// `http://web:8080/logo@2x`. A few names are certain to be users and not hosts.
fn begins_with_port(name: &str, password: &str) -> bool {
    let number = password.split(['/', '#', '?']).next().unwrap_or_default();
    let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
    let is_port = number.parse::<u16>().is_ok() && !number.starts_with('0');
    let is_path = password.starts_with("//") || password.ends_with('/');
    let is_known_user = matches!(name, "admin" | "root" | "user");
    is_number && (is_path || is_port && !is_known_user)
}

/// Returns the password before the `@` of a connection string such as
/// `user:password@tcp(host:3306)/name`.
pub(super) fn password_of_dsn(text: &str, at: usize, floor: usize) -> Option<Range<usize>> {
    let before = text.as_bytes()[floor..at].iter().rev().take(MAX_URL_BYTES);
    let from = at - before.take_while(|byte| !is_end(**byte)).count();
    let pair = text.get(from..at)?;
    let pair = pair.rsplit_once("://").map_or(pair, |(_, pair)| pair);
    let (_, password) = pair.split_once(':')?;
    is_password(password, "").then(|| at - password.len()..at)
}

/// Returns the password of a connection string of Oracle's driver, such as `thin:user/password@`.
/// The part after `jdbc:oracle:` begins at `at`.
pub(super) fn password_of_oracle(text: &str, at: usize) -> Option<Range<usize>> {
    let rest = &text.as_bytes()[at..];
    let url = rest.iter().take(MAX_URL_BYTES).take_while(|byte| !is_end(**byte)).count();
    let (pair, _) = text[at..text.floor_char_boundary(at + url)].rsplit_once('@')?;
    let (user, password) = pair.split_once('/')?;
    let start = at + user.len() + 1;
    is_password(password, "").then(|| start..start + password.len())
}

/// Returns whether a URL ends before this byte.
fn is_end(byte: u8) -> bool {
    byte.is_ascii_whitespace() || b"\"'`<>\\".contains(&byte)
}

/// Returns whether the text begins with a host name that ends as in a URL.
fn is_host(rest: &str) -> bool {
    let is_of_host = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._".contains(byte);
    let length = rest.bytes().take_while(is_of_host).count();
    length > 0 && rest.as_bytes().get(length).is_none_or(|next| b"/?,;:".contains(next))
}

fn is_password(password: &str, host: &str) -> bool {
    let is_digest = host.starts_with("sha256:");
    !is_digest && (!is_placeholder(password, "") || matches!(password, "password" | "secret"))
}
