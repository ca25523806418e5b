//! Private keys that are written as a block of lines.

use std::ops::Range;

use super::key_lines;

const KEY_LABEL: &str = "PRIVATE KEY";
const BEGIN: &str = "-----BEGIN";
pub(super) const END: &str = "-----END";
const DASHES: &str = "-----";
/// Minimum length of a line of a key. Most words are shorter.
pub(super) const MIN_LINE_CHARS: usize = 16;
/// A label between dashes is shorter than this.
const MAX_LABEL_BYTES: usize = 64;
/// The name of a header is shorter than this.
const MAX_HEADER_NAME_BYTES: usize = 24;
/// Headers before the first line of a key take at most this many bytes.
const MAX_HEADERS_BYTES: usize = 400;

/// Returns the range of the private key that begins at `at`. A key that was cut off ends with its
/// last line.
pub(super) fn private_key(text: &str, at: usize) -> Option<Range<usize>> {
    let body = end_of_label(text, at)?;
    let after = &text[body..];
    let end = length_with_end_label(after).map(|length| body + length).or_else(|| {
        let by_characters = length_of_key_lines(after).map(|length| body + length);
        by_characters.max(key_lines::end_after_begin_label(text, at, body))
    })?;
    Some(at..end)
}

/// Returns whether a key begins in a text and does not end in it.
pub(super) fn is_open(text: &str) -> bool {
    let last = text.rfind(BEGIN).and_then(|at| end_of_label(text, at));
    last.is_some_and(|body| !text[body..].contains(END))
}

/// Returns where the label of a private key ends that begins at `at`. `None` if the label is of
/// another kind.
fn end_of_label(text: &str, at: usize) -> Option<usize> {
    let rest = &text[at + DASHES.len()..];
    let label = rest.find(DASHES).filter(|length| *length < MAX_LABEL_BYTES)?;
    let is_key = rest[..label].contains(KEY_LABEL);
    is_key.then_some(at + DASHES.len() + label + DASHES.len())
}

/// Returns the range of a private key whose end label is at `at` and whose first line is missing.
pub(super) fn rest_of_key(text: &str, at: usize, floor: usize) -> Option<Range<usize>> {
    let body = end_of_label(text, at)?;
    let starts =
        [start_by_characters(text, at, floor), key_lines::start_before_end_label(text, at, floor)];
    starts.into_iter().flatten().min().map(|start| start..body)
}

/// Returns where a key begins that ends at `at`, if only punctuation and numbers separate its
/// lines.
fn start_by_characters(text: &str, at: usize, floor: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut start, mut end) = (None, at);
    let mut previous = MIN_LINE_CHARS;
    while end > floor {
        let piece = bytes[floor..end].iter().rev().take_while(|byte| is_key_byte(**byte)).count();
        let line = &text[end - piece..end];
        let line = line.strip_prefix('n').filter(|_| is_escape(bytes, end - piece)).unwrap_or(line);
        let is_number = line.len() <= 6 && line.bytes().all(|byte| byte.is_ascii_digit());
        // Only the last line of a key may be short. It is the first line that this loop reads.
        let is_word = line.bytes().any(|byte| byte.is_ascii_alphanumeric());
        let is_last = start.is_none() && line.len() >= 2 && is_word && !is_number;
        if line.len() >= MIN_LINE_CHARS || is_last {
            start = Some(end - line.len());
            previous = line.len();
        } else if !is_number || previous < 2 {
            break;
        }
        end -= piece;
        let gap = bytes[floor..end].iter().rev().take_while(|byte| is_separator(**byte)).count();
        if gap == 0 || gap > MAX_LABEL_BYTES {
            break;
        }
        end -= gap;
    }
    start
}

fn is_escape(bytes: &[u8], at: usize) -> bool {
    at > 0 && bytes[at - 1] == b'\\'
}

/// Returns whether a byte can be between the lines of a key.
fn is_separator(byte: u8) -> bool {
    byte.is_ascii_whitespace() || b"\\\x22',>|:".contains(&byte) || !byte.is_ascii()
}

