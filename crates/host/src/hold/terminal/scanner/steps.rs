//! Finds the first token in a byte stream.

use super::TokenKind;

/// The maximum length of a control sequence. No valid sequence is longer.
const MAX_SEQUENCE_BYTES: usize = 256;
/// The maximum length of an operating system command. It is enough for a title, a link, and a page
/// of text for the clipboard.
pub(super) const MAX_COMMAND_BYTES: usize = 64 << 10;
/// The maximum length of a device control string. It is enough for every request.
const MAX_CONTROL_STRING_BYTES: usize = 4 << 10;

const ESCAPE: u8 = 0x1b;
const BELL: u8 = 0x07;
const CANCEL: u8 = 0x18;
const SUBSTITUTE: u8 = 0x1a;

/// The terminators of a string whose content is skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Skipping {
    UntilBellOrTerminator,
    UntilTerminator,
}

/// The first part of the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScanStep {
    Token(TokenKind, usize),
    /// Invalid bytes.
    Drop(usize),
    Skip(Skipping),
    Incomplete,
}

/// Returns how many bytes belong to the string, and whether it has ended with them.
pub(super) fn skipped(bytes: &[u8], until: Skipping) -> (usize, bool) {
    match string_end(bytes, until == Skipping::UntilBellOrTerminator) {
        StringEnd::Terminated(length) | StringEnd::Cancelled(length) => (length, true),
        StringEnd::Open(length) => (length, false),
    }
}

pub(super) fn step(bytes: &[u8]) -> ScanStep {
    match bytes {
        [] => ScanStep::Incomplete,
        [ESCAPE, rest @ ..] => escape(rest),
        [byte, ..] if !TEXT[usize::from(*byte)] => ScanStep::Token(TokenKind::Control, 1),
        _ => text(bytes),
    }
}

/// The bytes that are text: all except the control characters that are tokens of their own.
const TEXT: [bool; 256] = {
    let mut table = [true; 256];
    let mut byte = 0;
    while byte < 0x20 {
        table[byte] = byte >= 0x08 && byte <= 0x0d;
        byte += 1;
    }
    table[0x7f] = false;
    table
};

fn text(bytes: &[u8]) -> ScanStep {
    if let Some(length) = text_end(bytes) {
        return ScanStep::Token(TokenKind::Text, length);
    }
    match bytes.len() - torn_character(bytes) {
        0 => ScanStep::Incomplete,
        length => ScanStep::Token(TokenKind::Text, length),
    }
}

/// Returns whether all bytes are text.
pub(in crate::hold::terminal) fn is_text(bytes: &[u8]) -> bool {
    text_end(bytes).is_none()
}

/// Finds the first byte that is not text. Most bytes are letters, which are checked eight at a
/// time.
fn text_end(bytes: &[u8]) -> Option<usize> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let (eights, rest) = bytes.as_chunks::<8>();
    for (index, eight) in eights.iter().enumerate() {
        let word = u64::from_le_bytes(*eight);
        // A byte below 0x20, or equal to 0x7f, sets the highest bit of its position.
        let below = word.wrapping_sub(ONES * 0x20) & !word;
        let delete = word ^ (ONES * 0x7f);
        let delete = delete.wrapping_sub(ONES) & !delete;
        if (below | delete) & (ONES * 0x80) != 0
            && let Some(at) = eight.iter().position(|byte| !TEXT[usize::from(*byte)])
        {
            return Some(index * 8 + at);
        }
    }
    let at = rest.iter().position(|byte| !TEXT[usize::from(*byte)])?;
    Some(eights.len() * 8 + at)
}

/// Returns how many bytes at the end begin a character whose rest is missing.
fn torn_character(bytes: &[u8]) -> usize {
    for (back, byte) in bytes.iter().rev().take(3).enumerate() {
        let length = match byte {
            0x80..=0xbf => continue,
            0xc2..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xf4 => 4,
            _ => return 0,
        };
        return if length > back + 1 { back + 1 } else { 0 };
    }
    0
}

fn escape(rest: &[u8]) -> ScanStep {
    match rest.first() {
        None => ScanStep::Incomplete,
        Some(b'[') => csi(rest.get(1..).unwrap_or_default()),
        Some(b']') => string(rest, TokenKind::Osc),
        Some(b'P') => string(rest, TokenKind::Dcs),
        Some(b'X' | b'^' | b'_') => ScanStep::Skip(Skipping::UntilTerminator),
        Some(_) => short_escape(rest),
    }
}

/// Parses a short escape sequence, after `ESC`.
fn short_escape(rest: &[u8]) -> ScanStep {
    let intermediates = rest.iter().take_while(|byte| (0x20..=0x2f).contains(*byte)).count();
    match rest.get(intermediates) {
        None if intermediates > MAX_SEQUENCE_BYTES => ScanStep::Drop(1 + intermediates),
        None => ScanStep::Incomplete,
        Some(0x30..=0x7e) => ScanStep::Token(TokenKind::Escape, intermediates + 2),
        // This is no sequence. The next byte is parsed on its own.
        Some(_) => ScanStep::Drop(1 + intermediates),
    }
}

/// Parses a control sequence, after `ESC [`.
fn csi(rest: &[u8]) -> ScanStep {
    let body = rest.iter().take_while(|byte| (0x20..=0x3f).contains(*byte)).count();
    if body > MAX_SEQUENCE_BYTES {
        return ScanStep::Drop(2 + body);
    }
    match rest.get(body) {
        None => ScanStep::Incomplete,
        Some(0x40..=0x7e) => ScanStep::Token(TokenKind::Csi, body + 3),
        Some(&CANCEL | &SUBSTITUTE) => ScanStep::Drop(body + 3),
        Some(_) => ScanStep::Drop(2 + body),
    }
}

/// Parses a string that begins at `rest`, after `ESC`.
fn string(rest: &[u8], kind: TokenKind) -> ScanStep {
    let (limit, ends_with_bell) = match kind {
        TokenKind::Osc => (MAX_COMMAND_BYTES, true),
        _ => (MAX_CONTROL_STRING_BYTES, false),
    };
    match string_end(rest, ends_with_bell) {
        StringEnd::Terminated(length) => ScanStep::Token(kind, 1 + length),
        StringEnd::Cancelled(length) => ScanStep::Drop(1 + length),
        StringEnd::Open(length) if length > limit => ScanStep::Skip(if ends_with_bell {
            Skipping::UntilBellOrTerminator
        } else {
            Skipping::UntilTerminator
        }),
        StringEnd::Open(_) => ScanStep::Incomplete,
    }
}

/// The end of a string.
enum StringEnd {
    /// The string ends with its terminator, after this many bytes.
    Terminated(usize),
    /// Another sequence or a control character ends the string after this many bytes.
    Cancelled(usize),
    /// The end has not arrived. At least this many bytes belong to the string.
    Open(usize),
}

fn string_end(bytes: &[u8], ends_with_bell: bool) -> StringEnd {
    let stops = |byte: &u8| match *byte {
        ESCAPE | CANCEL | SUBSTITUTE => true,
        BELL => ends_with_bell,
        _ => false,
    };
    let Some(at) = bytes.iter().position(stops) else {
        return StringEnd::Open(bytes.len());
    };
    match (bytes[at], bytes.get(at + 1)) {
        (BELL, _) => StringEnd::Terminated(at + 1),
        (ESCAPE, Some(b'\\')) => StringEnd::Terminated(at + 2),
        (ESCAPE, None) => StringEnd::Open(at),
        (ESCAPE, Some(_)) => StringEnd::Cancelled(at),
        _ => StringEnd::Cancelled(at + 1),
    }
}
