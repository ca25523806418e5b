//! Draws the agent's screen: lines that scroll, and a bottom part that is redrawn.

use std::collections::VecDeque;
use std::io::{self, Write};

use super::paint::{PaintedLine, coloured, wrap};

/// How many lines are kept for a redraw after a change of the terminal's size.
const KEPT_LINES: usize = 300;

/// `print` writes to the terminal after this many bytes.
const CHUNK_BYTES: usize = 32 * 1024;

/// The screen. `W` is the terminal.
#[derive(Debug)]
pub(super) struct DemoScreen<W> {
    out: W,
    columns: usize,
    rows: usize,
    kept_lines: VecDeque<PaintedLine>,
    /// How many rows of the bottom part are on the screen. The cursor is in the last of them.
    bottom_rows: usize,
    modes: Vec<TerminalMode>,
    is_stale: bool,
}

/// Terminal modes that the user can switch on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TerminalMode {
    Alternate,
    Mouse,
}

impl TerminalMode {
    fn number(self) -> &'static str {
        match self {
            Self::Alternate => "1049",
            Self::Mouse => "1000;1006",
        }
    }
}

/// The bottom part of the screen. Each line is one row, and the cursor is in the last one.
#[derive(Debug)]
pub(super) struct Bottom {
    pub(super) lines: Vec<PaintedLine>,
    pub(super) cursor: usize,
}

impl<W: Write> DemoScreen<W> {
    /// Switches on bracketed paste. Also sends queries to the terminal, and does not wait for the
    /// responses.
    pub(super) fn open(out: W, columns: usize, rows: usize) -> io::Result<Self> {
        let mut screen = Self {
            out,
            columns,
            rows,
            kept_lines: VecDeque::new(),
            bottom_rows: 0,
            modes: Vec::new(),
            is_stale: false,
        };
        screen.write("\x1b[?2004h\x1b[c\x1b]11;?\x1b\\")?;
        Ok(screen)
    }

    /// Erases the bottom part and switches off all modes.
    pub(super) fn close(&mut self) -> io::Result<()> {
        let off: String =
            self.modes.iter().map(|mode| format!("\x1b[?{}l", mode.number())).collect();
        self.write(&format!("{}{off}\x1b[?2004l\x1b[0m\x1b]2;\x1b\\", self.erase_codes()))
    }

    pub(super) fn columns(&self) -> usize {
        self.columns
    }

    /// Prints lines above the bottom part.
    pub(super) fn print(&mut self, lines: impl IntoIterator<Item = PaintedLine>) -> io::Result<()> {
        let mut text = self.erase_codes();
        self.bottom_rows = 0;
        for line in lines {
            for row in self.rows_of(&line) {
                text.push_str(&row);
                text.push_str("\r\n");
            }
            self.keep(line);
            if text.len() > CHUNK_BYTES {
                self.write(&text)?;
                text.clear();
            }
        }
        self.write(&text)
    }

    /// Draws the bottom part. After a change of the terminal's size, redraws everything.
    pub(super) fn draw(&mut self, bottom: &Bottom) -> io::Result<()> {
        let height = self.rows.saturating_sub(1).max(1);
        let shown = &bottom.lines[bottom.lines.len().saturating_sub(height)..];
        let before =
            if self.is_stale { self.redraw_codes(shown.len()) } else { self.erase_codes() };
        let rows: Vec<String> = shown.iter().map(|line| coloured(line.tone, &line.text)).collect();
        let text = format!("{before}{}\x1b[{}G", rows.join("\r\n"), bottom.cursor + 1);
        (self.bottom_rows, self.is_stale) = (shown.len(), false);
        self.write(&text)
    }

    /// Sets the size, and makes the next draw redraw everything.
    pub(super) fn resize(&mut self, columns: usize, rows: usize) {
        (self.columns, self.rows, self.is_stale) = (columns, rows, true);
    }

    /// Switches a mode on or off. Returns whether it is on now.
    pub(super) fn toggle(&mut self, mode: TerminalMode) -> io::Result<bool> {
        let was_on = self.modes.contains(&mode);
        self.modes.retain(|on| *on != mode);
        if !was_on {
            self.modes.push(mode);
        }
        self.is_stale |= mode == TerminalMode::Alternate;
        let letter = if was_on { 'l' } else { 'h' };
        self.write(&format!("\x1b[?{}{letter}", mode.number()))?;
        Ok(!was_on)
    }

    pub(super) fn title(&mut self, title: &str) -> io::Result<()> {
        self.write(&format!("\x1b]2;{}\x1b\\", title.replace(char::is_control, "")))
    }

    pub(super) fn bell(&mut self) -> io::Result<()> {
        self.write("\x07")
    }

    fn write(&mut self, text: &str) -> io::Result<()> {
        self.out.write_all(text.as_bytes())?;
        self.out.flush()
    }

    fn rows_of(&self, line: &PaintedLine) -> Vec<String> {
        let rows = wrap(&line.text, self.columns.max(1));
        rows.iter().map(|row| coloured(line.tone, row)).collect()
    }

    fn keep(&mut self, line: PaintedLine) {
        if self.kept_lines.len() == KEPT_LINES {
            self.kept_lines.pop_front();
        }
        self.kept_lines.push_back(line);
    }

    /// Returns the escape sequences that erase the bottom part.
    fn erase_codes(&self) -> String {
        match self.bottom_rows {
            0 => String::new(),
            1 => "\r\x1b[J".to_owned(),
            rows => format!("\r\x1b[{}A\x1b[J", rows - 1),
        }
    }

