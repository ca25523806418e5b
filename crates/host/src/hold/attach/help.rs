//! The list of keys, drawn over the agent's screen.

use std::fmt::Write as _;

use crate::hold::terminal::Size;

/// All keys and their meanings. A row without a key is a heading.
const KEYS: [(&str, &str); 21] = [
    ("", "While you work with the agent"),
    ("Ctrl-\\ d", "detach; the agent goes on"),
    ("Ctrl-\\ [", "scroll through earlier output"),
    ("PageUp, wheel", "the same, unless the agent uses them itself"),
    ("Ctrl-\\ PageUp", "the same, always"),
    ("Ctrl-\\ m", "mouse for your terminal, or for the wheel"),
    ("Ctrl-\\ Ctrl-\\", "send Ctrl-\\ to the agent"),
    ("Ctrl-\\ ?", "these keys"),
    ("", "While you scroll"),
    ("Up Down k j", "one line"),
    ("PageUp PageDown", "one page"),
    ("Ctrl-U Ctrl-D", "half a page"),
    ("g G, Home End", "first, last line"),
    ("/ ?", "search down, up"),
    ("n N", "again, the other way"),
    ("v V Space", "select lines"),
    ("y Enter", "copy what is selected"),
    ("Esc", "end the selection, or leave"),
    ("q", "leave"),
    ("", ""),
    ("", "Any key closes this."),
];

/// Returns the output that shows the keys on a screen of this size. Rows that do not fit are cut
/// off.
pub(super) fn painted(size: Size) -> String {
    let (rows, cols) = (usize::from(size.rows), usize::from(size.cols));
    let lines: Vec<String> = KEYS.iter().map(|(key, meaning)| line(key, meaning)).collect();
    let width = lines.iter().map(String::len).max().unwrap_or(0).min(cols);
    let height = lines.len().min(rows);
    let (top, left) = ((rows - height) / 2 + 1, (cols - width) / 2 + 1);
    let mut out = String::from("\x1b[?2026h\x1b[?25l\x1b[?6l\x1b[r");
    // The last line tells the user how to close the list, and is always shown.
    let shown = lines.iter().take(height - 1).chain(lines.last());
    for (index, line) in shown.enumerate() {
        let row = top + index;
        // Writing to a string cannot fail. All characters are one column wide.
        let _infallible = write!(out, "\x1b[{row};{left}H\x1b[0;7m{line:width$.width$}\x1b[m");
    }
    out += "\x1b[?2026l";
    out
}

fn line(key: &str, meaning: &str) -> String {
    if key.is_empty() { format!(" {meaning} ") } else { format!("   {key:<16} {meaning} ") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::num::NonZeroU16;

    #[test]
    fn list_of_keys_fits_every_screen_size_and_shows_how_to_close_it() {
        for (rows, cols) in [(1, 2), (2, 10), (10, 40), (24, 80), (60, 200)] {
            let non_zero = |number| NonZeroU16::new(number).unwrap();
            let mut parser = vt100::Parser::new(non_zero(rows), non_zero(cols), 100);
            parser.process(painted(Size { rows, cols }).as_bytes());
            assert_eq!(parser.screen().scrollback_len(), 0, "{rows}x{cols}");
            let shown = parser.screen().contents();
            assert!(cols < 40 || shown.contains("Any key closes this."), "{shown}");
            assert!(rows < 24 || shown.contains("Ctrl-\\ d         detach"), "{shown}");
        }
    }

    #[test]
    fn every_character_of_the_keys_is_one_column_wide() {
        assert!(KEYS.iter().all(|(key, meaning)| key.is_ascii() && meaning.is_ascii()));
        assert!(KEYS.iter().all(|(key, _)| key.len() <= 16));
    }
}
