//! A short notice for the user, at a place where it covers no text of the agent.

use vt100::Screen;

use crate::hold::terminal::{Size, non_zero};

/// A piece of output with at least this many bytes may end in the middle of a drawing.
const LARGE_BYTES: usize = 32 << 10;

/// The texts on entry, longest first.
pub(super) const ENTRY: [&str; 2] =
    [" detach with Ctrl-\\ d, all keys with Ctrl-\\ ? ", " detach with Ctrl-\\ d "];

/// A notice on an agent's screen. The agent may redraw the screen at any time.
pub(super) struct PlacedNotice {
    /// The agent's screen without the notice.
    model: vt100::Parser,
    place: (u16, u16),
    text: String,
}

impl PlacedNotice {
    /// Places the longest of these texts that fits on the first screen of an agent. `None` if none
    /// of them fits.
    pub(super) fn new(size: Size, output: [&[u8]; 2], texts: &[&str]) -> Option<Self> {
        let (rows, cols) = non_zero(size);
        let mut model = vt100::Parser::new(rows, cols, 0);
        output.into_iter().for_each(|bytes| model.process(bytes));
        let fits = |text: &&str| Some((place(model.screen(), text.len())?, (*text).to_owned()));
        let (place, text) = texts.iter().find_map(fits)?;
        Some(Self { model, place, text })
    }

    /// Returns the output that shows the notice. The cursor stays where it is.
    pub(super) fn painted(&self) -> String {
        painted_at(self.place, &self.text)
    }

    /// Processes later output of the agent. If the agent has erased its screen, returns the output
    /// that shows the notice again. Returns nothing if the agent may be in the middle of a drawing,
    /// or if the notice has scrolled up with the agent's lines.
    pub(super) fn after(&mut self, output: &[u8]) -> String {
        self.model.process(output);
        let has = |part: &[u8]| output.windows(part.len()).any(|window| window == part);
        let erases = has(b"\x1b[2J") || has(b"\x1b[J") || has(b"\x1b[0J");
        let saves_cursor = has(b"\x1b7") || has(b"\x1b[s");
        if !erases || saves_cursor || output.len() >= LARGE_BYTES {
            return String::new();
        }
        let screen = self.model.screen();
        let (row, col) = self.place;
        if !is_blank(screen, row, col) || is_near(screen, row) {
            let Some(place) = place(screen, self.text.len()) else { return String::new() };
            self.place = place;
        }
        self.painted()
    }
}

/// Returns the output that shows the longest of these texts that fits, at the end of the first row.
pub(super) fn at_top(size: Size, texts: &[&str]) -> String {
    let col = |text: &&str| size.cols.checked_sub(u16::try_from(text.len()).ok()?);
    let placed = texts.iter().find_map(|text| Some((col(text)?, text)));
    placed.map(|(col, text)| painted_at((0, col), text)).unwrap_or_default()
}

fn painted_at((row, col): (u16, u16), text: &str) -> String {
    format!("\x1b7\x1b[?6l\x1b[{};{}H\x1b[0;7m{text}\x1b[m\x1b8", row + 1, col + 1)
}

/// Returns a place for a notice of this width: the end of the first row that is blank there and not
/// near the cursor, where the user's input is. If there is no such row, returns the end of the first
/// row, unless the cursor is near it.
fn place(screen: &Screen, width: usize) -> Option<(u16, u16)> {
    let (rows, cols) = screen.size();
    let col = cols.get().checked_sub(u16::try_from(width).ok()?)?;
    let is_free = |row: &u16| !is_near(screen, *row) && is_blank(screen, *row, col);
    let free = (0..rows.get()).find(is_free);
    free.or((!is_near(screen, 0)).then_some(0)).map(|row| (row, col))
}

/// Returns whether the cursor is in a row or next to it.
fn is_near(screen: &Screen, row: u16) -> bool {
    row.abs_diff(screen.cursor_position().0) <= 1
}

