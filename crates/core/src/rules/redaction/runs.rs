//! Keys without a name and without a known prefix: long runs of characters without a separator.

use std::ops::Range;

use super::Secret;
use crate::rules::shapes::has_words;

/// Minimum length of a run that is checked.
const MIN_RUN_BYTES: usize = 34;
/// Length of the secret key of an AWS account.
const AWS_KEY_BYTES: usize = 40;
/// Length of a token of Okta.
const OKTA_TOKEN_BYTES: usize = 42;

/// Finds such keys. Reads only one of every [`MIN_RUN_BYTES`] bytes of ordinary text.
pub(super) fn find(text: &str, found: &mut Vec<Secret>) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at + MIN_RUN_BYTES <= bytes.len() {
        let probe = at + MIN_RUN_BYTES - 1;
        if !is_run_byte(bytes[probe]) {
            at = probe + 1;
            continue;
        }
        let back = bytes[at..probe].iter().rev().take_while(|byte| is_run_byte(**byte)).count();
        let ahead = bytes[probe..].iter().take_while(|byte| is_run_byte(**byte)).count();
        let is_escape = bytes[..=probe - back].ends_with(b"\\n")
            || bytes[..=probe - back].ends_with(b"\\r")
            || bytes[..=probe - back].ends_with(b"\\t");
        let run = probe - back + usize::from(is_escape)..probe + ahead;
        if run.len() >= MIN_RUN_BYTES {
            check_run(text, &run, found);
        }
        at = run.end + 1;
    }
}

fn check_run(text: &str, run: &Range<usize>, found: &mut Vec<Secret>) {
    let start = run.start;
    if let Some(kind) = discord_token_kind(&text[run.clone()]) {
        found.push(Secret { range: run.clone(), kind });
        return;
    }
    let mut from = start;
    for piece in text[run.clone()].split(['=', '_', '-', '.']) {
        let range = from..from + piece.len();
        from = range.end + 1;
        let is_bare =
            !text[range.end..].starts_with(['-', '_', '%']) && !is_part_of_name(text, range.start);
        if piece.len() == AWS_KEY_BYTES && is_bare && is_random(piece) {
            found.push(Secret { range, kind: "aws-secret-key" });
        }
    }
    let whole = &text[run.clone()];
    let whole = whole.rsplit('=').find(|it| !it.is_empty()).unwrap_or(whole);
    if whole.len() == OKTA_TOKEN_BYTES
        && whole.starts_with("00")
        && !whole.contains(['/', '+', '.'])
        && is_random(whole)
    {
        let end = start + text[run.clone()].trim_end_matches('=').len();
        found.push(Secret { range: end - OKTA_TOKEN_BYTES..end, kind: "okta-token" });
    }
}

/// Returns whether this is the rest of a longer name or value, such as `sha1-…`.
fn is_part_of_name(text: &str, at: usize) -> bool {
    text[..at].ends_with(['-', '_', '.', '%'])
}

/// Returns whether lowercase letters, uppercase letters and digits alternate as often as in random
/// text.
fn is_random(text: &str) -> bool {
    let bytes = text.as_bytes();
    let class = |byte: u8| match byte {
        b'a'..=b'z' => 0,
        b'A'..=b'Z' => 1,
        b'0'..=b'9' => 2,
        _ => 3,
    };
    let count = |wanted| bytes.iter().filter(|byte| class(**byte) == wanted).count();
    let changes = bytes.windows(2).filter(|pair| class(pair[0]) != class(pair[1])).count();
    let is_mixed = count(0) >= 4 && count(1) >= 4 && count(2) >= 1 && count(3) <= 6;
    is_mixed && changes >= 13 && !has_words(text)
}

/// Returns the kind if this is a bot token of Discord: three parts, the first of which is a number
/// in base64.
fn discord_token_kind(run: &str) -> Option<&'static str> {
    let mut parts = run.split('.');
    let [first, second, third] = [parts.next()?, parts.next()?, parts.next()?];
    let is_plain =
        |part: &str| part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    let is_token = parts.next().is_none()
        && (23..=28).contains(&first.len())
        && (6..=7).contains(&second.len())
        && (27..=40).contains(&third.len())
        && first.starts_with(['M', 'N', 'O'])
        && [first, second, third].into_iter().all(is_plain)
        && !has_words(third);
    is_token.then_some("discord-token")
}

/// The bytes that belong to a run.
const RUN_BYTES: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        table[byte as usize] =
            byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'_' | b'-' | b'.');
        byte += 1;
    }
    table
};

fn is_run_byte(byte: u8) -> bool {
    RUN_BYTES[usize::from(byte)]
}
