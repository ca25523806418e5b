//! The meaning of a key for this program, in all encodings.

use super::{AttachCommand, ScrollEntry};
use crate::hold::terminal::{Sequence, Token, TokenKind};

const BACKSLASH: u16 = 92;
const SLASH: u16 = 47;
const SHIFT: u16 = 1;
const CONTROL: u16 = 4;
/// Caps lock and num lock. They are reported as modifiers, and are ignored.
const LOCKS: u16 = 64 | 128;
/// The codes of shift, control, alt and the like if they are reported as keys.
const MODIFIER_KEYS: std::ops::RangeInclusive<u16> = 57441..=57454;
const LOCK_KEYS: std::ops::RangeInclusive<u16> = 57358..=57360;
/// The number of Page Up in `CSI … ~`.
const PAGE_UP: u16 = 5;

/// Returns whether Page Up was pressed without modifiers.
pub(super) fn is_page_up(sequence: &Sequence<'_>) -> bool {
    const RELEASED: u16 = 3;
    let mut parts = sequence.parts(1);
    let modifiers = parts.next().flatten().unwrap_or(1).saturating_sub(1) & !LOCKS;
    let event = parts.next().flatten().unwrap_or(1);
    sequence.number(0) == Some(PAGE_UP) && modifiers == 0 && event != RELEASED
}

/// The meaning of a key for this program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyMeaning {
    Prefix(Press),
    /// A command, but only after the prefix.
    Command(AttachCommand),
    /// The release of a key, or a modifier alone.
    Ignored,
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Press {
    First,
    /// Repeated because the key is held down.
    Again,
}

impl KeyMeaning {
    pub(super) fn of(token: Token<'_>) -> Self {
        match (token.kind, token.bytes) {
            (TokenKind::Control, [0x1c]) => Self::Prefix(Press::First),
            (TokenKind::Text, [character, ..]) => Self::of_character(u16::from(*character)),
            (TokenKind::Csi, bytes) => {
                Sequence::parse(bytes).map_or(Self::Other, |sequence| Self::encoded(&sequence))
            }
            _ => Self::Other,
        }
    }

    fn of_character(character: u16) -> Self {
        match u8::try_from(character) {
            Ok(b'd') => Self::Command(AttachCommand::Detach),
            Ok(b'[') => Self::Command(AttachCommand::Scroll(ScrollEntry::Key)),
            Ok(b'?') => Self::Command(AttachCommand::Help),
            Ok(b'm') => Self::Command(AttachCommand::Mouse),
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
            (0, b'~') if is_page_up(sequence) => {
                return Self::Command(AttachCommand::Scroll(ScrollEntry::PageUp));
            }
            _ => return Self::Other,
        };
        let modifiers = modifiers.unwrap_or(1).saturating_sub(1) & !LOCKS;
        match (code.unwrap_or(0), modifiers, event.unwrap_or(1)) {
            (_, _, 3) => Self::Ignored,
            (code, _, _) if MODIFIER_KEYS.contains(&code) || LOCK_KEYS.contains(&code) => {
                Self::Ignored
            }
            (BACKSLASH, CONTROL, 2) => Self::Prefix(Press::Again),
            (BACKSLASH, CONTROL, _) => Self::Prefix(Press::First),
            (code, 0, _) => Self::of_character(code),
            (code, SHIFT, _) => Self::of_shifted(code, sequence),
            _ => Self::Other,
        }
    }

    /// Returns the meaning of a key with shift. Terminals report the character, or the key, or both.
    fn of_shifted(code: u16, sequence: &Sequence<'_>) -> Self {
        let shifted = sequence.parts(0).nth(1).flatten().filter(|_| sequence.last == b'u');
        match (shifted, code) {
            (Some(character), _) => Self::of_character(character),
            (None, SLASH) => Self::of_character(u16::from(b'?')),
            // A capital letter is not a command.
            (None, 97..=122) => Self::Other,
            (None, code) => Self::of_character(code),
        }
    }
}
