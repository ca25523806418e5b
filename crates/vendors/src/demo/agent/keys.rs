//! Converts the bytes of a terminal to keys.

use std::mem;
use std::time::Duration;

/// How long the agent waits for the rest of an escape sequence.
pub(super) const ESCAPE_WAIT: Duration = Duration::from_millis(50);

const PASTE_END: &[u8] = b"\x1b[201~";

/// A key, a paste or another input of the terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum DemoKey {
    Char(char),
    Enter,
    Backspace,
    Delete,
    Left,
    Right,
    Home,
    End,
    Escape,
    /// A letter that was pressed together with the control key.
    Control(char),
    Paste(String),
    /// A mouse report, as the terminal sent it.
    Mouse(String),
    /// A response of the terminal, a focus report, or a key that has no meaning here.
    Other,
}

/// Converts bytes to keys. A key may be split between two reads.
#[derive(Debug, Default)]
pub(super) struct KeyReader {
    pending: Vec<u8>,
    paste: Option<Vec<u8>>,
}

enum NextKey {
    Key(DemoKey, usize),
    PasteBegins(usize),
    Incomplete,
}

impl KeyReader {
    /// Appends bytes, and returns the keys that are complete.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> Vec<DemoKey> {
        let mut keys = Vec::new();
        self.pending.extend(bytes);
        loop {
            if self.paste.is_some() && !self.read_paste(&mut keys) {
                return keys;
            }
            match next_key(&self.pending) {
                NextKey::Key(key, length) => {
                    self.pending.drain(..length);
                    keys.push(key);
                }
                NextKey::PasteBegins(length) => {
                    self.pending.drain(..length);
                    self.paste = Some(Vec::new());
                }
                NextKey::Incomplete => return keys,
            }
        }
    }

    /// Returns whether an incomplete sequence waits for more bytes.
    pub(super) fn is_waiting(&self) -> bool {
        self.paste.is_none() && !self.pending.is_empty()
    }

    /// Ends the wait for an incomplete sequence. A lone escape byte becomes `DemoKey::Escape`, and
    /// any other sequence becomes `DemoKey::Other`.
    pub(super) fn flush(&mut self) -> Vec<DemoKey> {
        if !self.is_waiting() {
            return Vec::new();
        }
        let pending = mem::take(&mut self.pending);
        vec![if pending == b"\x1b" { DemoKey::Escape } else { DemoKey::Other }]
    }

    /// Moves the pending bytes into the paste. Returns whether the paste is complete.
    fn read_paste(&mut self, keys: &mut Vec<DemoKey>) -> bool {
        let Some(paste) = &mut self.paste else { return true };
        // The end marker may be split between two reads.
        let from = paste.len().saturating_sub(PASTE_END.len());
        paste.append(&mut self.pending);
        let end = paste[from..].windows(PASTE_END.len()).position(|window| window == PASTE_END);
        let Some(end) = end.map(|at| at + from) else { return false };
        self.pending = paste.split_off(end + PASTE_END.len());
        paste.truncate(end);
        let text = String::from_utf8_lossy(paste).replace("\r\n", "\n").replace('\r', "\n");
        keys.push(DemoKey::Paste(text));
        self.paste = None;
        true
    }
}

fn next_key(bytes: &[u8]) -> NextKey {
    match bytes {
        [] => NextKey::Incomplete,
        [0x1b, rest @ ..] => escape(rest),
        [b'\r', ..] => NextKey::Key(DemoKey::Enter, 1),
        [b'\n' | b'\t', ..] => NextKey::Key(DemoKey::Char(char::from(bytes[0])), 1),
        [0x7f | 0x08, ..] => NextKey::Key(DemoKey::Backspace, 1),
        [byte @ 1..=26, ..] => NextKey::Key(DemoKey::Control(char::from(byte + b'a' - 1)), 1),
        [0..0x20, ..] => NextKey::Key(DemoKey::Other, 1),
        _ => character(bytes),
    }
}

fn escape(rest: &[u8]) -> NextKey {
    match rest {
        [] => NextKey::Incomplete,
        [b'[', sequence @ ..] => control_sequence(sequence),
        [b'O'] => NextKey::Incomplete,
        [b'O', last, ..] => NextKey::Key(cursor_key(*last), 3),
        [b']' | b'P' | b'_' | b'^', text @ ..] => control_string(text),
        // Escape followed by Enter inserts a line break into the message.
        [b'\r', ..] => NextKey::Key(DemoKey::Char('\n'), 2),
        _ => NextKey::Key(DemoKey::Escape, 1),
    }
}

