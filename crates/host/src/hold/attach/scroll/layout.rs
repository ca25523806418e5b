//! Wraps lines into rows, and tracks the visible rows and the cursor.

use std::ops::Range;

use crate::hold::styled_lines::{StyledLine, width};

/// One row of a screen: a part of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LayoutRow {
    pub(super) line: usize,
    /// The byte range in the line's text.
    pub(super) part: Range<usize>,
}

/// Wraps lines into rows of at most `cols` columns. Every line has at least one row.
pub(super) fn wrap(lines: &[StyledLine], cols: usize) -> Vec<LayoutRow> {
    let mut rows = Vec::with_capacity(lines.len());
    for (line, StyledLine { text, .. }) in lines.iter().enumerate() {
        let (mut start, mut used) = (0, 0);
        for (at, character) in text.char_indices() {
            let needed = width(character);
            if used + needed > cols && used > 0 {
                rows.push(LayoutRow { line, part: start..at });
                (start, used) = (at, 0);
            }
            used += needed;
        }
        rows.push(LayoutRow { line, part: start..text.len() });
    }
    rows
}

/// The view of wrapped lines.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub(super) rows: Vec<LayoutRow>,
    /// The number of visible rows.
    pub(super) height: usize,
    /// The first visible row.
    pub(super) top: usize,
    /// The row with the cursor. It is always visible.
    pub(super) cursor: usize,
}

impl Layout {
    /// Shows the rows that the agent's screen showed, without the last one, with the cursor at the
    /// top. The agent's screen has one more row, because scroll mode has a status line.
    pub(super) fn at_end(lines: &[StyledLine], cols: usize, height: usize) -> Self {
        let rows = wrap(lines, cols);
        let top = rows.len().saturating_sub(height + 1);
        Self { rows, height, top, cursor: top }
    }

    /// Wraps the lines for a screen of another size. The cursor stays on its text.
    pub(super) fn resize(&mut self, lines: &[StyledLine], cols: usize, height: usize) {
        let at = self.rows.get(self.cursor).map_or((0, 0), |row| (row.line, row.part.start));
        let below_top = self.cursor - self.top;
        self.rows = wrap(lines, cols);
        self.height = height;
        self.cursor = self.row_of(at);
        self.top = self.cursor.saturating_sub(below_top.min(height - 1));
        self.keep_within();
    }

    /// Returns the row that contains this byte of a line.
    pub(super) fn row_of(&self, (line, byte): (usize, usize)) -> usize {
        let later = self.rows.partition_point(|row| (row.line, row.part.start) <= (line, byte));
        later.saturating_sub(1)
    }

    /// Returns the line with the cursor.
    pub(super) fn line(&self) -> usize {
        self.rows.get(self.cursor).map_or(0, |row| row.line)
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.top >= self.last_top()
    }

    /// Moves the cursor up. The view follows it.
    pub(super) fn up(&mut self, count: usize) {
        self.go_to(self.cursor.saturating_sub(count));
    }

    pub(super) fn down(&mut self, count: usize) {
        self.go_to(self.cursor + count);
    }

    /// Moves the view up, and the cursor with it.
    pub(super) fn scroll_up(&mut self, count: usize) {
        let moved = count.min(self.top);
        self.top -= moved;
        // At the first row, only the cursor moves.
        self.cursor = self.cursor.saturating_sub(if moved == 0 { count } else { moved });
        self.keep_within();
    }

    pub(super) fn scroll_down(&mut self, count: usize) {
        let moved = count.min(self.last_top().saturating_sub(self.top));
        self.top += moved;
        self.cursor += if moved == 0 { count } else { moved };
        self.keep_within();
    }

    /// Puts the cursor on a row. The view moves only if the row is not visible.
    pub(super) fn go_to(&mut self, row: usize) {
        self.cursor = row.min(self.rows.len().saturating_sub(1));
        if self.cursor < self.top {
            self.top = self.cursor;
        }
        if self.cursor >= self.top + self.height {
            self.top = self.cursor + 1 - self.height;
        }
        self.keep_within();
    }

