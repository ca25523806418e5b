//! Text in lines that fit.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// How many columns a tab takes where lines are counted in columns.
const TAB: &str = "    ";

/// Returns a line as lines of at most so many columns, broken between words where that is possible.
/// Without a width it stays as it is.
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

/// Breaks a text wherever a line is full.
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
