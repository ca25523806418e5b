//! Copies text to the clipboard of the user's terminal.

use crate::hold::styled_lines::is_shown;

/// At most this many bytes are copied. Terminals accept about 100,000 bytes after encoding.
pub(super) const MAX_COPIED_BYTES: usize = 74_000;

/// Returns the sequence that makes a terminal copy a text: `OSC 52`. Control characters are left
/// out, except for line ends. `None` if the text is too long.
pub(super) fn sequence(text: &str) -> Option<String> {
    let text: String = text.chars().filter(|it| *it == '\n' || is_shown(*it)).collect();
    (text.len() <= MAX_COPIED_BYTES).then(|| format!("\x1b]52;c;{}\x1b\\", base64(text.as_bytes())))
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut encoded = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let byte = |index: usize| u32::from(three.get(index).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for position in 0..4 {
            let letter = (bits >> (18 - 6 * position)) & 0x3f;
            let is_padding = position > three.len();
            encoded.push(if is_padding { '=' } else { char::from(LETTERS[letter as usize]) });
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_matches_the_examples_of_rfc_4648() {
        let table = [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
            ("\u{ff}\u{fe}", "w7/Dvg=="),
        ];
        for (text, encoded) in table {
            assert_eq!(base64(text.as_bytes()), encoded, "{text:?}");
        }
    }

    #[test]
    fn control_characters_are_not_copied_and_too_long_a_text_is_refused() {
        assert_eq!(sequence("a\nb"), Some("\x1b]52;c;YQpi\x1b\\".to_owned()));
        assert_eq!(sequence("a\x1b\u{9b}\r\u{202e}\nb"), sequence("a\nb"));
        assert!(sequence(&"x".repeat(MAX_COPIED_BYTES)).is_some());
        assert_eq!(sequence(&"x".repeat(MAX_COPIED_BYTES + 1)), None);
    }
}
