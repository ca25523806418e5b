//! What people type, without what their terminals say on their own.
//!
//! Terminals answer queries of whoever ran in them before, and report what an earlier program
//! asked for. The agent's questions are answered elsewhere, so an answer from here is never its.

use super::{Kind, Scanner, Sequence};

/// `ESC` and a letter that opens a string: a person's key unless more of it follows at once.
const KEY_WITH_ALT: usize = 2;

/// Reports that the agent has asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) focus: bool,
    pub(crate) colour_scheme: bool,
}

/// One user's input; it keeps what a read has torn.
#[derive(Debug, Default)]
pub(crate) struct InputFilter {
    scanner: Scanner,
    pasting: bool,
    /// Whether something of what was passed on is a person's doing.
    has_keys: bool,
}

impl InputFilter {
    /// Takes in what was read; returns what is for the agent.
    pub(crate) fn filter(&mut self, bytes: &[u8], asked: Asked) -> Vec<u8> {
        let mut passed = Vec::with_capacity(bytes.len());
        self.scanner.push(bytes);
        loop {
            if self.pasting {
                self.has_keys = true;
                self.pasting = !self.scanner.take_paste(&mut passed);
            }
            let Some(token) = self.scanner.next() else {
                return passed;
            };
            if token.begins_paste() {
                self.pasting = true;
            }
            if is_typed(token.kind, token.bytes, asked) {
                self.has_keys |= !is_report(token.kind, token.bytes);
                passed.extend_from_slice(token.bytes);
            }
        }
    }

    /// Tells whether a person did something since this was asked last: not everything that is for
    /// the agent was typed.
    pub(crate) fn take_has_keys(&mut self) -> bool {
        std::mem::take(&mut self.has_keys)
    }

    /// Tells whether a person's paste has begun whose end has not come.
    pub(crate) fn is_pasting(&self) -> bool {
        self.pasting
    }

    /// Returns what waits, after a pause in which no rest came: then it was a key such as Escape.
    /// The beginning of an answer waits on.
    pub(crate) fn after_pause(&mut self) -> Vec<u8> {
        let opens_string = matches!(self.scanner.rest(), [0x1b, b']' | b'P', _, ..]);
        if self.pasting || opens_string && self.scanner.rest().len() > KEY_WITH_ALT {
            return Vec::new();
        }
        self.scanner.take_rest()
    }

    /// Gives up an answer whose rest never came.
    pub(crate) fn after_long_pause(&mut self) {
        if !self.pasting {
            self.scanner.take_rest();
        }
    }
}

fn is_typed(kind: Kind, bytes: &[u8], asked: Asked) -> bool {
    match kind {
        Kind::Text | Kind::Control | Kind::Escape => true,
        Kind::Osc | Kind::Dcs => false,
        Kind::Csi => Sequence::parse(bytes).is_none_or(|sequence| is_key(&sequence, asked)),
    }
}

/// Tells whether it is what a terminal says on its own because the agent asked for it, or where
/// the mouse is: nobody pressed anything.
fn is_report(kind: Kind, bytes: &[u8]) -> bool {
    /// A move without a button, whatever keys are held.
    const HOVER: u16 = 35;
    let sequence = Some(bytes).filter(|_| kind == Kind::Csi).and_then(Sequence::parse);
    sequence.is_some_and(|sequence| match (sequence.prefix, sequence.last) {
        (0, b'I' | b'O') => sequence.is_bare(),
        (b'?', b'n') => true,
        (b'<', b'M') => sequence.number(0).is_some_and(|button| button & HOVER == HOVER),
        _ => false,
    })
}

