//! The screen as data, for programs.

use serde::{Deserialize, Serialize};
use vt100::Cell;

use super::{Size, VirtualTerminal};
use crate::hold::wire::ScreenNow;

/// The current content of an agent's terminal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    pub size: Size,
    /// The text of each row, without the blanks at its end.
    pub rows: Vec<String>,
    pub cursor: SnapshotCursor,
    pub title: String,
    /// Whether the alternate screen is shown.
    pub alternate: bool,
    /// The private modes that are on.
    pub modes: Vec<u16>,
    /// The flags of the keyboard protocol.
    pub keyboard: u16,
}

/// The position of the cursor, counted from 0, and whether it is visible.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SnapshotCursor {
    pub row: u16,
    pub col: u16,
    pub visible: bool,
}

impl VirtualTerminal {
    pub(crate) fn snapshot(&self) -> Snapshot {
        let screen = self.screen();
        let size = self.size();
        let (row, col) = screen.cursor_position();
        Snapshot {
            size,
            rows: self.rows(),
            cursor: SnapshotCursor { row, col, visible: !screen.hide_cursor() },
            title: self.title.clone(),
            alternate: screen.alternate_screen(),
            modes: self.modes_on(),
            keyboard: self.keyboard().flags(),
        }
    }

    /// Returns the screen for programs that read it, with its revision.
    pub(crate) fn screen_now(&self, revision: u64) -> ScreenNow {
        let screen = self.screen();
        let cursor = (!screen.hide_cursor()).then(|| screen.cursor_position());
        let (rows, firm_rows) = (self.rows(), self.firm_rows());
        ScreenNow { rows, firm_rows, title: self.title.clone(), cursor, revision }
    }

    fn rows(&self) -> Vec<String> {
        let rows = self.screen().rows(0, self.size().cols);
        rows.map(|row| row.trim_end().to_owned()).collect()
    }

    /// Returns the rows, with spaces in place of faint text.
    fn firm_rows(&self) -> Vec<String> {
        let size = self.size();
        let firm_row = |row| {
            let cells = (0..size.cols).filter_map(|col| self.screen().cell(row, col));
            let text: String = cells.map(firm).collect();
            text.trim_end().to_owned()
        };
        (0..size.rows).map(firm_row).collect()
    }
}

/// Returns the text of a cell, with spaces in place of faint text.
fn firm(cell: &Cell) -> &str {
    match (cell.is_wide_continuation(), cell.dim() || !cell.has_contents()) {
        // The cell is the second half of the wide character before it.
        (true, _) => "",
        (false, true) if cell.is_wide() => "  ",
        (false, true) => " ",
        (false, false) => cell.contents(),
    }
}
