//! A few words for the person, where they cover nothing that the agent shows.

use vt100::Screen;

use crate::hold::terminal::Size;

/// What is shown on entry, the longest first.
pub(super) const ENTRY: [&str; 2] =
    [" detach with Ctrl-\\ d, all keys with Ctrl-\\ ? ", " detach with Ctrl-\\ d "];

/// Returns what shows the longest of these words that fits, and leaves the cursor where it is.
/// Empty if there is no place.
pub(super) fn painted(screen: &Screen, words: &[&str]) -> String {
    let placed = words.iter().find_map(|text| Some((place(screen, text.len())?, text)));
    placed.map(|(place, text)| painted_at(place, text)).unwrap_or_default()
}

/// Returns what shows the longest of these words that fits at the end of the first row.
pub(super) fn at_top(size: Size, words: &[&str]) -> String {
    let col = |text: &&str| size.cols.checked_sub(u16::try_from(text.len()).ok()?);
    let placed = words.iter().find_map(|text| Some((col(text)?, text)));
    placed.map(|(col, text)| painted_at((0, col), text)).unwrap_or_default()
}

fn painted_at((row, col): (u16, u16), text: &str) -> String {
    format!("\x1b7\x1b[?6l\x1b[{};{}H\x1b[0;7m{text}\x1b[m\x1b8", row + 1, col + 1)
}

/// Returns where so many columns are free: at the end of the first row that has them and is not
/// near the cursor, where the person's input is. Where no row has them, the first row is covered,
/// unless the cursor is near it.
fn place(screen: &Screen, width: usize) -> Option<(u16, u16)> {
    let (rows, cols) = screen.size();
    let col = cols.get().checked_sub(u16::try_from(width).ok()?)?;
    let (cursor, _) = screen.cursor_position();
    let is_near = |row: u16| row.abs_diff(cursor) <= 1;
    let is_free = |row: &u16| !is_near(*row) && is_blank(screen, *row, col);
    let free = (0..rows.get()).find(is_free);
    free.or((!is_near(0)).then_some(0)).map(|row| (row, col))
}

/// Tells whether a row shows nothing from this column on.
fn is_blank(screen: &Screen, row: u16, from: u16) -> bool {
    let (_, cols) = screen.size();
    // Also what is left of it: words do not stick together.
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
    fn the_place_covers_neither_text_nor_the_input_line() {
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
        for (what, drawn, expected) in table {
            assert_eq!(place(&screen(6, 40, &drawn), 10), expected, "{what}");
        }
        assert_eq!(place(&screen(6, 9, "\x1b[5;1H"), 10), None, "it is too narrow");
    }

    #[test]
    fn shorter_words_are_shown_where_the_long_ones_do_not_fit_and_the_cursor_stays() {
        let narrow = painted(&screen(10, 30, "\x1b[9;3H"), &ENTRY);
        assert!(narrow.contains(ENTRY[1]) && !narrow.contains(ENTRY[0]), "{narrow:?}");
        assert_eq!(painted(&screen(10, 8, "\x1b[9;3H"), &ENTRY), "");
        let shown =
            screen(10, 80, &format!("\x1b[9;3H{}", painted(&screen(10, 80, "\x1b[9;3H"), &ENTRY)));
        assert_eq!(shown.cursor_position(), (8, 2));
        assert!(shown.contents().contains("all keys with Ctrl-\\ ?"));
    }
}
