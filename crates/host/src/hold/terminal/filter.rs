//! Filters the input from a user's terminal. Passes on the user's keys, and drops answers and
//! reports of the terminal itself.
//!
//! A terminal answers queries of programs that ran in it before, and sends reports that an earlier
//! program requested. The holder answers the agent's queries, so an answer of the user's terminal is
//! never meant for the agent.

use super::{Sequence, TokenKind, TokenScanner};

/// The length of a key with Alt: `ESC` and a letter. `ESC ]` and `ESC P` are keys unless more bytes
/// follow at once.
const ALT_KEY_BYTES: usize = 2;

/// The reports that the agent has requested.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RequestedReports {
    pub(crate) focus: bool,
    pub(crate) colour_scheme: bool,
}

/// The filter of one user's input. A sequence can be spread over several reads.
#[derive(Debug, Default)]
pub(crate) struct InputFilter {
    scanner: TokenScanner,
    is_pasting: bool,
    /// Whether some of the bytes that were passed on are input of the user.
    has_keys: bool,
}

impl InputFilter {
    /// Takes input and returns the bytes for the agent.
    pub(crate) fn filter(&mut self, bytes: &[u8], requested: RequestedReports) -> Vec<u8> {
        let mut passed = Vec::with_capacity(bytes.len());
        self.scanner.push(bytes);
        loop {
            if self.is_pasting {
                self.has_keys = true;
                self.is_pasting = !self.scanner.take_paste(&mut passed);
            }
            let Some(token) = self.scanner.next() else {
                return passed;
            };
            if token.begins_paste() {
                self.is_pasting = true;
            }
            if is_typed(token.kind, token.bytes, requested) {
                self.has_keys |= !is_report(token.kind, token.bytes);
                passed.extend_from_slice(token.bytes);
            }
        }
    }

    /// Returns whether the user has pressed a key since the last call. Some bytes for the agent are
    /// reports of the terminal.
    pub(crate) fn take_has_keys(&mut self) -> bool {
        std::mem::take(&mut self.has_keys)
    }

    /// Returns whether the user's paste has begun but not ended.
    pub(crate) fn is_pasting(&self) -> bool {
        self.is_pasting
    }

    /// Returns the incomplete input, after a pause in which its rest did not arrive. It was a key
    /// such as Escape. The beginning of an answer is kept.
    pub(crate) fn after_pause(&mut self) -> Vec<u8> {
        let opens_string = matches!(self.scanner.rest(), [0x1b, b']' | b'P', _, ..]);
        if self.is_pasting || opens_string && self.scanner.rest().len() > ALT_KEY_BYTES {
            return Vec::new();
        }
        self.scanner.take_rest()
    }

    /// Drops an answer whose rest never arrived.
    pub(crate) fn after_long_pause(&mut self) {
        if !self.is_pasting {
            self.scanner.take_rest();
        }
    }
}

fn is_typed(kind: TokenKind, bytes: &[u8], requested: RequestedReports) -> bool {
    match kind {
        TokenKind::Text | TokenKind::Control | TokenKind::Escape => true,
        TokenKind::Osc | TokenKind::Dcs => false,
        TokenKind::Csi => {
            Sequence::parse(bytes).is_none_or(|sequence| is_key(&sequence, requested))
        }
    }
}

/// Returns whether the bytes are a report that the agent requested, or a movement of the mouse
/// without a button.
fn is_report(kind: TokenKind, bytes: &[u8]) -> bool {
    /// A movement of the mouse without a button. Modifier keys may be held.
    const HOVER: u16 = 35;
    let sequence = Some(bytes).filter(|_| kind == TokenKind::Csi).and_then(Sequence::parse);
    sequence.is_some_and(|sequence| match (sequence.prefix, sequence.last) {
        (0, b'I' | b'O') => sequence.is_bare(),
        (b'?', b'n') => true,
        (b'<', b'M') => sequence.number(0).is_some_and(|button| button & HOVER == HOVER),
        _ => false,
    })
}

