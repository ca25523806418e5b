//! Lines of text with colours. Parses the lines that a holder sends, and formats them again.
//!
//! The text comes from an agent. Only printable characters of it are kept, so that it cannot
//! control the terminal on which it is shown.

use segue_core::rules::display;
use unicode_width::UnicodeWidthChar as _;

use super::terminal::{Sequence, Style};

/// At most this many lines are kept. The oldest are dropped first.
const MAX_LINES: usize = 20_000;
const TAB_COLUMNS: usize = 8;

/// One line of any length.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct StyledLine {
    pub(super) text: String,
    /// The byte offsets at which a style begins, in order.
    styles: Vec<(usize, Style)>,
}

impl StyledLine {
    /// Returns the style of the character at this byte offset.
    pub(super) fn style_at(&self, at: usize) -> Style {
        let later = self.styles.partition_point(|(from, _)| *from <= at);
        let known = later.checked_sub(1).and_then(|index| self.styles.get(index));
        known.map_or_else(Style::default, |(_, style)| *style)
    }

    /// Returns the text with its colours as control sequences. It begins and ends without colours.
    pub(super) fn formatted(&self) -> String {
        let mut out = String::with_capacity(self.text.len());
        let mut written = 0;
        for (at, style) in &self.styles {
            out += self.text.get(written..*at).unwrap_or_default();
            style.write(&mut out);
            written = *at;
        }
        out += self.text.get(written..).unwrap_or_default();
        if self.styles.last().is_some_and(|(_, style)| *style != Style::default()) {
            out += "\x1b[m";
        }
        out
    }

    fn push(&mut self, character: char, style: Style) {
        let last = self.styles.last().map_or_else(Style::default, |(_, style)| *style);
        if last != style {
            self.styles.push((self.text.len(), style));
        }
        self.text.push(character);
    }
}

/// Returns the number of columns that a character occupies.
pub(super) fn width(character: char) -> usize {
    character.width().unwrap_or(0).min(2)
}

/// Parses lines. Returns at most [`MAX_LINES`] lines, the newest.
pub(super) fn parse(text: &str) -> Vec<StyledLine> {
    let mut pen = Style::default();
    let lines: Vec<StyledLine> = text.split('\n').map(|line| parse_line(line, &mut pen)).collect();
    let excess = lines.len().saturating_sub(MAX_LINES);
    lines.into_iter().skip(excess).collect()
}

fn parse_line(text: &str, pen: &mut Style) -> StyledLine {
    let mut line = StyledLine::default();
    let mut rest = text;
    let mut column = 0;
    while let Some(character) = rest.chars().next() {
        if character == '\x1b' {
            rest = after_sequence(rest, pen);
            continue;
        }
        rest = rest.get(character.len_utf8()..).unwrap_or_default();
        if character == '\t' {
            let blanks = TAB_COLUMNS - column % TAB_COLUMNS;
            (0..blanks).for_each(|_| line.push(' ', *pen));
            column += blanks;
        } else if is_shown(character) {
            line.push(character, *pen);
            column += width(character);
        }
    }
    line
}

/// Applies the sequence at the beginning, and returns the text after it.
fn after_sequence<'a>(text: &'a str, pen: &mut Style) -> &'a str {
    let body = text.get(1..).unwrap_or_default();
    let Some(parameters) = body.strip_prefix('[') else { return body };
    let Some(end) = parameters.find(|character| ('\x40'..='\x7e').contains(&character)) else {
        return body;
    };
    let length = "\x1b[".len() + end + 1;
    let sequence = text.get(..length).and_then(|it| Sequence::parse(it.as_bytes()));
    if let Some(sequence) = sequence
        && (sequence.prefix, sequence.intermediate, sequence.last) == (0, 0, b'm')
    {
        pen.change(&sequence);
    }
    text.get(length..).unwrap_or_default()
}

/// Returns whether a character is visible or combines with a visible one.
pub(super) fn is_shown(character: char) -> bool {
    !display::is_misleading(character)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        parse(text).into_iter().map(|line| line.text).collect()
    }

    #[test]
    fn lines_keep_their_text_without_control_characters() {
        let table = [
            ("one\ntwo\n", vec!["one", "two", ""]),
            ("\x1b[31mred\x1b[m", vec!["red"]),
            ("a\x1b]52;c;ZXZpbA==\x07b", vec!["a]52;c;ZXZpbA==b"]),
            ("a\x1b[2J\x1b[Hb\x1b[?1049lc", vec!["abc"]),
            ("a\u{9b}31mb\u{7f}\x08\x00c\r", vec!["a31mbc"]),
            ("torn\x1b[3", vec!["torn[3"]),
            ("torn\x1b", vec!["torn"]),
            ("\u{202e}evil\u{2066}\u{2028}x", vec!["evilx"]),
            ("a\tb\t\tc", vec!["a       b               c"]),
            ("漢\tx", vec!["漢      x"]),
            ("e\u{301}\u{1f600}", vec!["e\u{301}\u{1f600}"]),
        ];
        for (given, expected) in table {
            assert_eq!(texts(given), expected, "{given:?}");
            assert!(texts(given).iter().all(|it| it.chars().all(is_shown)));
        }
    }

    #[test]
    fn styles_begin_and_end_where_they_were_written() {
        let lines = parse("a\x1b[1;31mbc\x1b[mde\x1b[4m\nf\x1b[mg");
        let style = |codes: &str| {
            let mut style = Style::default();
            style.change(&Sequence::parse(codes.as_bytes()).unwrap());
            style
        };
        let found: Vec<Style> = (0..5).map(|at| lines[0].style_at(at)).collect();
        let (plain, red) = (Style::default(), style("\x1b[1;31m"));
        assert_eq!(found, [plain, red, red, plain, plain]);
        assert_eq!(lines[1].style_at(0), style("\x1b[4m"), "the style ended with its line");
        assert_eq!(lines[1].style_at(1), plain);
    }

    #[test]
    fn formatted_line_is_parsed_to_the_same_line() {
        for text in ["", "plain", "\x1b[31mred", "a\x1b[1;44mb\x1b[mc\x1b[4md", "漢\x1b[7m字"] {
            let line = parse(text).remove(0);
            let formatted = line.formatted();
            assert_eq!(parse(&formatted), [line], "{formatted:?}");
        }
    }

    #[test]
    fn parse_keeps_the_newest_lines() {
        let text: String = (0..MAX_LINES + 5).map(|number| format!("{number}\n")).collect();
        let lines = texts(&text);
        assert_eq!(lines.len(), MAX_LINES);
        assert_eq!(lines[0], "6");
    }
}
