//! The keys of scroll mode.

use crate::hold::terminal::{Sequence, Token, TokenKind, TokenScanner};

use super::search::Direction;

/// A key, independent of its encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ScrollKey {
    Character(char),
    Control(char),
    Enter,
    Escape,
    Backspace,
    Up,
    Down,
    PageUp,
    PageDown,
    Home,
    End,
    WheelUp,
    WheelDown,
    /// Any other key.
    Other,
}

/// The action of a key in scroll mode, except while a search text is typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScrollAction {
    Up,
    Down,
    HalfPageUp,
    HalfPageDown,
    PageUp,
    PageDown,
    First,
    Last,
    WheelUp,
    WheelDown,
    Search(Direction),
    /// Repeat the search.
    Next,
    /// Repeat the search in the other direction.
    Previous,
    Select,
    Copy,
    /// End the selection. Without a selection, leave scroll mode.
    Cancel,
    Leave,
    Nothing,
}

/// Returns the action of a key.
pub(super) fn action(key: ScrollKey) -> ScrollAction {
    match key {
        ScrollKey::Up | ScrollKey::Character('k') | ScrollKey::Control('p') => ScrollAction::Up,
        ScrollKey::Down | ScrollKey::Character('j') | ScrollKey::Control('n') => ScrollAction::Down,
        ScrollKey::Control('u') => ScrollAction::HalfPageUp,
        ScrollKey::Control('d') => ScrollAction::HalfPageDown,
        ScrollKey::PageUp | ScrollKey::Control('b') | ScrollKey::Character('b') => {
            ScrollAction::PageUp
        }
        ScrollKey::PageDown | ScrollKey::Control('f') | ScrollKey::Character('f') => {
            ScrollAction::PageDown
        }
        ScrollKey::Home | ScrollKey::Character('g' | '<') => ScrollAction::First,
        ScrollKey::End | ScrollKey::Character('G' | '>') => ScrollAction::Last,
        ScrollKey::WheelUp => ScrollAction::WheelUp,
        ScrollKey::WheelDown => ScrollAction::WheelDown,
        ScrollKey::Character('/') => ScrollAction::Search(Direction::Forward),
        ScrollKey::Character('?') => ScrollAction::Search(Direction::Backward),
        ScrollKey::Character('n') => ScrollAction::Next,
        ScrollKey::Character('N') => ScrollAction::Previous,
        ScrollKey::Character('v' | 'V' | ' ') => ScrollAction::Select,
        ScrollKey::Character('y') | ScrollKey::Enter => ScrollAction::Copy,
        ScrollKey::Escape => ScrollAction::Cancel,
        ScrollKey::Character('q') | ScrollKey::Control('c') => ScrollAction::Leave,
        _ => ScrollAction::Nothing,
    }
}

/// Decodes keys. A sequence can be spread over several reads.
#[derive(Debug, Default)]
pub(crate) struct KeyDecoder {
    scanner: TokenScanner,
    is_pasting: bool,
    /// Whether `ESC O` has arrived, which is followed by the letter of a key.
    is_letter_next: bool,
}

impl KeyDecoder {
    /// Decodes input. Pasted text is decoded as characters.
    pub(crate) fn take(&mut self, bytes: &[u8]) -> Vec<ScrollKey> {
        let mut keys = Vec::new();
        self.scanner.push(bytes);
        loop {
            if self.is_pasting {
                let mut pasted = Vec::new();
                self.is_pasting = !self.scanner.take_paste(&mut pasted);
                let text = String::from_utf8_lossy(&pasted);
                let text = text.trim_end_matches("\x1b[201~");
                let shown = text.chars().filter(|character| !character.is_control());
                keys.extend(shown.map(ScrollKey::Character));
            }
            let Some(token) = self.scanner.next() else { return keys };
            self.is_pasting = token.begins_paste();
            if token.bytes == b"\x1bO" {
                self.is_letter_next = true;
            } else if !self.is_pasting {
                decode(token, std::mem::take(&mut self.is_letter_next), &mut keys);
            }
        }
    }

    /// Returns the key of the incomplete input, after a pause in which its rest did not arrive.
    pub(crate) fn after_pause(&mut self) -> Vec<ScrollKey> {
        if self.is_pasting {
            return Vec::new();
        }
        match self.scanner.take_rest().as_slice() {
            [] => Vec::new(),
            [0x1b] => vec![ScrollKey::Escape],
            _ => vec![ScrollKey::Other],
        }
    }
}

fn decode(token: Token<'_>, is_letter: bool, keys: &mut Vec<ScrollKey>) {
    match token.kind {
        TokenKind::Text => {
            let text = String::from_utf8_lossy(token.bytes);
            let mut characters = text.chars();
            keys.extend(is_letter.then(|| characters.next().map_or(ScrollKey::Other, of_letter)));
            keys.extend(characters.map(of_character));
        }
        TokenKind::Control => {
            keys.extend(token.bytes.iter().map(|byte| of_character(char::from(*byte))));
        }
        TokenKind::Escape => keys.push(ScrollKey::Other),
        TokenKind::Csi => keys.extend(Sequence::parse(token.bytes).and_then(|it| of_sequence(&it))),
        TokenKind::Osc | TokenKind::Dcs => {}
    }
}

