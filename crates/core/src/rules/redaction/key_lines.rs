//! Lines of private keys that come after a prefix: marks of diffs, line numbers, file names,
//! timestamps of logs, and the punctuation of comments and strings.

use std::ops::Range;

use super::blocks::{MIN_LINE_CHARS, is_header, is_key_byte};

/// Minimum length of the first line of a key if its prefix is not known yet.
const MIN_FIRST_LINE_CHARS: usize = 32;
/// At most this many bytes of a line are checked.
const MAX_LINE_BYTES: usize = 400;
/// At most this many bytes follow the key in its line, such as `\n' +` or a color sequence.
const MAX_TRAILING_BYTES: usize = 12;
/// At most this many lines are between the label and the first line of a key.
const MAX_HEADER_LINES: usize = 4;

/// The separator of lines: a line break or, inside strings, `\n` with this many backslashes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Separator {
    backslashes: usize,
}

impl Separator {
    /// Returns the separator whose last byte is at `at`.
    fn ending_at(bytes: &[u8], at: usize) -> Option<Self> {
        let escapes =
            || bytes[..at].iter().rev().take(MAX_LINE_BYTES).take_while(|it| **it == b'\\').count();
        match bytes[at] {
            b'\n' => Some(Self { backslashes: 0 }),
            b'n' => Some(Self { backslashes: escapes() }).filter(|it| it.backslashes > 0),
            _ => None,
        }
    }

    fn len(self) -> usize {
        self.backslashes + 1
    }

    /// Returns the nearest separator before `at`, and where the line after it begins.
    fn before(bytes: &[u8], at: usize, floor: usize) -> Option<(Self, usize)> {
        let from = floor.max(at.saturating_sub(MAX_LINE_BYTES));
        let mut places = (from..at).rev();
        places.find_map(|place| Some((Self::ending_at(bytes, place)?, place + 1)))
    }

    /// Returns the first separator after `at`, and where the line after it begins.
    fn after(bytes: &[u8], at: usize) -> Option<(Self, usize)> {
        let mut places = at..bytes.len().min(at + MAX_LINE_BYTES);
        places.find_map(|place| Some((Self::ending_at(bytes, place)?, place + 1)))
    }

    /// Returns where the line begins that contains `at`. `None` if the line is too long.
    fn start_of_line(self, bytes: &[u8], at: usize, floor: usize) -> Option<usize> {
        let from = floor.max(at.saturating_sub(MAX_LINE_BYTES));
        let is_own = |place: &usize| Self::ending_at(bytes, *place) == Some(self);
        let start = (from..at).rev().find(is_own).map(|place| place + 1);
        start.or_else(|| (from == floor).then_some(from))
    }

    /// Returns the line before the line that begins at `start`.
    fn line_before(self, bytes: &[u8], start: usize, floor: usize) -> Option<Range<usize>> {
        let end = start.checked_sub(self.len()).filter(|end| *end > floor)?;
        Some(self.start_of_line(bytes, end, floor)?..end)
    }

    /// Returns the line that begins at `start`.
    fn line_at(self, bytes: &[u8], start: usize) -> Option<Range<usize>> {
        let to = bytes.len().min(start + MAX_LINE_BYTES);
        let is_own = |place: &usize| Self::ending_at(bytes, *place) == Some(self);
        let end = (start..to).find(is_own).map(|place| place + 1 - self.len());
        let end = end.or_else(|| (to == bytes.len()).then_some(to))?;
        (start < bytes.len() && start <= end).then_some(start..end)
    }
}

/// Returns where the lines of a key begin that ends with the label at `at`. All of them have the
/// same prefix as the line of the label.
pub(super) fn start_before_end_label(text: &str, at: usize, floor: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let (separator, mut line_start) = Separator::before(bytes, at, floor)?;
    let prefix = text.get(line_start..at)?;
    let (mut start, mut is_sure) = (None, false);
    while let Some(line) = separator.line_before(bytes, line_start, floor) {
        let rest = text.get(line.clone()).and_then(|line| after_prefix(line, prefix));
        let Some((rest, length)) = rest.and_then(|rest| Some((rest, key_length(rest)?))) else {
            break;
        };
        // Only the last line of a key may be short. It is the first line that this loop reads.
        if length < MIN_LINE_CHARS && (start.is_some() || length == 0) {
            break;
        }
        is_sure |= length >= MIN_LINE_CHARS;
        start = Some(line.end - rest.len());
        line_start = line.start;
    }
    start.filter(|_| is_sure)
}

/// Returns where the lines of a key end whose label begins at `at` and ends before `body`.
pub(super) fn end_after_begin_label(text: &str, at: usize, body: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let (separator, start) = Separator::after(bytes, body)?;
    let prefix = separator.start_of_line(bytes, at, 0).and_then(|start| text.get(start..at));
    lines_end(text, (separator, start), prefix)
}

