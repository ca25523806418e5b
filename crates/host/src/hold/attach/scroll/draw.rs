//! Draws scroll mode. All control sequences are created here; only printable characters come from
//! the agent's text.

use std::iter;
use std::ops::Range;

use crate::hold::terminal::{Style, push};

use super::ScrollMode;
use super::layout::LayoutRow;
use crate::hold::styled_lines::{StyledLine, width};

const BEGIN: &str = "\x1b[?2026h\x1b[?25l\x1b[m";
const END: &str = "\x1b[?2026l";
/// Black on yellow, for the last match.
const FOUND: &str = "\x1b[0;30;43m";
/// Inverse, for the status line.
const STATUS: &str = "\x1b[0;7m";

/// The highlighting of a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TextMark {
    None,
    /// Selected, or a match.
    Inverse,
    Found,
}

impl ScrollMode {
    /// Returns the output that draws the whole screen.
    pub(in super::super) fn draw(&self) -> String {
        let mut out = String::from(BEGIN);
        // A line can fill many rows, so it is searched only once.
        let mut marked: Option<(usize, MarkedParts)> = None;
        for index in 0..self.layout.height {
            push(&mut out, format_args!("\x1b[{};1H\x1b[m\x1b[2K", index + 1));
            let Some(row) = self.layout.rows.get(self.layout.top + index) else { continue };
            let Some(line) = self.lines.get(row.line) else { continue };
            let parts = marked.take().filter(|(number, _)| *number == row.line);
            let parts = parts.unwrap_or_else(|| (row.line, self.marked(row.line, line)));
            self.draw_row(row, line, &parts.1, &mut out);
            marked = Some(parts);
        }
        if self.size.rows > 1 {
            self.draw_status(&mut out);
        }
        out += END;
        out
    }

    fn draw_row(&self, row: &LayoutRow, line: &StyledLine, marked: &MarkedParts, out: &mut String) {
        let text = line.text.get(row.part.clone()).unwrap_or_default();
        let mut pen = None;
        let mut used = 0;
        for (at, character) in text.char_indices() {
            used += width(character);
            // The character is wider than the whole screen.
            if used > usize::from(self.size.cols) {
                break;
            }
            let at = row.part.start + at;
            let style = (line.style_at(at), marked.at(at));
            if pen != Some(style) {
                pen = Some(style);
                write_style(style, out);
            }
            out.push(character);
        }
        *out += "\x1b[m";
        // An empty line has no character to invert, so draw a blank.
        if text.is_empty() && self.is_selected(row.line) {
            *out += "\x1b[7m \x1b[m";
        }
    }

    fn is_selected(&self, line: usize) -> bool {
        self.selected().is_some_and(|selected| selected.contains(&line))
    }

    /// Returns the marked parts of a line.
    fn marked(&self, number: usize, line: &StyledLine) -> MarkedParts {
        let found = self.found.as_ref().filter(|place| place.line == number);
        let found = found.map(|place| place.part.clone());
        let inverse = match &self.search {
            _ if self.is_selected(number) => iter::once(0..line.text.len()).collect(),
            Some((pattern, _)) => pattern.places(&line.text),
            None => Vec::new(),
        };
        MarkedParts { found, inverse }
    }

    fn draw_status(&self, out: &mut String) {
        let (rows, cols) = (self.size.rows, usize::from(self.size.cols));
        let status = self.status(cols);
        let used: usize = status.chars().map(width).sum();
        push(out, format_args!("\x1b[{rows};1H{STATUS}\x1b[2K{status}"));
        (used..cols).for_each(|_| out.push(' '));
        *out += "\x1b[m";
        // Put the cursor where the next key takes effect.
        let (row, col) = match &self.prompt {
            Some(_) => (usize::from(rows), used + 1),
            None => (self.layout.cursor - self.layout.top + 1, 1),
        };
        push(out, format_args!("\x1b[{row};{}H\x1b[?25h", col.min(cols)));
    }
}

/// The marked parts of a line.
struct MarkedParts {
    /// The last match.
    found: Option<Range<usize>>,
    /// In order and without overlaps.
    inverse: Vec<Range<usize>>,
}

impl MarkedParts {
    fn at(&self, at: usize) -> TextMark {
        if self.found.as_ref().is_some_and(|part| part.contains(&at)) {
            return TextMark::Found;
        }
        let next = self.inverse.partition_point(|part| part.end <= at);
        let is_inverse = self.inverse.get(next).is_some_and(|part| part.contains(&at));
        if is_inverse { TextMark::Inverse } else { TextMark::None }
    }
}

fn write_style((style, mark): (Style, TextMark), out: &mut String) {
    match mark {
        TextMark::None => style.write(out),
        TextMark::Inverse => style.inverted().write(out),
        TextMark::Found => *out += FOUND,
    }
}
