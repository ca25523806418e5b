//! The keys of scroll mode.

use crate::hold::terminal::{Kind, Scanner, Sequence, Token};

use super::search::Direction;

/// A key, independent of its encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
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

/// What a key does in scroll mode, except while a search is typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
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
pub(super) fn action(key: Key) -> Action {
    match key {
        Key::Up | Key::Character('k') | Key::Control('p') => Action::Up,
        Key::Down | Key::Character('j') | Key::Control('n') => Action::Down,
        Key::Control('u') => Action::HalfPageUp,
        Key::Control('d') => Action::HalfPageDown,
        Key::PageUp | Key::Control('b') | Key::Character('b') => Action::PageUp,
        Key::PageDown | Key::Control('f') | Key::Character('f') => Action::PageDown,
        Key::Home | Key::Character('g' | '<') => Action::First,
        Key::End | Key::Character('G' | '>') => Action::Last,
        Key::WheelUp => Action::WheelUp,
        Key::WheelDown => Action::WheelDown,
        Key::Character('/') => Action::Search(Direction::Forward),
        Key::Character('?') => Action::Search(Direction::Backward),
        Key::Character('n') => Action::Next,
        Key::Character('N') => Action::Previous,
        Key::Character('v' | 'V' | ' ') => Action::Select,
        Key::Character('y') | Key::Enter => Action::Copy,
        Key::Escape => Action::Cancel,
        Key::Character('q') | Key::Control('c') => Action::Leave,
        _ => Action::Nothing,
    }
}

/// Decodes keys. It keeps sequences that a read has cut.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    scanner: Scanner,
    pasting: bool,
    /// Whether `ESC O` has arrived, which is followed by the letter of a key.
    is_letter_next: bool,
}

impl Decoder {
    /// Decodes input. Pasted text is decoded as characters.
    pub(crate) fn take(&mut self, bytes: &[u8]) -> Vec<Key> {
        let mut keys = Vec::new();
        self.scanner.push(bytes);
        loop {
            if self.pasting {
                let mut pasted = Vec::new();
                self.pasting = !self.scanner.take_paste(&mut pasted);
                let text = String::from_utf8_lossy(&pasted);
                let text = text.trim_end_matches("\x1b[201~");
                let shown = text.chars().filter(|character| !character.is_control());
                keys.extend(shown.map(Key::Character));
            }
            let Some(token) = self.scanner.next() else { return keys };
            self.pasting = token.begins_paste();
            if token.bytes == b"\x1bO" {
                self.is_letter_next = true;
            } else if !self.pasting {
                decode(token, std::mem::take(&mut self.is_letter_next), &mut keys);
            }
        }
    }

    /// Returns the key of the incomplete input, after a pause in which its rest did not arrive.
    pub(crate) fn after_pause(&mut self) -> Vec<Key> {
        if self.pasting {
            return Vec::new();
        }
        match self.scanner.take_rest().as_slice() {
            [] => Vec::new(),
            [0x1b] => vec![Key::Escape],
            _ => vec![Key::Other],
        }
    }
}

fn decode(token: Token<'_>, is_letter: bool, keys: &mut Vec<Key>) {
    match token.kind {
        Kind::Text => {
            let text = String::from_utf8_lossy(token.bytes);
            let mut characters = text.chars();
            keys.extend(is_letter.then(|| characters.next().map_or(Key::Other, of_letter)));
            keys.extend(characters.map(of_character));
        }
        Kind::Control => {
            keys.extend(token.bytes.iter().map(|byte| of_character(char::from(*byte))));
        }
        Kind::Escape => keys.push(Key::Other),
        Kind::Csi => keys.extend(Sequence::parse(token.bytes).and_then(|it| of_sequence(&it))),
        Kind::Osc | Kind::Dcs => {}
    }
}

fn of_character(character: char) -> Key {
    match character {
        '\r' | '\n' => Key::Enter,
        '\x1b' => Key::Escape,
        '\x08' | '\x7f' => Key::Backspace,
        '\x01'..='\x1a' => Key::Control(char::from(character as u8 + 0x60)),
        character if character.is_control() => Key::Other,
        character => Key::Character(character),
    }
}

/// Returns the key of the letter after `ESC O`.
fn of_letter(letter: char) -> Key {
    match letter {
        'A' => Key::Up,
        'B' => Key::Down,
        'H' => Key::Home,
        'F' => Key::End,
        'M' => Key::Enter,
        _ => Key::Other,
    }
}

