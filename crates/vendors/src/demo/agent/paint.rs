//! Wraps and colours text for the rows of a terminal. Replaces control characters, which could move
//! the cursor.

use unicode_width::UnicodeWidthChar as _;

/// A line to show, before it is wrapped into rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PaintedLine {
    pub(super) tone: LineTone,
    pub(super) text: String,
}

impl PaintedLine {
    pub(super) fn new(tone: LineTone, text: impl Into<String>) -> Self {
        Self { tone, text: text.into() }
    }
}

/// The colour of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineTone {
    Plain,
    User,
    Assistant,
    Tool,
    Notice,
    Alarm,
    /// One of the terminal's 256 colours.
    Colour(u8),
}

impl LineTone {
    fn codes(self) -> String {
        match self {
            Self::Plain => "0".to_owned(),
            Self::User => "36".to_owned(),
            Self::Assistant => "32".to_owned(),
            Self::Tool => "33".to_owned(),
            Self::Notice => "2".to_owned(),
            Self::Alarm => "1;35".to_owned(),
            Self::Colour(colour) => format!("38;5;{colour}"),
        }
    }
}

/// Adds the colour codes of a tone to a row.
pub(super) fn coloured(tone: LineTone, row: &str) -> String {
    format!("\x1b[{}m{row}\x1b[0m", tone.codes())
}

/// Wraps a text into rows of at most this many columns.
pub(super) fn wrap(text: &str, columns: usize) -> Vec<String> {
    let mut rows = Vec::new();
    for line in text.split('\n') {
        let (mut row, mut used) = (String::new(), 0);
        for c in line.chars().flat_map(printable) {
            let width = c.width().unwrap_or(0);
            if used + width > columns && used > 0 {
                rows.push(std::mem::take(&mut row));
                used = 0;
            }
            row.push(c);
            used += width;
        }
        rows.push(row);
    }
    rows
}

/// Wraps a text into rows of at most this many columns, and returns the last row.
pub(super) fn last_row(text: &str, columns: usize) -> String {
    wrap(text, columns.max(1)).pop().unwrap_or_default()
}

/// Draws a box around a text.
pub(super) fn boxed(text: &str, columns: usize) -> Vec<String> {
    let rows = wrap(text, columns.saturating_sub(4).max(1));
    let inner = rows.iter().map(|row| width(row)).max().unwrap_or(0);
    let edge = "─".repeat(inner + 2);
    let mut drawn = vec![format!("╭{edge}╮")];
    drawn.extend(rows.iter().map(|row| format!("│ {row}{} │", " ".repeat(inner - width(row)))));
    drawn.push(format!("╰{edge}╯"));
    drawn
}

/// Returns the lines that `/fill` prints: colours, wide characters, emoji and combining characters.
pub(super) fn fill_lines(count: u32) -> impl Iterator<Item = PaintedLine> {
    (1..=count).map(|number| {
        let text = format!("line {number:05} 日本語の文字 한국어 🙂🚀🧪 cafe\u{301} ▁▂▃▄▅▆▇█");
        PaintedLine::new(LineTone::Colour(u8::try_from(number % 231).unwrap_or(0) + 1), text)
    })
}

fn width(text: &str) -> usize {
    text.chars().map(|c| c.width().unwrap_or(0)).sum()
}

fn printable(c: char) -> impl Iterator<Item = char> {
    let (c, times) = match c {
        '\t' => (' ', 4),
        c if c.is_control() => ('·', 1),
        c => (c, 1),
    };
    std::iter::repeat_n(c, times)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrap_does_not_split_a_wide_character() {
        assert_eq!(wrap("a日本", 4), ["a日", "本"]);
        assert_eq!(wrap("日", 1), ["日"]);
        assert_eq!(wrap("one\n\ntwo", 10), ["one", "", "two"]);
    }

    #[test]
    fn wrap_replaces_characters_that_would_move_the_cursor() {
        assert_eq!(wrap("a\u{1b}[2J\r\tb\u{9b}", 40), ["a·[2J·    b·"]);
    }

    #[test]
    fn box_is_as_wide_as_its_text_or_the_screen() {
        assert_eq!(boxed("日?", 40), ["╭─────╮", "│ 日? │", "╰─────╯"]);
        assert!(boxed("a long question", 8).iter().all(|row| width(row) <= 8));
    }
}
