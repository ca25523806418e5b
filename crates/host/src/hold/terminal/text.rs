//! Converts text so that the screen model and users' terminals draw it in the same way.

use std::borrow::Cow;

/// Replaces invalid characters. The screen model does not draw the usual replacement character, so
/// the rest of the line would have other columns than in terminals.
const REPLACEMENT: char = '\u{25a1}';

/// A character set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Charset {
    #[default]
    Plain,
    /// The line drawing set: small letters are lines and corners.
    Lines,
}

/// The two character sets that can be designated, and which of them is in use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Charsets {
    sets: [Charset; 2],
    used: usize,
}

impl Charsets {
    /// Executes `ESC ( x` or `ESC ) x`. Returns the sequence for users' terminals. `None` for other
    /// sequences.
    pub(super) fn designate(&mut self, escape: &[u8]) -> Option<[u8; 3]> {
        let &[0x1b, side @ (b'(' | b')'), set] = escape else {
            return None;
        };
        let (charset, shown) = match set {
            b'0' => (Charset::Lines, b'0'),
            _ => (Charset::Plain, b'B'),
        };
        self.sets[usize::from(side == b')')] = charset;
        Some([0x1b, side, shown])
    }

    /// Executes SO or SI.
    pub(super) fn shift(&mut self, control: u8) {
        self.used = usize::from(control == 0x0e);
    }

    pub(super) fn current(self) -> Charset {
        self.sets[self.used]
    }

    /// Returns the sequences that set this state in a terminal.
    pub(super) fn formatted(self) -> String {
        let name = |set| if set == Charset::Lines { '0' } else { 'B' };
        let shift = if self.used == 1 { '\x0e' } else { '\x0f' };
        format!("\x1b({}\x1b){}{shift}", name(self.sets[0]), name(self.sets[1]))
    }
}

/// Returns whether text needs no cleaning.
pub(super) fn is_clean(bytes: &[u8]) -> bool {
    bytes.is_ascii() || std::str::from_utf8(bytes).is_ok_and(|text| !text.chars().any(is_unwanted))
}

/// Returns text without invalid characters and without 8-bit control characters, which some
/// terminals execute even as UTF-8.
pub(super) fn clean(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) if is_clean(bytes) => Cow::Borrowed(text),
        _ => Cow::Owned(cleaned(&String::from_utf8_lossy(bytes))),
    }
}

fn is_unwanted(character: char) -> bool {
    matches!(character, '\u{80}'..='\u{9f}' | char::REPLACEMENT_CHARACTER)
}

fn cleaned(text: &str) -> String {
    text.chars()
        .filter_map(|character| match character {
            char::REPLACEMENT_CHARACTER => Some(REPLACEMENT),
            '\u{80}'..='\u{9f}' => None,
            other => Some(other),
        })
        .collect()
}

/// Replaces small letters by the characters of the line drawing set.
pub(super) fn drawn(text: &str) -> String {
    const LINES: [char; 31] = [
        '◆', '▒', '␉', '␌', '␍', '␊', '°', '±', '␤', '␋', '┘', '┐', '┌', '└', '┼', '⎺', '⎻', '─',
        '⎼', '⎽', '├', '┤', '┴', '┬', '│', '≤', '≥', 'π', '≠', '£', '·',
    ];
    text.chars()
        .map(|character| match character {
            '`'..='~' => LINES[character as usize - '`' as usize],
            other => other,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clean_removes_8_bit_controls_and_replaces_invalid_characters() {
        assert_eq!(clean("a\u{9b}c\u{e9}".as_bytes()), "ac\u{e9}");
        assert_eq!(clean(b"a\xffb"), "a\u{25a1}b");
        assert_eq!(clean("\u{fffd}".as_bytes()), "\u{25a1}");
        assert!(matches!(clean("漢字".as_bytes()), Cow::Borrowed("漢字")));
    }

    #[test]
    fn line_drawing_set_draws_boxes() {
        let mut charsets = Charsets::default();
        assert_eq!(charsets.designate(b"\x1b(0"), Some(*b"\x1b(0"));
        assert_eq!(charsets.current(), Charset::Lines);
        assert_eq!(drawn("lqqk"), "┌──┐");
        assert_eq!(charsets.designate(b"\x1b(A"), Some(*b"\x1b(B"));
        assert_eq!(charsets.current(), Charset::Plain);
        charsets.designate(b"\x1b)0");
        charsets.shift(0x0e);
        assert_eq!(charsets.current(), Charset::Lines);
        assert_eq!(charsets.formatted(), "\x1b(B\x1b)0\x0e");
    }
}