/// Returns whether a row is blank from this column on.
fn is_blank(screen: &Screen, row: u16, from: u16) -> bool {
    let (_, cols) = screen.size();
    // The column before it must be blank, too, so that there is a space before the notice.
    (from.saturating_sub(1)..cols.get()).filter_map(|col| screen.cell(row, col)).all(|cell| {
        let is_empty = !cell.has_contents() || cell.contents() == " " && !cell.inverse();
        is_empty && cell.bgcolor() == vt100::Color::Default
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::num::NonZeroU16;

    fn screen(rows: u16, cols: u16, drawn: &str) -> Screen {
        let non_zero = |number| NonZeroU16::new(number).unwrap();
        let mut parser = vt100::Parser::new(non_zero(rows), non_zero(cols), 0);
        parser.process(drawn.as_bytes());
        parser.screen().clone()
    }

    #[test]
    fn notice_covers_neither_text_nor_the_input_line() {
        let banner = format!("\x1b[H{}", "=".repeat(40));
        let full: String = (1..=6).map(|row| format!("\x1b[{row};1H{}", "=".repeat(40))).collect();
        let table = [
            ("an empty row at the top", "\x1b[5;1H> ".to_owned(), Some((0, 30))),
            ("below a banner", format!("{banner}\x1b[5;1H> "), Some((1, 30))),
            ("an input line at the top", "> type here".to_owned(), Some((2, 30))),
            ("a coloured row", "\x1b[44m\x1b[2K\x1b[m\x1b[5;1H".to_owned(), Some((1, 30))),
            ("short text at the left", "text\x1b[5;1H".to_owned(), Some((0, 30))),
            ("text up to the place", format!("{}\x1b[5;1H", "x".repeat(30)), Some((1, 30))),
            ("no free row", format!("{full}\x1b[6;1H"), Some((0, 30))),
            ("no free row, the cursor at the top", format!("{full}\x1b[2;1H"), None),
        ];
        for (case, drawn, expected) in table {
            assert_eq!(place(&screen(6, 40, &drawn), 10), expected, "{case}");
        }
        assert_eq!(place(&screen(6, 9, "\x1b[5;1H"), 10), None, "the screen is too narrow");
    }

    #[test]
    fn shorter_text_is_shown_if_the_long_one_does_not_fit() {
        let painted = |rows, cols| {
            let notice = PlacedNotice::new(Size { rows, cols }, [b"\x1b[9", b";3H"], &ENTRY);
            notice.map(|notice| notice.painted()).unwrap_or_default()
        };
        let narrow = painted(10, 30);
        assert!(narrow.contains(ENTRY[1]) && !narrow.contains(ENTRY[0]), "{narrow:?}");
        assert_eq!(painted(10, 8), "");
        let shown = screen(10, 80, &format!("\x1b[9;3H{}", painted(10, 80)));
        assert_eq!(shown.cursor_position(), (8, 2));
        assert!(shown.contents().contains("all keys with Ctrl-\\ ?"));
    }

    #[test]
    fn notice_is_shown_again_after_the_agent_has_erased_its_screen() {
        let size = Size { rows: 10, cols: 80 };
        let table: [(&str, &[u8], bool); 6] = [
            ("the agent draws the same again", b"\x1b[2J\x1b[Hbanner\x1b[9;3H", true),
            ("the agent draws over the notice", b"\x1b[J\x1b[1;60Hclock\x1b[9;3H", true),
            ("the agent does not erase", b"\x1b[5;1Hmore\x1b[9;3H", false),
            ("the agent saves its cursor", b"\x1b[2J\x1b7\x1b[9;3H", false),
            ("the agent saves its cursor", b"\x1b[2J\x1b[s\x1b[9;3H", false),
            ("a large piece", &[b' '; LARGE_BYTES], false),
        ];
        for (case, output, is_shown) in table {
            let first: [&[u8]; 2] = [b"banner\x1b[9;3H", b""];
            let mut notice = PlacedNotice::new(size, first, &ENTRY).unwrap();
            let again = notice.after(output);
            assert_eq!(!again.is_empty(), is_shown, "{case}");
            let shown = screen(10, 80, &format!("{}{again}", "\x1b[9;3H"));
            assert_eq!(shown.contents().contains("detach with"), is_shown, "{case}");
        }
    }
}
