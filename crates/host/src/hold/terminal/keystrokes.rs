//! Text as it is typed into a terminal.

const PASTE: (&[u8], &[u8]) = (b"\x1b[200~", b"\x1b[201~");

/// Returns the bytes that type a text without sending it; none if nothing of it can be typed.
/// Other control characters than newline and tab would be keys, or end the paste: they are left
/// out.
pub(crate) fn keystrokes(text: &str, takes_pastes: bool) -> Option<Vec<u8>> {
    let is_typed = |character: &char| !character.is_control() || matches!(character, '\n' | '\t');
    let clean: String = text.chars().filter(is_typed).collect();
    if clean.is_empty() {
        return None;
    }
    if !takes_pastes {
        // A newline is Ctrl-J: Enter would send what there is so far.
        return Some(clean.into_bytes());
    }
    // As terminals paste: lines end as Enter would end them.
    let pasted = clean.replace('\n', "\r");
    Some([PASTE.0, pasted.as_bytes(), PASTE.1].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_cannot_end_its_own_paste() {
        let keys = keystrokes("a\x1b[201~\rb\u{9b}201~\x03\x7f\tc\r\nd é漢", true).unwrap();
        let wanted = "\x1b[200~a[201~b201~\tc\rd é漢\x1b[201~";
        assert_eq!(String::from_utf8(keys).unwrap(), wanted);
    }

    #[test]
    fn without_pastes_lines_are_parted_by_the_key_that_does_not_send() {
        assert_eq!(keystrokes("a\r\nb\x1b[A\n", false).unwrap(), b"a\nb[A\n");
    }

    #[test]
    fn what_cannot_be_typed_is_nothing() {
        assert_eq!(keystrokes("", true), None);
        assert_eq!(keystrokes("\x1b\r\0", false), None);
    }
}
