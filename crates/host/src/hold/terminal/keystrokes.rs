//! Converts text to the bytes that type it into a terminal.

const PASTE_BEGINS: &[u8] = b"\x1b[200~";
const PASTE_ENDS: &[u8] = b"\x1b[201~";

/// Returns the bytes that type a text without sending it. `None` if the text has no character that
/// can be typed. Control characters other than newline and tab are left out, because they would act
/// as keys or end the paste.
pub(crate) fn keystrokes(text: &str, takes_pastes: bool) -> Option<Vec<u8>> {
    let is_typed = |character: &char| !character.is_control() || matches!(character, '\n' | '\t');
    let clean: String = text.chars().filter(is_typed).collect();
    if clean.is_empty() {
        return None;
    }
    if !takes_pastes {
        // A newline is Ctrl-J. Enter would send the text before it.
        return Some(clean.into_bytes());
    }
    // Terminals end pasted lines as Enter would end them.
    let pasted = clean.replace('\n', "\r");
    Some([PASTE_BEGINS, pasted.as_bytes(), PASTE_ENDS].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_end_its_own_paste() {
        let keys = keystrokes("a\x1b[201~\rb\u{9b}201~\x03\x7f\tc\r\nd é漢", true).unwrap();
        let expected = "\x1b[200~a[201~b201~\tc\rd é漢\x1b[201~";
        assert_eq!(String::from_utf8(keys).unwrap(), expected);
    }

    #[test]
    fn without_bracketed_paste_lines_are_separated_by_ctrl_j() {
        assert_eq!(keystrokes("a\r\nb\x1b[A\n", false).unwrap(), b"a\nb[A\n");
    }

    #[test]
    fn text_that_cannot_be_typed_yields_none() {
        assert_eq!(keystrokes("", true), None);
        assert_eq!(keystrokes("\x1b\r\0", false), None);
    }
}
