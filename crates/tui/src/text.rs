//! Texts in cells: widths, cutting and wrapping. Wide characters take two cells.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Stands for the part of a text that does not fit.
const CUT: char = '…';

/// Returns the number of cells of a text.
pub(crate) fn width(text: &str) -> usize {
    text.width()
}

/// Converts a number of cells for the terminal.
pub(crate) fn cells(count: usize) -> u16 {
    u16::try_from(count).unwrap_or(u16::MAX)
}

/// Returns the beginning of a text that fits into `columns` cells. A cut is marked.
pub(crate) fn fitted(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    if columns == 0 {
        return String::new();
    }
    let mut kept = String::new();
    let mut used = 0;
    for character in text.chars() {
        let next = used + character.width().unwrap_or(0);
        if next > columns - 1 {
            break;
        }
        used = next;
        kept.push(character);
    }
    kept.push(CUT);
    kept
}

/// Returns a text that takes exactly `columns` cells: cut, or filled with spaces.
pub(crate) fn padded(text: &str, columns: usize) -> String {
    let mut text = fitted(text, columns);
    let missing = columns.saturating_sub(width(&text));
    text.extend(std::iter::repeat_n(' ', missing));
    text
}

/// Breaks a line into lines of at most `columns` cells, at spaces if possible.
pub(crate) fn wrapped(line: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(1);
    let mut lines = Vec::new();
    let mut current = String::new();
    let mut used = 0;
    for word in line.split_inclusive(' ') {
        let word_width = width(word.trim_end());
        if used > 0 && used + word_width > columns {
            lines.push(std::mem::take(&mut current).trim_end().to_owned());
            used = 0;
        }
        for character in word.chars() {
            let next = character.width().unwrap_or(0);
            if used + next > columns && character != ' ' {
                lines.push(std::mem::take(&mut current));
                used = 0;
            }
            current.push(character);
            used += next;
        }
    }
    lines.push(current.trim_end().to_owned());
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fitted_text_counts_wide_characters_twice() {
        let table =
            [("abc", 3, "abc"), ("abcd", 3, "ab…"), ("漢字漢", 5, "漢字…"), ("漢字", 3, "漢…")];
        for (text, columns, expected) in table {
            assert_eq!(fitted(text, columns), expected);
        }
        assert_eq!(fitted("abc", 0), "");
    }

    #[test]
    fn padded_text_has_exactly_the_wanted_width() {
        for text in ["", "a", "漢字", "a long text that is cut"] {
            assert_eq!(width(&padded(text, 7)), 7, "{text}");
        }
    }

    #[test]
    fn line_is_wrapped_at_spaces_and_a_long_word_is_broken() {
        let table: [(&str, &[&str]); 5] = [
            ("", &[""]),
            ("one two three", &["one two", "three"]),
            ("abcdefghijk", &["abcdefgh", "ijk"]),
            ("漢字漢字漢", &["漢字漢字", "漢"]),
            ("  indented text", &["  indented", "text"]),
        ];
        for (line, expected) in table {
            let columns = if line.starts_with(' ') { 10 } else { 8 };
            assert_eq!(wrapped(line, columns), expected, "{line}");
        }
    }
}
