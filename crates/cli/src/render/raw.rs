//! Makes the bytes of a vendor's transcript safe for a terminal.

use segue_core::rules::display::is_misleading;

/// Removes control characters from bytes that arrive in pieces.
#[derive(Debug, Default)]
pub(crate) struct Harmless {
    /// The first bytes of a UTF-8 character at the end of the previous piece. The other bytes come
    /// with the next piece.
    begun: Vec<u8>,
}

impl Harmless {
    /// Returns the printable text of the next piece. Only the control characters are removed. The
    /// rest of a control sequence, such as `[31m`, stays: without its first character it is plain
    /// text.
    pub(crate) fn text(&mut self, piece: &[u8]) -> String {
        let mut bytes = std::mem::take(&mut self.begun);
        bytes.extend_from_slice(piece);
        let whole = bytes.len() - unfinished(&bytes);
        self.begun = bytes.split_off(whole);
        let text = String::from_utf8_lossy(&bytes);
        text.chars().filter(|&c| matches!(c, '\n' | '\t') || !is_misleading(c)).collect()
    }
}

/// Returns the length of an incomplete UTF-8 character at the end of the bytes, or 0.
fn unfinished(bytes: &[u8]) -> usize {
    let last = bytes.utf8_chunks().last().map_or(&[][..], |chunk| chunk.invalid());
    let may_go_on = std::str::from_utf8(last).is_err_and(|error| error.error_len().is_none());
    if may_go_on { last.len() } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn multibyte_characters_survive_any_cut_and_control_characters_are_removed() {
        let text = "a\u{1b}[31mü漢🦀\u{9b}2J\tx\r\n\u{202e}".as_bytes();
        for cut in 0..=text.len() {
            let mut harmless = Harmless::default();
            let shown = harmless.text(&text[..cut]) + &harmless.text(&text[cut..]);
            assert_eq!(shown, "a[31mü漢🦀2J\tx\n", "cut at {cut}");
        }
        let mut harmless = Harmless::default();
        assert_eq!(harmless.text(b"\xff\xfe ok \xc3"), "\u{fffd}\u{fffd} ok ");
        assert_eq!(harmless.text(b"x"), "\u{fffd}x");
    }
}
