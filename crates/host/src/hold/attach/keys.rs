//! The keys of an attached person: which are for the agent, and which mean to detach.
//!
//! The detach key is Ctrl-\ followed by d. Terminals send keys in several ways, and agents choose
//! which: as single bytes, as `CSI code ; modifiers u`, or as `CSI 27 ; modifiers ; code ~`.

use crate::hold::terminal::{Kind, Scanner, Sequence, Token};

const BACKSLASH: u16 = 92;
const D: u16 = 100;
const CONTROL: u16 = 4;
/// Caps lock and num lock are modifiers that nobody means.
const LOCKS: u16 = 64 | 128;
/// Shift, control, alt and the like, when they are reported as keys.
const MODIFIER_KEYS: std::ops::RangeInclusive<u16> = 57441..=57454;
const LOCK_KEYS: std::ops::RangeInclusive<u16> = 57358..=57360;

/// What came of some typing.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Typed {
    /// What the agent gets.
    pub(super) passed: Vec<u8>,
    pub(super) detach: bool,
}

/// One person's typing.
#[derive(Debug, Default)]
pub(super) struct Keys {
    scanner: Scanner,
    /// What came since Ctrl-\, which waits for what follows it.
    held: Vec<u8>,
    pasting: bool,
}

impl Keys {
    /// Takes in what was read.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Typed {
        let mut typed = Typed::default();
        let mut scanner = std::mem::take(&mut self.scanner);
        scanner.push(bytes);
        loop {
            if self.pasting {
                self.pasting = !scanner.take_paste(&mut typed.passed);
            }
            let Some(token) = scanner.next() else { break };
            self.pasting = token.begins_paste();
            self.key(token, &mut typed);
            if typed.detach {
                break;
            }
        }
        self.scanner = scanner;
        typed
    }

    /// Tells whether half a key waits for its rest.
    pub(super) fn is_waiting(&self) -> bool {
        !self.pasting && !self.scanner.rest().is_empty()
    }

    /// Returns what waits, after a pause in which no rest came.
    pub(super) fn after_pause(&mut self) -> Vec<u8> {
        let mut passed = std::mem::take(&mut self.held);
        passed.append(&mut self.scanner.take_rest());
        passed
    }

    fn key(&mut self, token: Token<'_>, typed: &mut Typed) {
        let key = Key::of(token);
        match (self.held.is_empty(), key) {
            (true, Key::Prefix(Press::First)) => self.held.extend_from_slice(token.bytes),
            (true, _) => typed.passed.extend_from_slice(token.bytes),
            // Keys that are let go or held down say nothing about what follows.
            (false, Key::Silent | Key::Prefix(Press::Again)) => {
                self.held.extend_from_slice(token.bytes);
            }
            // Twice means the key itself.
            (false, Key::Prefix(Press::First)) => {
                self.held.clear();
                typed.passed.extend_from_slice(token.bytes);
            }
            (false, Key::Detach) => {
                self.held.clear();
                typed.detach = true;
            }
            (false, Key::Other) => {
                typed.passed.append(&mut self.held);
                typed.passed.extend_from_slice(token.bytes);
            }
        }
    }
}

/// What a key means here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Key {
    Prefix(Press),
    Detach,
    /// A key that is let go, or a modifier alone.
    Silent,
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Press {
    First,
    /// Held down.
    Again,
}

impl Key {
    fn of(token: Token<'_>) -> Self {
        match (token.kind, token.bytes) {
            (Kind::Control, [0x1c]) => Self::Prefix(Press::First),
            (Kind::Text, [b'd', ..]) => Self::Detach,
            (Kind::Csi, bytes) => {
                Sequence::parse(bytes).map_or(Self::Other, |sequence| Self::encoded(&sequence))
            }
            _ => Self::Other,
        }
    }

