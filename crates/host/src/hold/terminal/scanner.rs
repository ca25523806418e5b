//! Splits a terminal's byte stream into text, control characters and complete sequences.
//!
//! An incomplete sequence or character is kept until its rest arrives, so that every token is
//! complete. The number of kept bytes is bounded: longer strings are skipped.

mod steps;

pub(super) use self::steps::is_text;
use self::steps::{ScanStep, Skipping, skipped, step};

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

#[cfg(test)]
mod tests {
    use super::steps::MAX_COMMAND_BYTES;
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
        let expected: Vec<(TokenKind, &[u8])> = vec![
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
        assert_eq!(found, expected);
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