fn of_character(character: char) -> ScrollKey {
    match character {
        '\r' | '\n' => ScrollKey::Enter,
        '\x1b' => ScrollKey::Escape,
        '\x08' | '\x7f' => ScrollKey::Backspace,
        '\x01'..='\x1a' => ScrollKey::Control(char::from(character as u8 + 0x60)),
        character if character.is_control() => ScrollKey::Other,
        character => ScrollKey::Character(character),
    }
}

/// Returns the key of the letter after `ESC O`.
fn of_letter(letter: char) -> ScrollKey {
    match letter {
        'A' => ScrollKey::Up,
        'B' => ScrollKey::Down,
        'H' => ScrollKey::Home,
        'F' => ScrollKey::End,
        'M' => ScrollKey::Enter,
        _ => ScrollKey::Other,
    }
}

/// Returns the key of a control sequence. `None` if the sequence is a report of the terminal or the
/// release of a key.
fn of_sequence(sequence: &Sequence<'_>) -> Option<ScrollKey> {
    const RELEASED: u16 = 3;
    if sequence.parts(1).nth(1).flatten() == Some(RELEASED) {
        return None;
    }
    Some(match (sequence.prefix, sequence.last) {
        (0, b'A') => ScrollKey::Up,
        (0, b'B') => ScrollKey::Down,
        (0, b'H') => ScrollKey::Home,
        (0, b'F') => ScrollKey::End,
        (0, b'I' | b'O') if sequence.is_bare() => return None,
        (0, b'u') => of_code(sequence.number(0)?, sequence.number(1)),
        (0, b'~') => match sequence.number(0)? {
            1 | 7 => ScrollKey::Home,
            4 | 8 => ScrollKey::End,
            5 => ScrollKey::PageUp,
            6 => ScrollKey::PageDown,
            27 => of_code(sequence.number(2)?, sequence.number(1)),
            _ => ScrollKey::Other,
        },
        (b'<', b'M') => match sequence.number(0)? & !0b1_1100 {
            64 => ScrollKey::WheelUp,
            65 => ScrollKey::WheelDown,
            _ => return None,
        },
        (b'<' | b'?', _) => return None,
        _ => ScrollKey::Other,
    })
}

fn of_code(code: u16, modifiers: Option<u16>) -> ScrollKey {
    const CONTROL: u16 = 4;
    let character = char::from_u32(u32::from(code)).unwrap_or('\0');
    let is_control = modifiers.unwrap_or(1).saturating_sub(1) & CONTROL != 0;
    match of_character(character) {
        ScrollKey::Character(letter) if is_control => {
            ScrollKey::Control(letter.to_ascii_lowercase())
        }
        key => key,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_decoded_in_every_encoding() {
        let table: [(&[u8], &[ScrollKey]); 22] = [
            (b"jk", &[ScrollKey::Character('j'), ScrollKey::Character('k')]),
            ("é漢".as_bytes(), &[ScrollKey::Character('é'), ScrollKey::Character('漢')]),
            (b"\x15\x04", &[ScrollKey::Control('u'), ScrollKey::Control('d')]),
            (b"\r", &[ScrollKey::Enter]),
            (b"\x7f\x08", &[ScrollKey::Backspace, ScrollKey::Backspace]),
            (b"\x1b[A\x1b[B", &[ScrollKey::Up, ScrollKey::Down]),
            (b"\x1bOAA\x1bOx", &[ScrollKey::Up, ScrollKey::Character('A'), ScrollKey::Other]),
            (b"\x1b[5~\x1b[6~", &[ScrollKey::PageUp, ScrollKey::PageDown]),
            (
                b"\x1b[H\x1b[F\x1b[1~\x1b[4~",
                &[ScrollKey::Home, ScrollKey::End, ScrollKey::Home, ScrollKey::End],
            ),
            (b"\x1b[<64;1;2M\x1b[<65;1;2M", &[ScrollKey::WheelUp, ScrollKey::WheelDown]),
            (b"\x1b[<0;1;2M\x1b[<0;1;2m\x1b[<35;1;1M", &[]),
            (b"\x1b[I\x1b[O\x1b[?62c", &[]),
            (b"\x1b[106u", &[ScrollKey::Character('j')]),
            (b"\x1b[117;5u", &[ScrollKey::Control('u')]),
            (b"\x1b[27;5;117~", &[ScrollKey::Control('u')]),
            (b"\x1b[106;1:3u", &[]),
            (b"\x1b[27u", &[ScrollKey::Escape]),
            (b"\x1b[13u", &[ScrollKey::Enter]),
            (
                b"\x1b[200~q\x1b[Ax\x1b[201~j",
                &[
                    ScrollKey::Character('q'),
                    ScrollKey::Character('['),
                    ScrollKey::Character('A'),
                    ScrollKey::Character('x'),
                    ScrollKey::Character('j'),
                ],
            ),
            (b"\x1b[3~", &[ScrollKey::Other]),
            (b"\x1b]11;x\x07", &[]),
            (b"\x00", &[ScrollKey::Other]),
        ];
        for (bytes, keys) in table {
            let shown = bytes.escape_ascii().to_string();
            assert_eq!(KeyDecoder::default().take(bytes), keys, "{shown:?}");
        }
    }

    #[test]
    fn escape_alone_is_decoded_after_a_pause() {
        let mut decoder = KeyDecoder::default();
        assert_eq!(decoder.take(b"\x1b"), []);
        assert_eq!(decoder.after_pause(), [ScrollKey::Escape]);
        assert_eq!(decoder.after_pause(), []);
        assert_eq!(decoder.take(b"\x1b[A"), [ScrollKey::Up]);
    }
}
