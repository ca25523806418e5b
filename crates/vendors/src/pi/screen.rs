//! Parses the screen of an interactive Pi.

use segue_core::model::{Screen, Showing};
use segue_core::ports::{Interaction, Typing};

use super::{Pi, typing};

/// The beginning of the rows above and below the input.
const BORDER: &str = "───";

/// How many rows above the input are searched for the spinner. There is an empty row between the
/// spinner and the input.
const SPINNER_ROWS: usize = 3;

impl Interaction for Pi {
    fn read_screen(&self, screen: &Screen) -> Option<Showing> {
        Some(read(screen))
    }

    fn typing(&self, message: &str) -> Typing {
        typing::typing(message)
    }
}

/// Parses the screen. A screen without an input counts as busy.
pub(super) fn read(screen: &Screen) -> Showing {
    let borders: Vec<usize> =
        (0..screen.rows.len()).filter(|row| is_border(screen, *row)).collect();
    let [.., top, bottom] = borders.as_slice() else { return Showing::Busy };
    let input = &screen.rows[top + 1..*bottom];
    if input.is_empty() {
        return Showing::Busy;
    }
    if input.iter().any(|row| !row.trim().is_empty()) {
        return Showing::Draft;
    }
    let above = &screen.rows[top.saturating_sub(SPINNER_ROWS)..*top];
    if above.iter().any(|row| is_spinner(row)) { Showing::Busy } else { Showing::Ready }
}

fn is_border(screen: &Screen, row: usize) -> bool {
    screen.rows[row].starts_with(BORDER)
}

/// Returns whether the row shows a spinner, which Pi draws with Braille characters.
fn is_spinner(row: &str) -> bool {
    row.trim_start().starts_with(|c| ('\u{2800}'..='\u{28ff}').contains(&c))
}

#[cfg(test)]
mod tests;
