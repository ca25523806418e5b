//! Reads the screen of an interactive Pi.

use segue_core::model::{Screen, Showing};
use segue_core::ports::{Interaction, Typing};

use super::{Pi, typing};

/// How the lines above and below the input begin.
const BORDER: &str = "───";

/// How many rows above the input are searched for the spinner. An empty row is between the spinner
/// and the input.
const ABOVE: usize = 3;

impl Interaction for Pi {
    fn read_screen(&self, screen: &Screen) -> Option<Showing> {
        Some(read(screen))
    }

    fn typing(&self, message: &str) -> Typing {
        typing::typing(message)
    }
}

/// Returns what the screen shows. A screen without an input counts as busy, because nothing must be
/// typed into it.
pub(super) fn read(screen: &Screen) -> Showing {
    let borders: Vec<usize> = (0..screen.rows.len()).filter(|at| is_border(screen, *at)).collect();
    let [.., top, bottom] = borders.as_slice() else { return Showing::Busy };
    let input = &screen.rows[top + 1..*bottom];
    if input.is_empty() {
        return Showing::Busy;
    }
    if input.iter().any(|row| !row.trim().is_empty()) {
        return Showing::Draft;
    }
    let above = &screen.rows[top.saturating_sub(ABOVE)..*top];
    if above.iter().any(|row| is_spinner(row)) { Showing::Busy } else { Showing::Ready }
}

fn is_border(screen: &Screen, at: usize) -> bool {
    screen.rows[at].starts_with(BORDER)
}

/// Returns whether the row shows a spinner, which Pi draws with Braille characters.
fn is_spinner(row: &str) -> bool {
    row.trim_start().starts_with(|c| ('\u{2800}'..='\u{28ff}').contains(&c))
}

#[cfg(test)]
mod tests;
