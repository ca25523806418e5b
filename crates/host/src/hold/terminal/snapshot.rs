//! The screen as data, for programs.

use serde::{Deserialize, Serialize};

use super::{Size, Terminal};

/// What an agent's terminal shows now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    pub size: Size,
    /// The text of each row, without the blanks at its end.
    pub rows: Vec<String>,
    pub cursor: Cursor,
    pub title: String,
    /// Whether the alternate screen is shown.
    pub alternate: bool,
    /// The private modes that are on.
    pub modes: Vec<u16>,
    /// The flags of the keyboard protocol.
    pub keyboard: u16,
}

/// Where the cursor is, from 0, and whether it is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cursor {
    pub row: u16,
    pub col: u16,
    pub visible: bool,
}

impl Terminal {
    pub(crate) fn snapshot(&self) -> Snapshot {
        let screen = self.screen();
        let size = self.size();
        let (row, col) = screen.cursor_position();
        Snapshot {
            size,
            rows: screen.rows(0, size.cols).map(|row| row.trim_end().to_owned()).collect(),
            cursor: Cursor { row, col, visible: !screen.hide_cursor() },
            title: self.title.clone(),
            alternate: screen.alternate_screen(),
            modes: self.modes_on(),
            keyboard: self.keyboard().flags(),
        }
    }
}
