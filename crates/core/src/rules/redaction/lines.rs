//! Secrets at a fixed position of a line, as in `.pgpass` and in cookie files.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::values::is_placeholder;

/// At most this many bytes of a line are checked in each direction.
const MAX_LINE_BYTES: usize = 256;
/// Minimum length of a password hash.
const MIN_HASH_BYTES: usize = 24;

/// Matches a line of `.pgpass`: host, port, database, user and password.
#[expect(clippy::unwrap_used, reason = "the pattern is constant, and tests compile it")]
static DATABASE: LazyLock<Regex> = LazyLock::new(|| {
    let field = r"[^\s:\x22'\\/]+";
    // `grep` prints the file name and the line number before the line.
    let origin = r"(?:[^\s:\x22'\\]*pgpass[^\s:\x22'\\]*[:-])?(?:[0-9]{1,6}[:-])?";
    let start = format!(r"(?:^|[\s\x22'>|]|\\n|→){origin}");
    Regex::new(&format!(
        r"{start}{field}:(?:[0-9]{{4,5}}|\*):{field}:([A-Za-z_*][^\s:\x22'\\]*):((?:\\:|[^\s:\x22'\\])+)"
    ))
    .unwrap()
});

fn line_around(text: &str, at: usize) -> Range<usize> {
    let from = text.floor_char_boundary(at.saturating_sub(MAX_LINE_BYTES));
    let start = text[from..at].rfind(['\n', '\r']).map_or(from, |place| from + place + 1);
    let to = text.ceil_char_boundary((at + MAX_LINE_BYTES).min(text.len()));
    let end = text[at..to].find(['\n', '\r']).map_or(to, |place| at + place);
    start..end
}

/// Returns the password of the `.pgpass` line that contains this offset.
pub(super) fn password_of_database(text: &str, at: usize, floor: usize) -> Option<Range<usize>> {
    let is_of_host = |byte: &u8| byte.is_ascii_alphanumeric() || b"*-._]".contains(byte);
    text.as_bytes()[..at].last().filter(|byte| is_of_host(byte))?;
    let line = line_around(text, at);
    let line = line.start.max(floor)..line.end;
    for found in DATABASE.captures_iter(text.get(line.clone())?) {
        let password = found.get(2)?;
        let start = line.start + password.start();
        // The password may be longer than the part that was checked.
        let range = start..start + field(&text[start..]);
        let next = text[range.end..].chars().next();
        let is_whole = next.is_none_or(|it| it != ':');
        let is_here = line.start + found.get(0)?.start() <= at && at < range.end;
        if is_whole && is_here && !is_placeholder(password.as_str(), "") {
            return Some(range);
        }
    }
    None
}

/// Returns the length of a field of `.pgpass`, in which `\:` is an escaped colon.
fn field(text: &str) -> usize {
    let bytes = text.as_bytes();
    let is_end = |at: &usize| {
        let is_escaped = *at > 0 && bytes[at - 1] == b'\\';
        let is_escape = bytes[*at] == b'\\' && bytes.get(at + 1) != Some(&b':');
        bytes[*at].is_ascii_whitespace()
            || b"\x22'".contains(&bytes[*at])
            || is_escape
            || bytes[*at] == b':' && !is_escaped
    };
    (0..bytes.len()).find(is_end).unwrap_or(bytes.len())
}

/// Returns the value of a line of a cookie file: seven fields separated by tabs.
pub(super) fn cookie_of_jar(text: &str, at: usize, floor: usize) -> Option<Range<usize>> {
    let line = line_around(text, at);
    let (start, line) = (line.start.max(floor), text.get(line.start.max(floor)..line.end)?);
    let tabs = ["\t", "\\\\t", "\\t"];
    let tab = tabs.into_iter().find(|tab| line.contains(tab))?;
    let mut fields = line.splitn(7, tab);
    let mut from = start;
    for _ in 0..6 {
        from += fields.next()?.len() + tab.len();
    }
    // The value may be longer than the part that was checked.
    let value = fields.next().and_then(|_| text.get(from..))?;
    let length = value.find(['\t', ' ', '"', '\\', '\n', '\r']).unwrap_or(value.len());
    (length >= 6 && from > at).then_some(from..from + length)
}

/// Returns the password hash that begins at `at`.
pub(super) fn hash_of_password(text: &str, at: usize) -> Option<Range<usize>> {
    let is_of_hash = |byte: &u8| byte.is_ascii_alphanumeric() || b"./$=,+-".contains(byte);
    let hash = |most: usize| {
        let length = text.as_bytes()[at..].iter().take(most).take_while(|it| is_of_hash(it));
        text[at..at + length.count()].trim_end_matches(['.', ','])
    };
    let start = hash(MAX_LINE_BYTES);
    let parts = start.split('$').filter(|part| !part.is_empty());
    let longest = parts.clone().map(str::len).max().unwrap_or_default();
    let is_hash = start.len() >= MIN_HASH_BYTES && longest >= 20 && parts.count() >= 2;
    is_hash.then(|| at..at + hash(usize::MAX).len())
}