fn is_key(sequence: &Sequence<'_>, asked: Asked) -> bool {
    match (sequence.prefix, sequence.intermediate, sequence.last) {
        (0, 0, b'I' | b'O') if sequence.is_bare() => asked.focus,
        // F3 with modifiers looks like a cursor in the first row, and nobody asked for that.
        (0, 0, b'R') => {
            sequence.is_bare()
                || sequence.number(0) == Some(1)
                    && sequence.number(1).is_some_and(|modifiers| modifiers <= 16)
        }
        (b'?', 0, b'n') if sequence.number(0) == Some(997) => asked.colour_scheme,
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

    const NOTHING: Asked = Asked { focus: false, colour_scheme: false };
    /// Answers of terminals, each of which must vanish.
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
    /// What people do, each of which must arrive.
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

    fn pass(chunks: &[&[u8]], asked: Asked) -> Vec<u8> {
        let mut filter = InputFilter::default();
        let mut passed = Vec::new();
        for chunk in chunks {
            passed.extend(filter.filter(chunk, asked));
        }
        passed
    }

    #[test]
    fn answers_vanish_and_keys_arrive_wherever_reads_tear_them() {
        for answer in ANSWERS {
            for key in KEYS {
                let stream = [b"x", answer, key, answer, b"y"].concat();
                let wanted = [b"x", key, b"y"].concat();
                for cut in 0..=stream.len() {
                    let (head, tail) = stream.split_at(cut);
                    let passed = pass(&[head, tail], NOTHING);
                    assert_eq!(passed, wanted, "{:?} at {cut}", stream.escape_ascii().to_string());
                }
            }
        }
    }

    #[test]
    fn reports_arrive_when_the_agent_asked_for_them() {
        let focus = Asked { focus: true, ..NOTHING };
        assert_eq!(pass(&[b"\x1b[I\x1b[O"], NOTHING), b"");
        assert_eq!(pass(&[b"\x1b[I\x1b[O"], focus), b"\x1b[I\x1b[O");
        let scheme = Asked { colour_scheme: true, ..NOTHING };
        assert_eq!(pass(&[b"\x1b[?997;2n"], scheme), b"\x1b[?997;2n");
    }

    #[test]
    fn what_nobody_pressed_is_told_from_keys() {
        let all = Asked { focus: true, colour_scheme: true };
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
    fn escape_alone_arrives_after_a_pause() {
        for key in [&b"\x1b"[..], b"\x1b]", b"\x1bP", b"\x1b[", b"\xc3"] {
            let mut filter = InputFilter::default();
            assert_eq!(filter.filter(key, NOTHING), b"");
            assert_eq!(filter.after_pause(), key);
            assert_eq!(filter.filter(b"a", NOTHING), b"a");
        }
    }

    #[test]
    fn half_an_answer_waits_for_its_rest_but_not_for_ever() {
        let mut filter = InputFilter::default();
        filter.filter(b"\x1b]11;rgb:00", NOTHING);
        assert_eq!(filter.after_pause(), b"");
        assert_eq!(filter.filter(b"00/0000/0000\x1b\\x", NOTHING), b"x");
        filter.filter(b"\x1b]11;rgb:00", NOTHING);
        filter.after_long_pause();
        assert_eq!(filter.filter(b"typed", NOTHING), b"typed");
    }

    #[test]
    fn pasted_text_is_not_looked_into() {
        let pasted = b"\x1b[200~a\x1b]11;x\x07\x1b[?62c\x1b\xff\x1b[201~\x1b[?62c!";
        let wanted = b"\x1b[200~a\x1b]11;x\x07\x1b[?62c\x1b\xff\x1b[201~!";
        for cut in 0..=pasted.len() {
            let (head, tail) = pasted.split_at(cut);
            assert_eq!(pass(&[head, tail], NOTHING), wanted, "cut at {cut}");
        }
        let mut filter = InputFilter::default();
        let mut passed = Vec::new();
        for byte in pasted.chunks(1) {
            passed.extend(filter.filter(byte, NOTHING));
            if filter.pasting {
                assert_eq!(filter.after_pause(), b"");
                filter.after_long_pause();
            }
        }
        assert_eq!(passed, wanted);
    }
}