/// Returns the length of the key lines at the start of a text that continues a key, and whether the
/// key ends there.
pub(super) fn continued(text: &str) -> Option<(usize, bool)> {
    let end = text.find(END).filter(|end| {
        let lines = &text[..*end];
        lines.bytes().all(|byte| is_key_byte(byte) || is_separator(byte))
    });
    if let Some(body) = end.and_then(|end| end_of_label(text, end)) {
        return Some((body, true));
    }
    let head = text.bytes().take_while(|byte| is_key_byte(*byte) || is_separator(*byte)).count();
    // The text must begin with a line of the key, not with a word.
    let by_characters = length_of_key_lines(text).filter(|length| *length <= head);
    let length = by_characters.max(key_lines::end_of_lines_at_start(text))?;
    let end = text[length..].find(END).map(|end| length + end);
    let is_next = |end: &usize| text[length..*end].bytes().filter(|it| *it == b'\n').count() <= 1;
    let label = end.filter(is_next).and_then(|end| end_of_label(text, end));
    Some(label.map_or((length, false), |label| (label, true)))
}

/// Returns the length up to and including the line that ends the key.
fn length_with_end_label(after: &str) -> Option<usize> {
    let end = after.find(DASHES).filter(|at| after[*at..].starts_with(END))?;
    let label = end + END.len();
    let dashes = after[label..].find(DASHES).filter(|length| *length < MAX_LABEL_BYTES)?;
    Some(label + dashes + DASHES.len())
}

/// Returns the length of the lines that look like lines of a key. `None` if there is no such line.
pub(super) fn length_of_key_lines(after: &str) -> Option<usize> {
    let bytes = after.as_bytes();
    let mut end = 0;
    let mut at = 0;
    let mut previous = MIN_LINE_CHARS;
    while let Some(skipped) = bytes[at..].iter().position(|byte| is_key_byte(*byte)) {
        let start = at + skipped;
        let length = bytes[start..].iter().position(|byte| !is_key_byte(*byte));
        let length = length.unwrap_or(bytes.len() - start);
        let piece = without_escape(&after[start..start + length]);
        let is_number = piece.len() <= 6 && piece.bytes().all(|byte| byte.is_ascii_digit());
        let is_last = previous >= MIN_LINE_CHARS
            && end > 0
            && !is_number
            && is_alone(&after[start + length..]);
        let is_short =
            end == 0 && start + length < MAX_HEADERS_BYTES && piece.len() < 2 * MIN_LINE_CHARS;
        let is_header = is_short && is_in_header(after, start);
        if is_last || piece.len() >= MIN_LINE_CHARS && !is_header {
            end = start + length;
        } else if !(is_number || is_header || piece.is_empty()) {
            break;
        }
        previous = if is_number || piece.is_empty() { previous } else { piece.len() };
        at = start + length;
    }
    (end > 0).then_some(end)
}

/// Returns whether this offset is in a line such as `Proc-Type: 4,ENCRYPTED`.
fn is_in_header(text: &str, at: usize) -> bool {
    let from = text[..at].rfind('\n').map_or(0, |from| from + 1);
    is_header(&text[from..])
}

/// Returns whether a text begins with a header of a key. Only the beginning is checked, because the
/// line may have no end.
pub(super) fn is_header(text: &str) -> bool {
    let is_of_name = |byte: &u8| byte.is_ascii_alphabetic() || *byte == b'-';
    let name = text
        .as_bytes()
        .iter()
        .take(MAX_HEADER_NAME_BYTES)
        .take_while(|byte| is_of_name(byte))
        .count();
    name < MAX_HEADER_NAME_BYTES && text[name..].starts_with(": ")
}

/// Returns whether a piece ends before `next`. If a longer name continues there, the piece is not a
/// line of a key, and another secret could begin with it.
fn is_alone(next: &str) -> bool {
    next.starts_with(DASHES) || !next.starts_with(['-', '_', '.'])
}

pub(super) fn is_key_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+/=".contains(&byte)
}

/// Returns an empty text if the piece is only the letter of an escaped line break, as in `\n`.
/// Otherwise returns the piece.
fn without_escape(piece: &str) -> &str {
    piece.strip_prefix(['n', 'r']).filter(|rest| rest.is_empty()).unwrap_or(piece)
}