    fn last_top(&self) -> usize {
        self.rows.len().saturating_sub(self.height)
    }

    fn keep_within(&mut self) {
        self.top = self.top.min(self.last_top());
        let last = (self.top + self.height).min(self.rows.len()).saturating_sub(1);
        self.cursor = self.cursor.clamp(self.top.min(last), last);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hold::styled_lines::parse;

    fn wrapped(text: &str, cols: usize) -> Vec<String> {
        let lines = parse(text);
        let part = |row: &LayoutRow| lines[row.line].text[row.part.clone()].to_owned();
        wrap(&lines, cols).iter().map(part).collect()
    }

    fn layout(count: usize, height: usize) -> Layout {
        let text = vec!["x"; count].join("\n");
        Layout::at_end(&parse(&text), 10, height)
    }

    #[test]
    fn wrap_splits_lines_between_characters() {
        let table: [(&str, usize, &[&str]); 8] = [
            ("abc\n\ndef", 5, &["abc", "", "def"]),
            ("abcdef", 3, &["abc", "def"]),
            ("abcdefg", 3, &["abc", "def", "g"]),
            ("漢字漢", 4, &["漢字", "漢"]),
            ("a漢字", 3, &["a漢", "字"]),
            ("a漢字", 2, &["a", "漢", "字"]),
            ("ae\u{301}b", 2, &["ae\u{301}", "b"]),
            ("漢", 1, &["漢"]),
        ];
        for (text, cols, rows) in table {
            assert_eq!(wrapped(text, cols), rows, "{text:?} in {cols}");
        }
    }

    #[test]
    fn layout_begins_at_the_agents_screen_and_moves_within_the_lines() {
        // An action, the expected first visible row and the expected row of the cursor.
        type Step = (fn(&mut Layout), usize, usize);
        let steps: [Step; 12] = [
            (|_| {}, 89, 89),
            (|it| it.up(1), 88, 88),
            (|it| it.down(1), 88, 89),
            (|it| it.scroll_up(10), 78, 79),
            (|it| it.scroll_down(3), 81, 82),
            (|it| it.go_to(0), 0, 0),
            (|it| it.up(5), 0, 0),
            (|it| it.scroll_up(5), 0, 0),
            (|it| it.down(12), 3, 12),
            (|it| it.go_to(1000), 90, 99),
            (|it| it.scroll_down(7), 90, 99),
            (|it| it.scroll_up(200), 0, 9),
        ];
        let mut layout = layout(100, 10);
        for (number, (step, top, cursor)) in steps.into_iter().enumerate() {
            step(&mut layout);
            assert_eq!((layout.top, layout.cursor), (top, cursor), "step {number}");
        }
    }

    #[test]
    fn cursor_stays_visible_with_few_lines_and_on_a_tiny_screen() {
        for (count, height) in [(0, 1), (1, 1), (1, 10), (3, 1), (3, 10)] {
            let mut layout = layout(count, height);
            for _ in 0..5 {
                layout.scroll_up(2);
                layout.up(1);
                layout.down(4);
                layout.scroll_down(3);
                assert!(layout.cursor < layout.rows.len());
                assert!((layout.top..layout.top + height).contains(&layout.cursor));
            }
            assert!(layout.is_at_end());
        }
    }

    #[test]
    fn cursor_stays_on_its_text_when_the_size_changes() {
        let text: Vec<String> =
            (0..50).map(|number| format!("{number:02}{}", "x".repeat(20))).collect();
        let lines = parse(&text.join("\n"));
        let mut layout = Layout::at_end(&lines, 30, 10);
        layout.go_to(layout.row_of((20, 0)));
        for (cols, height) in [(5, 3), (80, 24), (2, 1), (30, 10)] {
            layout.resize(&lines, cols, height);
            assert_eq!(layout.line(), 20, "{cols}x{height}");
            assert!((layout.top..layout.top + height).contains(&layout.cursor));
        }
    }
}
