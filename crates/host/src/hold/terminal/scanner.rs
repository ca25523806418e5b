//! Splits a terminal's byte stream into text, control characters and complete sequences.
//!
//! An incomplete sequence or character is kept until its rest arrives, so that every token is
//! complete. The number of kept bytes is bounded: longer strings are skipped.

/// The maximum length of a control sequence. No valid sequence is longer.
const MAX_SEQUENCE_BYTES: usize = 256;
/// The maximum length of an operating system command. It is enough for a title, a link, and a page
/// of text for the clipboard.
const MAX_COMMAND_BYTES: usize = 64 << 10;
/// The maximum length of a device control string. It is enough for every request.
const MAX_CONTROL_STRING_BYTES: usize = 4 << 10;

const ESCAPE: u8 = 0x1b;
const BELL: u8 = 0x07;
const CANCEL: u8 = 0x18;
const SUBSTITUTE: u8 = 0x1a;

const PASTE_BEGINS: &[u8] = b"\x1b[200~";
const PASTE_ENDS: &[u8] = b"\x1b[201~";

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// Complete characters, with the control characters that move the cursor: BS, HT, LF, VT, FF
    /// and CR.
    Text,
    /// One other control character.
    Control,
    /// `ESC`, intermediates, one final byte.
    Escape,
    /// `ESC [` …
    Csi,
    /// `ESC ]` … including its terminator.
    Osc,
    /// `ESC P` … including its terminator.
    Dcs,
}

/// One piece of the stream, unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token<'a> {
    pub(crate) kind: TokenKind,
    pub(crate) bytes: &'a [u8],
}

/// Whether a token is plain, and which rows it can change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Plain {
    /// It must be processed on its own.
    No,
    /// It writes lines, one below the other, or changes the line that is being written.
    Writes,
    /// It can change other rows.
    Moves,
}

/// Consecutive plain tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run<'a> {
    pub(super) bytes: &'a [u8],
    /// The byte offset from which on the tokens only write lines.
    pub(super) lines: usize,
}

impl Token<'_> {
    /// Returns whether pasted text follows. Take it with [`TokenScanner::take_paste`].
    pub(crate) fn begins_paste(&self) -> bool {
        self.bytes == PASTE_BEGINS
    }
}

/// The state of the stream: the bytes that were not taken yet, and whether a string is being
/// skipped.
#[derive(Debug, Default)]
pub(crate) struct TokenScanner {
    buffer: Vec<u8>,
    start: usize,
    skipping: Option<Skipping>,
}

/// The terminators of a string whose content is skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Skipping {
    UntilBellOrTerminator,
    UntilTerminator,
}

/// The first part of the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ScanStep {
    Token(TokenKind, usize),
    /// Invalid bytes.
    Drop(usize),
    Skip(Skipping),
    Incomplete,
}