    /// Returns the escape sequences that clear the screen and draw the newest lines. Leaves `room`
    /// rows for the bottom part.
    fn redraw_codes(&self, room: usize) -> String {
        let mut newest: Vec<String> = Vec::new();
        let height = self.rows.saturating_sub(room);
        for line in self.kept_lines.iter().rev() {
            newest.extend(self.rows_of(line).into_iter().rev());
            if newest.len() >= height {
                break;
            }
        }
        newest.truncate(height);
        newest.reverse();
        let rows: String = newest.iter().map(|row| format!("{row}\r\n")).collect();
        format!("\x1b[H\x1b[2J{rows}")
    }
}

#[cfg(test)]
mod tests {
    use super::super::paint::{LineTone, fill_lines};
    use super::*;

    fn screen(columns: u16, rows: u16) -> DemoScreen<vt100::Parser> {
        let (parser_rows, parser_columns) = (rows.try_into().unwrap(), columns.try_into().unwrap());
        let parser = vt100::Parser::new(parser_rows, parser_columns, 0);
        DemoScreen::open(parser, columns.into(), rows.into()).unwrap()
    }

    fn prompt(text: &str) -> Bottom {
        Bottom { lines: vec![PaintedLine::new(LineTone::Plain, text)], cursor: text.len() }
    }

    fn plain(text: &str) -> PaintedLine {
        PaintedLine::new(LineTone::Plain, text)
    }

    fn rows(screen: &DemoScreen<vt100::Parser>) -> Vec<String> {
        let (_, columns) = screen.out.screen().size();
        let rows: Vec<String> = screen.out.screen().rows(0, columns.get()).collect();
        rows.into_iter().map(|row| row.trim_end().to_owned()).collect()
    }

    #[test]
    fn lines_scroll_above_the_prompt() {
        let mut screen = screen(10, 4);
        screen.draw(&prompt("> ")).unwrap();
        screen.print([plain("one"), plain("two words here")]).unwrap();
        screen.draw(&prompt("> x")).unwrap();
        assert_eq!(rows(&screen), ["one", "two words", "here", "> x"]);
        assert_eq!(screen.out.screen().cursor_position(), (3, 3));
        screen.print([plain("three")]).unwrap();
        screen.draw(&prompt("> ")).unwrap();
        assert_eq!(rows(&screen), ["two words", "here", "three", ">"]);
    }

    #[test]
    fn smaller_bottom_part_erases_the_rows_of_a_larger_one() {
        let mut screen = screen(12, 5);
        screen.print([plain("text")]).unwrap();
        let lines = ["a", "b", "c"].map(plain).to_vec();
        screen.draw(&Bottom { lines, cursor: 0 }).unwrap();
        screen.draw(&prompt("> ")).unwrap();
        assert_eq!(rows(&screen), ["text", ">", "", "", ""]);
    }

    #[test]
    fn resize_redraws_the_newest_lines() {
        let mut screen = screen(10, 6);
        screen.print((1..=9).map(|number| plain(&format!("l{number} 日本語")))).unwrap();
        screen.draw(&prompt("> ")).unwrap();
        screen.out.screen_mut().set_size(5.try_into().unwrap(), 6.try_into().unwrap());
        screen.resize(6, 5);
        screen.draw(&prompt("> ")).unwrap();
        assert_eq!(rows(&screen), ["l8 日", "本語", "l9 日", "本語", ">"]);
    }

    #[test]
    fn fill_shows_wide_characters_and_keeps_a_limited_number_of_lines() {
        let mut screen = screen(80, 5);
        screen.print(fill_lines(2000)).unwrap();
        screen.draw(&prompt("> ")).unwrap();
        let shown = rows(&screen);
        assert!(
            shown[3].starts_with("line 02000 日本語の文字 한국어 🙂🚀🧪 cafe\u{301} ▁"),
            "{shown:?}"
        );
        assert_eq!(screen.kept_lines.len(), KEPT_LINES);
    }

    #[test]
    fn close_restores_the_modes_of_the_terminal() {
        let mut screen = screen(20, 5);
        assert!(screen.toggle(TerminalMode::Alternate).unwrap());
        assert!(screen.toggle(TerminalMode::Mouse).unwrap());
        screen.draw(&prompt("> ")).unwrap();
        assert!(screen.out.screen().alternate_screen() && screen.out.screen().bracketed_paste());
        screen.close().unwrap();
        let terminal = screen.out.screen();
        assert!(!terminal.alternate_screen() && !terminal.bracketed_paste());
        assert_eq!(terminal.mouse_protocol_mode(), vt100::MouseProtocolMode::None);
    }

    #[test]
    fn normal_and_alternate_screen_show_the_conversation_once() {
        let mut screen = screen(20, 4);
        screen.print([plain("before")]).unwrap();
        screen.draw(&prompt("> ")).unwrap();
        screen.toggle(TerminalMode::Alternate).unwrap();
        screen.draw(&prompt("> ")).unwrap();
        assert_eq!(rows(&screen), ["before", ">", "", ""]);
        screen.print([plain("there")]).unwrap();
        screen.toggle(TerminalMode::Alternate).unwrap();
        screen.draw(&prompt("> ")).unwrap();
        assert_eq!(rows(&screen), ["before", "there", ">", ""]);
    }

    #[test]
    fn draw_accepts_a_terminal_of_size_zero() {
        let mut screen = screen(1, 1);
        screen.print(fill_lines(2)).unwrap();
        screen.resize(0, 0);
        screen.draw(&prompt("> ")).unwrap();
    }
}
