//! The screen of a terminal as runs of text with their style, for a program that draws it.

use vt100::{Cell, Color, Screen};

use crate::terminal::Terminal;

/// A piece of a row whose characters have the same style.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StyledRun {
    /// The column of the first character.
    pub column: u16,
    pub text: String,
    pub style: RunStyle,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunStyle {
    pub colour: RunColour,
    pub is_bold: bool,
    pub is_dim: bool,
}

/// The colour of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunColour {
    Default,
    /// An entry of the terminal's palette.
    Palette(u8),
    Rgb(u8, u8, u8),
}

impl Terminal {
    /// Returns the rows above the cursor. A row without text has no runs.
    pub fn rows_above_cursor(&self) -> Vec<Vec<StyledRun>> {
        let (cursor, _) = self.screen().cursor_position();
        (0..cursor).map(|row| runs(self.screen(), row)).collect()
    }
}

/// Returns the runs of a row. Two spaces end a run: the next text is another column of a table.
fn runs(screen: &Screen, row: u16) -> Vec<StyledRun> {
    let (_, columns) = screen.size();
    let mut runs: Vec<StyledRun> = Vec::new();
    let mut spaces = 0;
    for column in 0..columns.get() {
        let Some(cell) = screen.cell(row, column) else { break };
        let text = cell.contents();
        if text.trim().is_empty() {
            spaces += 1;
            continue;
        }
        let style = style(cell);
        match runs.last_mut() {
            Some(run) if spaces < 2 && run.style == style => {
                run.text.push_str(&" ".repeat(spaces));
                run.text.push_str(text);
            }
            _ => runs.push(StyledRun { column, text: text.to_owned(), style }),
        }
        spaces = 0;
    }
    runs
}

fn style(cell: &Cell) -> RunStyle {
    let colour = match cell.fgcolor() {
        Color::Default => RunColour::Default,
        Color::Idx(index) => RunColour::Palette(index),
        Color::Rgb(red, green, blue) => RunColour::Rgb(red, green, blue),
    };
    RunStyle { colour, is_bold: cell.bold(), is_dim: cell.dim() }
}