/// Returns the key of a control sequence. `None` if it is a report or a release, and nothing was
/// pressed.
fn of_sequence(sequence: &Sequence<'_>) -> Option<Key> {
    const RELEASED: u16 = 3;
    if sequence.parts(1).nth(1).flatten() == Some(RELEASED) {
        return None;
    }
    Some(match (sequence.prefix, sequence.last) {
        (0, b'A') => Key::Up,
        (0, b'B') => Key::Down,
        (0, b'H') => Key::Home,
        (0, b'F') => Key::End,
        (0, b'I' | b'O') if sequence.is_bare() => return None,
        (0, b'u') => of_code(sequence.number(0)?, sequence.number(1)),
        (0, b'~') => match sequence.number(0)? {
            1 | 7 => Key::Home,
            4 | 8 => Key::End,
            5 => Key::PageUp,
            6 => Key::PageDown,
            27 => of_code(sequence.number(2)?, sequence.number(1)),
            _ => Key::Other,
        },
        (b'<', b'M') => match sequence.number(0)? & !0b1_1100 {
            64 => Key::WheelUp,
            65 => Key::WheelDown,
            _ => return None,
        },
        (b'<' | b'?', _) => return None,
        _ => Key::Other,
    })
}

fn of_code(code: u16, modifiers: Option<u16>) -> Key {
    const CONTROL: u16 = 4;
    let character = char::from_u32(u32::from(code)).unwrap_or('\0');
    let is_control = modifiers.unwrap_or(1).saturating_sub(1) & CONTROL != 0;
    match of_character(character) {
        Key::Character(letter) if is_control => Key::Control(letter.to_ascii_lowercase()),
        key => key,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_decoded_in_every_encoding() {
        let table: [(&[u8], &[Key]); 22] = [
            (b"jk", &[Key::Character('j'), Key::Character('k')]),
            ("é漢".as_bytes(), &[Key::Character('é'), Key::Character('漢')]),
            (b"\x15\x04", &[Key::Control('u'), Key::Control('d')]),
            (b"\r", &[Key::Enter]),
            (b"\x7f\x08", &[Key::Backspace, Key::Backspace]),
            (b"\x1b[A\x1b[B", &[Key::Up, Key::Down]),
            (b"\x1bOAA\x1bOx", &[Key::Up, Key::Character('A'), Key::Other]),
            (b"\x1b[5~\x1b[6~", &[Key::PageUp, Key::PageDown]),
            (b"\x1b[H\x1b[F\x1b[1~\x1b[4~", &[Key::Home, Key::End, Key::Home, Key::End]),
            (b"\x1b[<64;1;2M\x1b[<65;1;2M", &[Key::WheelUp, Key::WheelDown]),
            (b"\x1b[<0;1;2M\x1b[<0;1;2m\x1b[<35;1;1M", &[]),
            (b"\x1b[I\x1b[O\x1b[?62c", &[]),
            (b"\x1b[106u", &[Key::Character('j')]),
            (b"\x1b[117;5u", &[Key::Control('u')]),
            (b"\x1b[27;5;117~", &[Key::Control('u')]),
            (b"\x1b[106;1:3u", &[]),
            (b"\x1b[27u", &[Key::Escape]),
            (b"\x1b[13u", &[Key::Enter]),
            (
                b"\x1b[200~q\x1b[Ax\x1b[201~j",
                &[
                    Key::Character('q'),
                    Key::Character('['),
                    Key::Character('A'),
                    Key::Character('x'),
                    Key::Character('j'),
                ],
            ),
            (b"\x1b[3~", &[Key::Other]),
            (b"\x1b]11;x\x07", &[]),
            (b"\x00", &[Key::Other]),
        ];
        for (bytes, keys) in table {
            let shown = bytes.escape_ascii().to_string();
            assert_eq!(Decoder::default().take(bytes), keys, "{shown:?}");
        }
    }

    #[test]
    fn escape_alone_is_decoded_after_a_pause() {
        let mut decoder = Decoder::default();
        assert_eq!(decoder.take(b"\x1b"), []);
        assert_eq!(decoder.after_pause(), [Key::Escape]);
        assert_eq!(decoder.after_pause(), []);
        assert_eq!(decoder.take(b"\x1b[A"), [Key::Up]);
    }
}