fn is_key(sequence: &Sequence<'_>, requested: RequestedReports) -> bool {
    match (sequence.prefix, sequence.intermediate, sequence.last) {
        (0, 0, b'I' | b'O') if sequence.is_bare() => requested.focus,
        // F3 with modifiers looks like a report of a cursor in the first row, but no such report
        // was requested.
        (0, 0, b'R') => {
            sequence.is_bare()
                || sequence.number(0) == Some(1)
                    && sequence.number(1).is_some_and(|modifiers| modifiers <= 16)
        }
        (b'?', 0, b'n') if sequence.number(0) == Some(997) => requested.colour_scheme,
        (b'?' | b'>' | b'=', 0, b'c')
        | (0 | b'?', 0, b'n')
        | (b'?', 0, b'R' | b'u' | b'S')
        | (0 | b'?', b'$', b'y')
        | (0, 0, b't' | b'x') => false,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: RequestedReports = RequestedReports { focus: false, colour_scheme: false };
    /// Answers of terminals. Each must be dropped.
    const ANSWERS: [&[u8]; 15] = [
        b"\x1b[?62;22c",
        b"\x1b[>41;377;0c",
        b"\x1b[12;40R",
        b"\x1b[?12;40R",
        b"\x1b[0n",
        b"\x1b[?997;2n",
        b"\x1b[?2026;2$y",
        b"\x1b[4;2$y",
        b"\x1b[?7u",
        b"\x1b[4;600;800t",
        b"\x1b]11;rgb:1e1e/1e1e/1e1e\x1b\\",
        b"\x1b]10;rgb:ffff/ffff/ffff\x07",
        b"\x1bP>|XTerm(390)\x1b\\",
        b"\x1bP1+r544e=787465726d\x1b\\",
        b"\x1b_Gi=31;OK\x1b\\",
    ];
    /// Input of users. Each must be passed on.
    const KEYS: [&[u8]; 14] = [
        b"a",
        "é漢".as_bytes(),
        b"\x03",
        b"\r",
        b"\x1b[A",
        b"\x1bOA",
        b"\x1b[1;5C",
        b"\x1b[1;2R",
        b"\x1b[3~",
        b"\x1b[97;5u",
        b"\x1b[<0;10;20M",
        b"\x1bx",
        b"\x7f",
        b"\x1b[27;5;92~",
    ];

    fn pass(chunks: &[&[u8]], requested: RequestedReports) -> Vec<u8> {
        let mut filter = InputFilter::default();
        let mut passed = Vec::new();
        for chunk in chunks {
            passed.extend(filter.filter(chunk, requested));
        }
        passed
    }

    #[test]
    fn answers_are_dropped_and_keys_passed_on_wherever_reads_are_cut() {
        for answer in ANSWERS {
            for key in KEYS {
                let stream = [b"x", answer, key, answer, b"y"].concat();
                let expected = [b"x", key, b"y"].concat();
                for cut in 0..=stream.len() {
                    let (head, tail) = stream.split_at(cut);
                    let passed = pass(&[head, tail], NOTHING);
                    assert_eq!(
                        passed,
                        expected,
                        "{:?} at {cut}",
                        stream.escape_ascii().to_string()
                    );
                }
            }
        }
    }

    #[test]
    fn reports_are_passed_on_if_the_agent_requested_them() {
        let focus = RequestedReports { focus: true, ..NOTHING };
        assert_eq!(pass(&[b"\x1b[I\x1b[O"], NOTHING), b"");
        assert_eq!(pass(&[b"\x1b[I\x1b[O"], focus), b"\x1b[I\x1b[O");
        let scheme = RequestedReports { colour_scheme: true, ..NOTHING };
        assert_eq!(pass(&[b"\x1b[?997;2n"], scheme), b"\x1b[?997;2n");
    }

    #[test]
    fn reports_and_answers_do_not_count_as_keys() {
        let all = RequestedReports { focus: true, colour_scheme: true };
        let mut filter = InputFilter::default();
        for report in [&b"\x1b[I"[..], b"\x1b[O", b"\x1b[?997;2n", b"\x1b[<35;10;20M"] {
            assert_eq!(filter.filter(report, all), report);
            assert!(!filter.take_has_keys(), "{:?}", report.escape_ascii().to_string());
        }
        for answer in ANSWERS {
            filter.filter(answer, NOTHING);
            assert!(!filter.take_has_keys(), "{:?}", answer.escape_ascii().to_string());
        }
        for key in KEYS.into_iter().chain([&b"\x1b[200~x"[..], b"x", b"\x1b[201~"]) {
            filter.filter(key, NOTHING);
            assert!(filter.take_has_keys(), "{:?}", key.escape_ascii().to_string());
        }
    }

    #[test]
    fn escape_alone_is_passed_on_after_a_pause() {
        for key in [&b"\x1b"[..], b"\x1b]", b"\x1bP", b"\x1b[", b"\xc3"] {
            let mut filter = InputFilter::default();
            assert_eq!(filter.filter(key, NOTHING), b"");
            assert_eq!(filter.after_pause(), key);
            assert_eq!(filter.filter(b"a", NOTHING), b"a");
        }
    }

    #[test]
    fn incomplete_answer_is_kept_until_a_long_pause() {
        let mut filter = InputFilter::default();
        filter.filter(b"\x1b]11;rgb:00", NOTHING);
        assert_eq!(filter.after_pause(), b"");
        assert_eq!(filter.filter(b"00/0000/0000\x1b\\x", NOTHING), b"x");
        filter.filter(b"\x1b]11;rgb:00", NOTHING);
        filter.after_long_pause();
        assert_eq!(filter.filter(b"typed", NOTHING), b"typed");
    }

    #[test]
    fn pasted_text_is_passed_on_unchanged() {
        let pasted = b"\x1b[200~a\x1b]11;x\x07\x1b[?62c\x1b\xff\x1b[201~\x1b[?62c!";
        let expected = b"\x1b[200~a\x1b]11;x\x07\x1b[?62c\x1b\xff\x1b[201~!";
        for cut in 0..=pasted.len() {
            let (head, tail) = pasted.split_at(cut);
            assert_eq!(pass(&[head, tail], NOTHING), expected, "cut at {cut}");
        }
        let mut filter = InputFilter::default();
        let mut passed = Vec::new();
        for byte in pasted.chunks(1) {
            passed.extend(filter.filter(byte, NOTHING));
            if filter.is_pasting {
                assert_eq!(filter.after_pause(), b"");
                filter.after_long_pause();
            }
        }
        assert_eq!(passed, expected);
    }
}