fn control_sequence(sequence: &[u8]) -> NextKey {
    let Some(end) = sequence.iter().position(|byte| (0x40..=0x7e).contains(byte)) else {
        return NextKey::Incomplete;
    };
    let length = end + 3;
    let parameters = String::from_utf8_lossy(&sequence[..end]);
    let key = match (&*parameters, sequence[end]) {
        ("200", b'~') => return NextKey::PasteBegins(length),
        ("1" | "7", b'~') => DemoKey::Home,
        ("4" | "8", b'~') => DemoKey::End,
        ("3", b'~') => DemoKey::Delete,
        (report, last @ (b'M' | b'm')) if report.starts_with('<') => {
            DemoKey::Mouse(format!("{}{}", &report[1..], char::from(last)))
        }
        ("", last) => cursor_key(last),
        _ => DemoKey::Other,
    };
    NextKey::Key(key, length)
}

fn cursor_key(last: u8) -> DemoKey {
    match last {
        b'C' => DemoKey::Right,
        b'D' => DemoKey::Left,
        b'H' => DemoKey::Home,
        b'F' => DemoKey::End,
        _ => DemoKey::Other,
    }
}

/// Skips a response of the terminal, up to a bell or a string terminator.
fn control_string(text: &[u8]) -> NextKey {
    let bell = text.iter().position(|byte| *byte == 0x07).map(|at| at + 3);
    let terminator = text.windows(2).position(|pair| pair == b"\x1b\\").map(|at| at + 4);
    match bell.into_iter().chain(terminator).min() {
        Some(length) => NextKey::Key(DemoKey::Other, length),
        None => NextKey::Incomplete,
    }
}

fn character(bytes: &[u8]) -> NextKey {
    let length = match bytes[0] {
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => 1,
    };
    let Some(encoded) = bytes.get(..length) else {
        return NextKey::Incomplete;
    };
    match std::str::from_utf8(encoded) {
        Ok(text) => NextKey::Key(text.chars().next().map_or(DemoKey::Other, DemoKey::Char), length),
        Err(_) => NextKey::Key(DemoKey::Char(char::REPLACEMENT_CHARACTER), 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(bytes: &[u8]) -> Vec<DemoKey> {
        KeyReader::default().feed(bytes)
    }

    #[test]
    fn multibyte_characters_and_control_keys_are_read() {
        let wanted = [
            DemoKey::Char('a'),
            DemoKey::Char('ü'),
            DemoKey::Char('日'),
            DemoKey::Char('🙂'),
            DemoKey::Enter,
        ];
        assert_eq!(keys("aü日🙂\r".as_bytes()), wanted);
        assert_eq!(
            keys(b"\x03\x04\x7f"),
            [DemoKey::Control('c'), DemoKey::Control('d'), DemoKey::Backspace]
        );
        assert_eq!(
            keys(b"\x1b[D\x1bOC\x1b[H\x1b[4~\x1b[3~"),
            [DemoKey::Left, DemoKey::Right, DemoKey::Home, DemoKey::End, DemoKey::Delete]
        );
    }

    #[test]
    fn a_paste_of_many_lines_is_one_key() {
        let paste = b"\x1b[200~one\rtwo\r\n\x1b[Dthree\x1b[201~\r";
        let text = "one\ntwo\n\u{1b}[Dthree".to_owned();
        assert_eq!(keys(paste), [DemoKey::Paste(text), DemoKey::Enter]);
    }

    #[test]
    fn keys_may_be_split_between_reads() {
        let bytes = "x\u{1b}[200~日\u{1b}[201~\u{1b}[C\u{1b}]11;rgb:0/0/0\u{7}é".as_bytes();
        let mut reader = KeyReader::default();
        let found: Vec<DemoKey> = bytes.iter().flat_map(|byte| reader.feed(&[*byte])).collect();
        let wanted = [
            DemoKey::Char('x'),
            DemoKey::Paste("日".into()),
            DemoKey::Right,
            DemoKey::Other,
            DemoKey::Char('é'),
        ];
        assert_eq!(found, wanted);
        assert!(!reader.is_waiting());
    }

    #[test]
    fn flush_converts_a_lone_escape_byte_to_a_key() {
        let mut reader = KeyReader::default();
        assert_eq!(reader.feed(b"\x1b"), []);
        assert!(reader.is_waiting());
        assert_eq!(reader.flush(), [DemoKey::Escape]);
        assert_eq!(keys(b"\x1by"), [DemoKey::Escape, DemoKey::Char('y')]);
    }

    #[test]
    fn responses_of_the_terminal_are_not_text() {
        let answers =
            b"\x1b[?62;22c\x1b[12;3R\x1b]11;rgb:1/2/3\x1b\\\x1bP>|term\x1b\\\x1b[I\x1b[?0u";
        assert_eq!(keys(answers), vec![DemoKey::Other; 6]);
        assert_eq!(keys(b"\x1b[<0;10;5M"), [DemoKey::Mouse("0;10;5M".into())]);
    }

    #[test]
    fn invalid_utf8_does_not_affect_the_following_keys() {
        let wanted = [DemoKey::Char('\u{fffd}'), DemoKey::Char('a')];
        assert_eq!(keys(b"\xffa"), wanted);
        assert_eq!(keys(b"\xe9a \r").last(), Some(&DemoKey::Enter));
    }
}