/// Returns where the lines of a key end that are at the start of a text.
pub(super) fn end_of_lines_at_start(text: &str) -> Option<usize> {
    let (separator, _) = Separator::after(text.as_bytes(), 0)?;
    lines_end(text, (separator, 0), None)
}

/// Returns where the lines of a key end whose first line begins at `start`. Their prefix is the
/// given one, or else that of the first line.
fn lines_end<'a>(
    text: &'a str,
    (separator, mut start): (Separator, usize),
    mut prefix: Option<&'a str>,
) -> Option<usize> {
    let (mut end, mut headers) = (None, 0);
    while let Some(line) = separator.line_at(text.as_bytes(), start) {
        start = line.end + separator.len();
        let Some(content) = text.get(line.clone()) else { break };
        let known = prefix.and_then(|prefix| after_prefix(content, prefix));
        let known = known.filter(|rest| key_length(rest).is_some() || is_header(rest));
        let Some(rest) = known.or_else(|| first_line(content).filter(|_| end.is_none())) else {
            headers += 1;
            if end.is_some() || headers > MAX_HEADER_LINES || !is_before_key(content) {
                break;
            }
            continue;
        };
        prefix = Some(&content[..content.len() - rest.len()]);
        let length = key_length(rest).filter(|_| !is_header(rest)).unwrap_or(0);
        if length > 0 && (length >= MIN_LINE_CHARS || end.is_some()) {
            end = Some(line.end - rest.len() + length);
        }
        headers += usize::from(length == 0);
        // Only empty lines and headers come before a key, and only its last line is short.
        let is_short = length < MIN_LINE_CHARS && (length > 0 || end.is_some());
        if is_short || headers > MAX_HEADER_LINES {
            break;
        }
    }
    end
}

/// Returns whether a line with an unknown prefix is empty or a header of an encrypted key.
fn is_before_key(line: &str) -> bool {
    let is_header = ["Proc-Type: ", "DEK-Info: "].iter().any(|header| line.contains(header));
    // An empty line can contain the letters of escaped line breaks, as in `' +\n  '`.
    is_header || line.chars().filter(|letter| letter.is_alphanumeric()).count() <= 2
}

/// Returns the key in a line with an unknown prefix: a long run that contains lowercase and
/// uppercase letters and digits.
fn first_line(line: &str) -> Option<&str> {
    let mut runs = line.split(|letter| !u8::try_from(letter).is_ok_and(is_key_byte));
    let run = runs.find(|run| run.len() >= MIN_FIRST_LINE_CHARS)?;
    let has = |test: fn(&u8) -> bool| run.as_bytes().iter().any(test);
    let is_mixed =
        has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase) && has(u8::is_ascii_digit);
    let rest = line.find(run).map(|start| &line[start..])?;
    (is_mixed && key_length(rest).is_some()).then_some(rest)
}

/// Returns how many characters of a key are at the start of this text. `None` if the characters
/// after them are not only punctuation.
fn key_length(rest: &str) -> Option<usize> {
    let length = rest.bytes().take_while(|byte| is_key_byte(*byte)).count();
    let signs = &rest.as_bytes()[length..];
    let is_sign =
        |byte: &u8| byte.is_ascii_whitespace() || b"\\\"'`+,;.)|*nru01b[mK\x1b".contains(byte);
    (signs.len() <= MAX_TRAILING_BYTES && signs.iter().all(is_sign)).then_some(length)
}

/// Returns the text after a prefix in a line. Numbers and blanks may differ from the given prefix.
/// `grep` writes `-` instead of `:` in the lines around a match.
fn after_prefix<'a>(line: &'a str, prefix: &str) -> Option<&'a str> {
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let run =
        |bytes: &[u8], test: &dyn Fn(&u8) -> bool| bytes.iter().take_while(|it| test(it)).count();
    let (bytes, prefix) = (line.as_bytes(), prefix.as_bytes());
    let (mut at, mut of) = (run(bytes, &is_blank), run(prefix, &is_blank));
    while let Some(wanted) = prefix.get(of) {
        let byte = bytes.get(at)?;
        let test: &dyn Fn(&u8) -> bool = match wanted {
            b'0'..=b'9' => &u8::is_ascii_digit,
            b' ' | b'\t' => &is_blank,
            _ if byte == wanted || b":-".contains(byte) && b":-".contains(wanted) => {
                (at, of) = (at + 1, of + 1);
                continue;
            }
            _ => return None,
        };
        let length = run(&bytes[at..], test);
        (length > 0).then_some(())?;
        (at, of) = (at + length, of + run(&prefix[of..], test));
    }
    line.get(at..)
}
