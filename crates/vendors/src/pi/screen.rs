//! What an interactive Pi shows.

use segue_core::ports::{Screen, Showing};

/// What the lines above and below the input begin with.
const BORDER: &str = "───";

/// How many rows above the input Pi says that it works: an empty one is between.
const ABOVE: usize = 3;

/// Tells what the screen shows. Where no input can be seen, nothing must be typed.
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

/// Spinners are drawn with Braille.
fn is_spinner(row: &str) -> bool {
    row.trim_start().starts_with(|c| ('\u{2800}'..='\u{28ff}').contains(&c))
}

#[cfg(test)]
mod tests;
