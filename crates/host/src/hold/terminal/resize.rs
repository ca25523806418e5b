//! Changes the size of the terminal.

use vt100::capture::basic_formatted_rows;

use super::scrollback::PLAIN;
use super::{Size, VirtualTerminal};

impl VirtualTerminal {
    /// Changes the size of both screens. Rows that an agent may still write to stay on the screen.
    /// If the screen shrinks, other rows scroll off at the top. If it grows, they come back.
    pub(super) fn resize_screens(&mut self, size: Size) {
        self.on_normal_screen(|terminal| {
            terminal.scroll_to_fit(size.rows);
            let (before, _) = terminal.screen().cursor_position();
            let (rows, cols) = super::non_zero(size);
            terminal.parser.set_size(rows, cols);
            let (after, _) = terminal.screen().cursor_position();
            terminal.fill_top(after.saturating_sub(before));
        });
    }

    /// Scrolls the screen up before it gets fewer rows. The model would cut off the rows below the
    /// cursor, where agents draw the lower half of the frame around their input.
    fn scroll_to_fit(&mut self, rows: u16) {
        let old = self.size().rows;
        let (row, col) = self.screen().cursor_position();
        let last = (0..old).rev().find(|row| self.has_content(*row)).unwrap_or(0).max(row);
        // Many agents end their last line, and rely on the empty line below it.
        let spare = (old - 1 - last).saturating_sub(1);
        let excess = old.saturating_sub(rows);
        let count = excess.saturating_sub(spare).min(row);
        if count > 0 {
            let (row, col) = (row - count + 1, col + 1);
            self.parser.process(format!("\x1b[?6l\x1b[r\x1b[{count}S\x1b[{row};{col}H").as_bytes());
        }
    }

    fn has_content(&self, row: u16) -> bool {
        let cells = (0..self.size().cols).filter_map(|col| self.screen().cell(row, col));
        cells.into_iter().any(|cell| cell.has_contents() || cell.bgcolor() != vt100::Color::Default)
    }

    /// Writes the newest lines that have scrolled off to the first rows, which are blank.
    fn fill_top(&mut self, rows: u16) {
        let cols = self.size().cols;
        if rows == 0 {
            return;
        }
        let lines = self.parser.callbacks_mut().take_newest(rows, cols);
        let needed: usize = lines.iter().map(|it| basic_formatted_rows(it, cols).count()).sum();
        let first = usize::from(rows).saturating_sub(needed) + 1;
        let (row, col) = self.screen().cursor_position();
        let pen = self.screen().attributes_formatted();
        let text = lines.join("\r\n");
        let (row, col) = (row + 1, col + 1);
        let painted = format!("\x1b[?6l\x1b[m\x1b[{first};1H{text}\x1b[{row};{col}H{PLAIN}{pen}");
        self.parser.process(painted.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::super::Effects;
    use super::super::scrollback::tests::{lines, numbered, rows, terminal};
    use super::*;

    #[test]
    fn rows_that_leave_a_shrinking_screen_come_back_when_it_grows() {
        let output = numbered(0..20) + "prompt";
        let mut terminal = terminal(10, 20, &output);
        let all = lines(&mut terminal);
        let before = rows(&terminal);
        for (smaller, larger) in [(6, 10), (3, 10), (1, 10), (9, 10)] {
            terminal.resize(Size { rows: smaller, cols: 20 });
            assert_eq!(rows(&terminal).last().map(String::as_str), Some("prompt"), "{smaller}");
            assert_eq!(lines(&mut terminal), all, "{smaller} rows");
            terminal.resize(Size { rows: larger, cols: 20 });
            assert_eq!(rows(&terminal), before, "{smaller} rows and back");
            assert_eq!(lines(&mut terminal), all);
        }
        terminal.resize(Size { rows: 15, cols: 20 });
        assert_eq!(rows(&terminal)[0], "line 6");
        assert_eq!(lines(&mut terminal), all);
    }

    #[test]
    fn frame_below_the_cursor_stays_on_a_shrinking_screen() {
        // The cursor is in the input line, three rows above the end of the drawing.
        let output = numbered(0..20) + "answer\r\n+--+\r\n> in\r\n+--+\r\nfoot\r\n\x1b[3A\x1b[3G";
        let mut terminal = terminal(10, 20, &output);
        terminal.resize(Size { rows: 7, cols: 20 });
        assert_eq!(rows(&terminal), ["line 19", "answer", "+--+", "> in", "+--+", "foot", ""]);
        assert_eq!(terminal.screen().cursor_position(), (3, 2));
        // An agent erases its drawing from the bottom up, and draws it again.
        terminal.feed(
            b"\x1b[3B\x1b[2K\x1b[1A\x1b[2K\x1b[1A\x1b[2K\x1b[1A\x1b[2K\x1b[1A\x1b[2Knew",
            &mut Effects::unseen(),
        );
        assert_eq!(rows(&terminal)[..3], ["line 19", "answer", "  new"]);
    }

    #[test]
    fn empty_rows_at_the_bottom_are_removed_first_when_the_screen_shrinks() {
        let mut terminal = terminal(20, 20, "one\r\ntwo\r\n> ");
        terminal.resize(Size { rows: 8, cols: 20 });
        assert_eq!(rows(&terminal)[..3], ["one", "two", ">"]);
        assert_eq!(lines(&mut terminal)[0], "one");
        assert_eq!(terminal.screen().cursor_position(), (2, 2));
    }

    #[test]
    fn normal_screen_keeps_its_lines_when_the_alternate_one_is_resized() {
        let mut terminal = terminal(10, 20, &(numbered(0..20) + "prompt"));
        let before = rows(&terminal);
        terminal.feed(b"\x1b[?1049h\x1b[Hfull", &mut Effects::unseen());
        terminal.resize(Size { rows: 5, cols: 20 });
        terminal.resize(Size { rows: 10, cols: 20 });
        assert_eq!(rows(&terminal)[0], "full");
        terminal.feed(b"\x1b[?1049l", &mut Effects::unseen());
        assert_eq!(rows(&terminal), before);
    }
}
