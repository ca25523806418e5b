//! Wraps text to the width of the terminal.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Replaces a tab before the columns of a line are counted.
const TAB: &str = "    ";

/// Splits a line into lines of at most `width` columns, between words if possible. Without a width
/// the line is returned unchanged.
pub(crate) fn wrap(line: &str, width: Option<usize>) -> Vec<String> {
    let Some(width) = width.map(|width| width.max(1)) else { return vec![line.to_owned()] };
    let line = line.replace('\t', TAB);
    let (mut lines, mut last) = (Vec::new(), String::new());
    for word in line.split_inclusive(' ') {
        let bare = word.trim_end();
        let needed = bare.width();
        if !last.trim().is_empty() && last.width() + needed > width {
            lines.push(std::mem::take(&mut last).trim_end().to_owned());
        }
        let mut broken = broken(&(last + bare), width);
        last = broken.pop().unwrap_or_default() + &word[bare.len()..];
        lines.append(&mut broken);
    }
    lines.push(last.trim_end().to_owned());
    lines
}

/// Splits a text whenever a line is full, also within a word.
fn broken(text: &str, width: usize) -> Vec<String> {
    let (mut lines, mut last, mut columns) = (Vec::new(), String::new(), 0);
    for character in text.chars() {
        let needed = character.width().unwrap_or(0);
        if columns + needed > width && !last.is_empty() {
            lines.push(std::mem::take(&mut last));
            columns = 0;
        }
        columns += needed;
        last.push(character);
    }
    lines.push(last);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_broken_between_words_and_a_long_word_anywhere() {
        let table: [(&str, usize, &[&str]); 9] = [
            ("", 10, &[""]),
            ("short", 10, &["short"]),
            ("one two three", 7, &["one two", "three"]),
            ("one two three", 8, &["one two", "three"]),
            ("abcdefghij", 4, &["abcd", "efgh", "ij"]),
            ("ab cdefghij kl", 4, &["ab", "cdef", "ghij", "kl"]),
            ("    indented words here", 14, &["    indented", "words here"]),
            ("漢字漢字 漢字", 5, &["漢字", "漢字", "漢字"]),
            ("\ttab", 20, &["    tab"]),
        ];
        for (line, width, expected) in table {
            assert_eq!(wrap(line, Some(width)), expected, "{line:?} in {width}");
        }
        assert_eq!(wrap("a  b\tc ", None), ["a  b\tc "]);
        assert_eq!(wrap("漢字", Some(0)), ["漢", "字"]);
    }
}