impl TokenScanner {
    /// Adds bytes to the stream.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.buffer.drain(..self.start);
        self.start = 0;
        self.buffer.extend_from_slice(bytes);
    }

    /// Takes the next token. `None` if the rest is incomplete.
    pub(crate) fn next(&mut self) -> Option<Token<'_>> {
        loop {
            if !self.skip() {
                return None;
            }
            match step(self.buffer.get(self.start..).unwrap_or_default()) {
                ScanStep::Token(kind, length) => {
                    let begin = self.start;
                    self.start += length;
                    let bytes = self.buffer.get(begin..self.start)?;
                    return Some(Token { kind, bytes });
                }
                ScanStep::Drop(length) => self.start += length,
                ScanStep::Skip(until) => {
                    self.start += 2;
                    self.skipping = Some(until);
                }
                ScanStep::Incomplete => return None,
            }
        }
    }

    /// Takes all tokens up to the first one that is not plain, at once.
    pub(super) fn take_plain(&mut self, mut plain: impl FnMut(Token<'_>) -> Plain) -> Run<'_> {
        let begin = self.start;
        let mut lines = begin;
        while self.skipping.is_none() {
            let rest = self.buffer.get(self.start..).unwrap_or_default();
            let ScanStep::Token(kind, length) = step(rest) else { break };
            let bytes = rest.get(..length).unwrap_or_default();
            match plain(Token { kind, bytes }) {
                Plain::No => break,
                Plain::Writes => self.start += length,
                Plain::Moves => {
                    self.start += length;
                    lines = self.start;
                }
            }
        }
        let bytes = self.buffer.get(begin..self.start).unwrap_or_default();
        Run { bytes, lines: lines - begin }
    }

    /// Returns whether the next bytes begin a new token.
    pub(super) fn is_between_tokens(&self) -> bool {
        self.rest().is_empty() && self.skipping.is_none()
    }

    /// Returns the bytes that were pushed but not taken yet.
    pub(crate) fn rest(&self) -> &[u8] {
        self.buffer.get(self.start..).unwrap_or_default()
    }

    /// Takes all bytes that were pushed but not taken yet.
    pub(crate) fn take_rest(&mut self) -> Vec<u8> {
        let rest = self.buffer.split_off(self.start);
        self.buffer.clear();
        self.start = 0;
        rest
    }

    /// Puts the last `count` bytes of the previous token back into the stream.
    pub(crate) fn give_back(&mut self, count: usize) {
        self.start = self.start.saturating_sub(count);
    }

    /// Takes pasted text unchanged, with its end marker. Returns whether the paste has ended.
    pub(crate) fn take_paste(&mut self, pasted: &mut Vec<u8>) -> bool {
        let rest = self.rest();
        let end = rest.windows(PASTE_ENDS.len()).position(|window| window == PASTE_ENDS);
        let length = match end {
            Some(at) => at + PASTE_ENDS.len(),
            None => rest.len() - torn_paste_end(rest),
        };
        pasted.extend_from_slice(rest.get(..length).unwrap_or_default());
        self.start += length;
        end.is_some()
    }

    /// Continues to skip a string. Returns whether the stream is outside of a string now.
    fn skip(&mut self) -> bool {
        let Some(until) = self.skipping else {
            return true;
        };
        let (length, has_ended) = skipped(self.rest(), until);
        self.start += length;
        if has_ended {
            self.skipping = None;
        }
        has_ended
    }
}

/// Returns how many bytes at the end may be the beginning of a paste's end marker.
fn torn_paste_end(bytes: &[u8]) -> usize {
    let torn = |length: &usize| bytes.ends_with(&PASTE_ENDS[..*length]);
    (1..PASTE_ENDS.len()).rev().find(torn).unwrap_or(0)
}

/// Returns how many bytes belong to the string, and whether it has ended with them.
fn skipped(bytes: &[u8], until: Skipping) -> (usize, bool) {
    match string_end(bytes, until == Skipping::UntilBellOrTerminator) {
        StringEnd::Terminated(length) | StringEnd::Cancelled(length) => (length, true),
        StringEnd::Open(length) => (length, false),
    }
}

fn step(bytes: &[u8]) -> ScanStep {
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
pub(super) fn is_text(bytes: &[u8]) -> bool {
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
        let wanted = match byte {
            0x80..=0xbf => continue,
            0xc2..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xf4 => 4,
            _ => return 0,
        };
        return if wanted > back + 1 { back + 1 } else { 0 };
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

#[cfg(test)]
mod tests {
    use super::*;

    fn scan(chunks: &[&[u8]]) -> Vec<(TokenKind, Vec<u8>)> {
        let mut scanner = TokenScanner::default();
        let mut found: Vec<(TokenKind, Vec<u8>)> = Vec::new();
        for chunk in chunks {
            scanner.push(chunk);
            while let Some(token) = scanner.next() {
                match found.last_mut() {
                    Some((TokenKind::Text, text)) if token.kind == TokenKind::Text => {
                        text.extend_from_slice(token.bytes);
                    }
                    _ => found.push((token.kind, token.bytes.to_vec())),
                }
            }
        }
        found
    }

    const MIXED: &[u8] = "a\u{e9}漢😀\r\n\x1b[1;31mred\x1b[m\x1b]2;title\x07\x1b]0;t\x1b\\\
        \x1bP+q544e\x1b\\x\x07\x1b(B\x1b7\x1b_Gignored\x1b\\y\x1bXzz\x1b[Hok"
        .as_bytes();

    #[test]
    fn stream_is_split_into_complete_tokens() {
        let tokens = scan(&[MIXED]);
        let wanted: Vec<(TokenKind, &[u8])> = vec![
            (TokenKind::Text, "a\u{e9}漢😀\r\n".as_bytes()),
            (TokenKind::Csi, b"\x1b[1;31m"),
            (TokenKind::Text, b"red"),
            (TokenKind::Csi, b"\x1b[m"),
            (TokenKind::Osc, b"\x1b]2;title\x07"),
            (TokenKind::Osc, b"\x1b]0;t\x1b\\"),
            (TokenKind::Dcs, b"\x1bP+q544e\x1b\\"),
            (TokenKind::Text, b"x"),
            (TokenKind::Control, b"\x07"),
            (TokenKind::Escape, b"\x1b(B"),
            (TokenKind::Escape, b"\x1b7"),
            (TokenKind::Text, b"y"),
            (TokenKind::Csi, b"\x1b[H"),
            (TokenKind::Text, b"ok"),
        ];
        let found: Vec<(TokenKind, &[u8])> =
            tokens.iter().map(|(k, b)| (*k, b.as_slice())).collect();
        assert_eq!(found, wanted);
    }

    #[test]
    fn tokens_do_not_depend_on_where_reads_are_cut() {
        let whole = scan(&[MIXED]);
        for cut in 0..=MIXED.len() {
            let (head, tail) = MIXED.split_at(cut);
            assert_eq!(scan(&[head, tail]), whole, "cut at {cut}");
        }
        let bytes: Vec<&[u8]> = MIXED.chunks(1).collect();
        assert_eq!(scan(&bytes), whole);
    }

    #[test]
    fn incomplete_character_waits_and_invalid_one_is_text() {
        assert_eq!(scan(&[b"\xe6\xbc"]), []);
        assert_eq!(scan(&[b"a\xff"]), [(TokenKind::Text, b"a\xff".to_vec())]);
        assert_eq!(scan(&[b"\x80\x80\x80\x80"]).len(), 1);
    }

    #[test]
    fn endless_strings_use_bounded_memory() {
        let mut scanner = TokenScanner::default();
        for opening in [&b"\x1b]52;c;"[..], b"\x1bPq", b"\x1b_G"] {
            scanner.push(opening);
            for _ in 0..100 {
                scanner.push(&[b'A'; 4096]);
                assert_eq!(scanner.next(), None);
            }
            assert!(scanner.rest().len() <= MAX_COMMAND_BYTES + 4096);
            scanner.push(b"\x1b\\after");
            let token = scanner.next().map(|token| token.bytes.to_vec());
            assert_eq!(token.as_deref(), Some(&b"after"[..]));
        }
    }

    #[test]
    fn token_after_a_cancelled_sequence_is_found() {
        assert_eq!(
            scan(&[b"\x1b[3\x1b[2Jx"]),
            [(TokenKind::Csi, b"\x1b[2J".to_vec()), (TokenKind::Text, b"x".to_vec())]
        );
        assert_eq!(scan(&[b"\x1b[3\x18x"]), [(TokenKind::Text, b"x".to_vec())]);
        assert_eq!(
            scan(&[b"\x1b]2;t\x1b[2Jx"]),
            [(TokenKind::Csi, b"\x1b[2J".to_vec()), (TokenKind::Text, b"x".to_vec())]
        );
        let long = [b"\x1b[".to_vec(), b"1;".repeat(4000), b"mx".to_vec()].concat();
        let chunks: Vec<&[u8]> = long.chunks(100).collect();
        let text: Vec<u8> = scan(&chunks).into_iter().flat_map(|(_, b)| b).collect();
        assert!(text.ends_with(b"mx") || text.ends_with(b"x"));
    }
}
