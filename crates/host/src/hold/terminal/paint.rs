//! Paints the whole screen on a user's terminal, or only the rows that have changed.

use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use vt100::{Cell, Color, Screen};

use super::style::Style;
use super::{VirtualTerminal, modes};

const BEGIN: &str = "\x1b[?2026h\x1b[?25l\x1b[m\x1b(B\x1b)B\x0f\x1b[?6l\x1b[?7h\x1b[r";
const END: &str = "\x1b[?2026l";

impl VirtualTerminal {
    /// Paints the whole screen on a terminal of the same size. The terminal also gets the state that
    /// the agent's output depends on. So it can then follow that output.
    pub(crate) fn paint(&self) -> Vec<u8> {
        let mut out = String::from(BEGIN);
        out += "\x1b[H\x1b[2J";
        let rows = self.size().rows;
        (0..rows).for_each(|row| paint_row(self.screen(), row, &mut out));
        self.restore_state(&mut out);
        out += &self.modes_formatted();
        self.restore_cursor(&mut out);
        out += END;
        out.into_bytes()
    }

    fn restore_state(&self, out: &mut String) {
        let page = self.page();
        if let Some(saved) = &page.saved {
            move_to(out, saved.row, saved.col);
            *out += &saved.attributes;
            *out += "\x1b7";
        }
        if let Some((top, bottom)) = page.region {
            push(out, format_args!("\x1b[{};{}r", top + 1, bottom + 1));
        }
        if !self.modes.is_on(modes::AUTO_WRAP) {
            *out += "\x1b[?7l";
        }
    }

    fn restore_cursor(&self, out: &mut String) {
        let screen = self.screen();
        let (row, col) = screen.cursor_position();
        *out += "\x1b[m";
        if self.page().origin {
            let top = self.page().region.map_or(0, |(top, _)| top);
            *out += "\x1b[?6h";
            move_to(out, row.saturating_sub(top), col);
        } else if col < self.size().cols {
            move_to(out, row, col);
        } else {
            write_last_cell(screen, row, out);
        }
        *out += if screen.hide_cursor() { "\x1b[?25l" } else { "\x1b[?25h" };
        *out += &screen.attributes_formatted();
        *out += &self.charsets.formatted();
    }
}

/// Writes the last cell of a row once more. This is the only way to put the cursor behind the last
/// cell, where it is about to wrap.
fn write_last_cell(screen: &Screen, row: u16, out: &mut String) {
    let cols = screen.size().1.get();
    let is_second_half = screen.cell(row, cols - 1).is_some_and(Cell::is_wide_continuation);
    let col = if is_second_half { cols.saturating_sub(2) } else { cols - 1 };
    let Some(cell) = screen.cell(row, col) else { return };
    move_to(out, row, col);
    if cell.has_contents() {
        Style::of(cell).write(out);
        *out += cell.contents();
    } else {
        Style::on(cell.bgcolor()).write(out);
        out.push(' ');
    }
}

/// The content of a user's terminal whose size differs from the agent's. The agent's output would
/// wrap and scroll in the wrong places there. So only the rows that have changed are sent.
#[derive(Debug, Default)]
pub(crate) struct Picture {
    /// Hashes of the rows that were sent.
    rows: Vec<u64>,
    /// The hash of the modes that were sent.
    modes: u64,
    /// The hash of the cursor that was sent.
    cursor: u64,
}

impl Picture {
    /// Returns the bytes that update the terminal. Empty if nothing has changed.
    pub(crate) fn update(&mut self, terminal: &VirtualTerminal) -> Vec<u8> {
        let mut changes = String::new();
        if self.rows.is_empty() {
            changes += "\x1b[H\x1b[2J";
        }
        let rows = usize::from(terminal.size().rows);
        self.rows.resize(rows, 0);
        for (row, known) in (0..).zip(&mut self.rows) {
            let mut painted = String::new();
            paint_row(terminal.screen(), row, &mut painted);
            if replace(known, &painted) {
                push(&mut changes, format_args!("\x1b[{};1H\x1b[m\x1b[2K", row + 1));
                changes += &painted;
            }
        }
        let modes = terminal.modes_formatted();
        if replace(&mut self.modes, &modes) {
            changes += &modes;
        }
        self.finish(terminal, &changes)
    }

    fn finish(&mut self, terminal: &VirtualTerminal, changes: &str) -> Vec<u8> {
        let screen = terminal.screen();
        let (row, col) = screen.cursor_position();
        let mut cursor = String::new();
        move_to(&mut cursor, row, col.min(terminal.size().cols - 1));
        cursor += if screen.hide_cursor() { "\x1b[?25l" } else { "\x1b[?25h" };
        let has_moved = replace(&mut self.cursor, &cursor);
        if changes.is_empty() && !has_moved {
            return Vec::new();
        }
        format!("{BEGIN}{changes}\x1b[m{cursor}{END}").into_bytes()
    }
}

/// Replaces a hash by the hash of the new value. Returns whether it has changed.
fn replace(known: &mut u64, new: &str) -> bool {
    let mut hasher = DefaultHasher::new();
    new.hash(&mut hasher);
    let new = hasher.finish();
    std::mem::replace(known, new) != new
}

/// Paints a row of a terminal on which the row is blank.
fn paint_row(screen: &Screen, row: u16, out: &mut String) {
    let (_, cols) = screen.size();
    let mut cells = (0..cols.get())
        .filter_map(|col| Some((col, screen.cell(row, col)?)))
        .filter(|(_, cell)| !cell.is_wide_continuation())
        .peekable();
    let mut pen = Pen { row, col: None, style: Style::default() };
    while let Some((col, cell)) = cells.next() {
        if cell.has_contents() {
            pen.write(col, cell, out);
            continue;
        }
        let ground = cell.bgcolor();
        let mut width = 1;
        while cells.next_if(|(_, next)| !next.has_contents() && next.bgcolor() == ground).is_some()
        {
            width += 1;
        }
        if ground != Color::Default {
            pen.erase(col, width, ground, out);
        }
    }
    if pen.style != Style::default() {
        *out += "\x1b[m";
    }
}

/// The position of the cursor and its style while a row is painted.
struct Pen {
    row: u16,
    col: Option<u16>,
    style: Style,
}

impl Pen {
    fn write(&mut self, col: u16, cell: &Cell, out: &mut String) {
        self.go(col, out);
        self.take(Style::of(cell), out);
        *out += cell.contents();
        self.col = Some(col + if cell.is_wide() { 2 } else { 1 });
    }

    /// Paints the background of cells without a character.
    fn erase(&mut self, col: u16, width: u16, ground: Color, out: &mut String) {
        self.go(col, out);
        self.take(Style::on(ground), out);
        push(out, format_args!("\x1b[{width}X"));
    }

    fn go(&mut self, col: u16, out: &mut String) {
        if self.col != Some(col) {
            move_to(out, self.row, col);
            self.col = Some(col);
        }
    }

    fn take(&mut self, style: Style, out: &mut String) {
        if self.style != style {
            style.write(out);
            self.style = style;
        }
    }
}

fn move_to(out: &mut String, row: u16, col: u16) {
    push(out, format_args!("\x1b[{};{}H", row + 1, col + 1));
}

/// Appends formatted text.
pub(crate) fn push(out: &mut String, arguments: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _infallible = out.write_fmt(arguments);
}
