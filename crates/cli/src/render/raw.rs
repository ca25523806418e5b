//! Bytes of somebody else's file on a terminal.

use segue_core::rules::display::is_misleading;

/// Takes the power over a terminal out of bytes that come in pieces.
#[derive(Debug, Default)]
pub(crate) struct Harmless {
    /// The beginning of a character that the piece before ended in.
    begun: Vec<u8>,
}

impl Harmless {
    /// Returns what can be shown of the next piece. Without the characters that begin them the rest
    /// of control sequences is plain text.
    pub(crate) fn text(&mut self, piece: &[u8]) -> String {
        let mut bytes = std::mem::take(&mut self.begun);
        bytes.extend_from_slice(piece);
        let whole = bytes.len() - unfinished(&bytes);
        self.begun = bytes.split_off(whole);
        let text = String::from_utf8_lossy(&bytes);
        text.chars().filter(|&c| matches!(c, '\n' | '\t') || !is_misleading(c)).collect()
    }
}

/// Returns how many of the last bytes begin a character that may go on.
fn unfinished(bytes: &[u8]) -> usize {
    let last = bytes.utf8_chunks().last().map_or(&[][..], |chunk| chunk.invalid());
    let may_go_on = std::str::from_utf8(last).is_err_and(|error| error.error_len().is_none());
    if may_go_on { last.len() } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_survive_any_cut_and_control_characters_none() {
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
