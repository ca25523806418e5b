//! Private keys that are written as a block of lines.

use std::ops::Range;

const KEY: &str = "PRIVATE KEY";
const END: &str = "-----END";
const DASHES: &str = "-----";
/// A line of a key is longer than most words.
const LINE: usize = 16;

/// Returns where the private key is that begins here. One that was cut off ends with its last line.
pub(super) fn private_key(text: &str, at: usize) -> Option<Range<usize>> {
    let rest = &text[at + DASHES.len()..];
    let label = rest.find(DASHES).filter(|length| *length < 64)?;
    if !rest[..label].contains(KEY) {
        return None;
    }
    let body = at + DASHES.len() + label + DASHES.len();
    let after = &text[body..];
    let length = whole(after).or_else(|| cut_off(after))?;
    Some(at..body + length)
}

/// Returns the length up to and with the line that ends the key.
fn whole(after: &str) -> Option<usize> {
    let end = after.find(DASHES).filter(|at| after[*at..].starts_with(END))?;
    let label = end + END.len();
    let dashes = after[label..].find(DASHES).filter(|length| *length < 64)?;
    Some(label + dashes + DASHES.len())
}

/// Returns the length of the lines that look like those of a key; none where there is no such line.
fn cut_off(after: &str) -> Option<usize> {
    let mut end = 0;
    let mut at = 0;
    let mut previous = LINE;
    while let Some(start) = after[at..].find(is_of_key).map(|skipped| at + skipped) {
        let length = after[start..].find(|letter| !is_of_key(letter));
        let length = length.unwrap_or(after.len() - start);
        let piece = without_escape(&after[start..start + length]);
        let is_number = piece.len() <= 6 && piece.bytes().all(|byte| byte.is_ascii_digit());
        let is_last =
            previous >= LINE && end > 0 && !is_number && is_alone(&after[start + length..]);
        if piece.len() >= LINE || is_last {
            end = start + length;
        } else if !is_number && !piece.is_empty() {
            break;
        }
        previous = if is_number || piece.is_empty() { previous } else { piece.len() };
        at = start + length;
    }
    (end > 0).then_some(end)
}

/// Tells whether what comes next begins something else: the beginning of a name is no line of a key,
/// and another secret could begin with it.
fn is_alone(next: &str) -> bool {
    next.starts_with(DASHES) || !next.starts_with(['-', '_', '.'])
}

fn is_of_key(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || "+/=".contains(letter)
}

/// Returns the piece without the letter of the line break before it, as in `\nMIIE`.
fn without_escape(piece: &str) -> &str {
    piece.strip_prefix(['n', 'r']).filter(|rest| rest.is_empty()).unwrap_or(piece)
}