    fn encoded(sequence: &Sequence<'_>) -> Self {
        let (code, modifiers, event) = match (sequence.prefix, sequence.last) {
            (0, b'u') => {
                let mut modifiers = sequence.parts(1);
                let held = modifiers.next().flatten();
                (sequence.number(0), held, modifiers.next().flatten())
            }
            (0, b'~') if sequence.number(0) == Some(27) => {
                (sequence.number(2), sequence.number(1), None)
            }
            _ => return Self::Other,
        };
        let modifiers = modifiers.unwrap_or(1).saturating_sub(1) & !LOCKS;
        match (code.unwrap_or(0), modifiers, event.unwrap_or(1)) {
            (_, _, 3) => Self::Silent,
            (code, _, _) if MODIFIER_KEYS.contains(&code) || LOCK_KEYS.contains(&code) => {
                Self::Silent
            }
            (BACKSLASH, CONTROL, 2) => Self::Prefix(Press::Again),
            (BACKSLASH, CONTROL, _) => Self::Prefix(Press::First),
            (D, 0, _) => Self::Detach,
            _ => Self::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ctrl-\ as terminals send it.
    const PREFIXES: [&[u8]; 7] = [
        b"\x1c",
        b"\x1b[92;5u",
        b"\x1b[92;5:1u",
        b"\x1b[92:124;5u",
        b"\x1b[92;133u",
        b"\x1b[57442;5u\x1b[92;5u\x1b[92;5:2u\x1b[92;5:3u\x1b[57442;1:3u",
        b"\x1b[27;5;92~",
    ];
    const DS: [&[u8]; 5] = [b"d", b"\x1b[100u", b"\x1b[100;1u", b"\x1b[100;1:1u", b"\x1b[100;129u"];

    fn take(chunks: &[&[u8]]) -> Typed {
        let mut keys = Keys::default();
        let mut all = Typed::default();
        for chunk in chunks {
            let typed = keys.take(chunk);
            all.passed.extend(typed.passed);
            all.detach |= typed.detach;
        }
        all
    }

    #[test]
    fn the_detach_key_is_known_in_every_encoding_wherever_reads_tear_it() {
        for prefix in PREFIXES {
            for d in DS {
                let stream = [b"x", prefix, d].concat();
                for cut in 0..=stream.len() {
                    let (head, tail) = stream.split_at(cut);
                    let typed = take(&[head, tail]);
                    assert!(typed.detach, "{:?} at {cut}", stream.escape_ascii().to_string());
                    assert!(typed.passed.starts_with(b"x"));
                    assert!(!typed.passed.ends_with(d));
                }
            }
        }
    }

    #[test]
    fn twice_is_the_key_itself() {
        assert_eq!(take(&[b"\x1c\x1cd"]).passed, b"\x1cd");
        assert_eq!(take(&[b"\x1b[92;5u", b"\x1b[92;5u", b"x"]).passed, b"\x1b[92;5ux");
        assert!(!take(&[b"\x1c\x1cd"]).detach);
    }

    #[test]
    fn anything_else_is_sent_as_typed() {
        for typed in [&b"\x1cx"[..], b"\x1c\r", b"\x1b[92;5u\x1b[120u", b"\x1c\x1b[A", b"\x1cD"] {
            assert_eq!(take(&[typed]), Typed { passed: typed.to_vec(), detach: false });
        }
        for typed in [&b"d"[..], b"hello d", b"\x1b[100u", b"\x1b[92;1u", b"\x1b[92;6u"] {
            assert_eq!(take(&[typed]), Typed { passed: typed.to_vec(), detach: false });
        }
    }

    #[test]
    fn pasted_keys_are_text() {
        let pasted = b"\x1b[200~\x1cd\x1b[201~";
        assert_eq!(take(&[pasted]), Typed { passed: pasted.to_vec(), detach: false });
        assert!(take(&[pasted, b"\x1cd"]).detach);
    }

    #[test]
    fn escape_alone_passes_after_a_pause() {
        let mut keys = Keys::default();
        assert_eq!(keys.take(b"\x1b").passed, b"");
        assert!(keys.is_waiting());
        assert_eq!(keys.after_pause(), b"\x1b");
        assert!(!keys.is_waiting());
    }
}
