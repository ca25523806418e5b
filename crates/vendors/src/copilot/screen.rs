//! What the terminal shows: the input, or a dialog that wants an answer.

use std::ops::Range;

use segue_core::model::WaitingFor;
use segue_core::ports::{Answer, DialogText, Screen, Showing};
use segue_core::rules::dialog::{self, Choices};

use crate::choices::{meant, number_of};

/// Stands before the input, and before the choice that is marked.
const MARK: char = '❯';

/// Stands before each row of the input where it has a colour of its own.
const BAR: char = '┃';

/// How the edges above and below the input begin, in both of its looks.
const TOP: [&str; 2] = ["──────────", "╻▄▄▄▄▄▄▄▄▄"];
const BOTTOM: [&str; 2] = ["──────────", "╹▀▀▀▀▀▀▀▀▀"];

/// Shown below the input while the agent works, in several wordings.
const BUSY: &str = "interrupt";
const SPINNER: [char; 4] = ['◎', '◉', '●', '○'];

/// Stands above the input as long as nobody is signed in: what is sent then is not heard.
const SIGNED_OUT: &str = "Please use /login to sign in";

/// How far above the input it is, with the folder between them.
const ABOVE: usize = 3;

const TRUST: &str = "Confirm folder trust";
const PERMISSION: &str = "Do you want to";

/// Shown below dialogs.
const CANCEL: &str = "esc to cancel";

/// Stands in a choice that Escape takes; its number only marks it.
const BY_ESCAPE: &str = "(Esc";

/// Escape, told apart from the beginning of another key.
const ESCAPE: &[u8] = b"\x1b[27u";

/// Tells what the screen shows; none where neither an input nor a known dialog is on it.
pub(super) fn read(screen: &Screen) -> Option<Showing> {
    input(screen).or_else(|| Dialog::on(screen).map(|dialog| Showing::Dialog(dialog.waits_for)))
}

/// Returns the keys that give this answer to the dialog on the screen: the number of a choice takes
/// it at once, whichever one is marked, and Escape takes the one that says no.
pub(super) fn answer(screen: &Screen, answer: &Answer) -> Option<Vec<u8>> {
    if input(screen).is_some() {
        return None;
    }
    let choices = Dialog::on(screen)?.choices.texts;
    let wanted = meant(&choices, answer, &["yes"], &["no"])?;
    let is_escape = choices[wanted].contains(BY_ESCAPE);
    Some(if is_escape { ESCAPE.to_vec() } else { number_of(wanted) })
}

/// Returns the words and the choices of the dialog on the screen.
pub(super) fn dialog_text(screen: &Screen) -> Option<DialogText> {
    let Dialog { rows, choices, .. } = Dialog::on(screen)?;
    Some(dialog::text(&rows[..choices.rows.start], choices.texts))
}

/// Finds the input and tells what it shows: the last rows between two edges. On a terminal whose
/// colours it knows there is a bar before each row, and else the mark before the first.
fn input(screen: &Screen) -> Option<Showing> {
    let ends = |row: &String, edges: [&str; 2]| edges.iter().any(|edge| row.starts_with(edge));
    let bottom = screen.rows.iter().rposition(|row| ends(row, BOTTOM))?;
    let top = screen.rows[..bottom].iter().rposition(|row| ends(row, TOP))?;
    let inside = top + 1..bottom;
    screen.rows.get(inside.start)?.starts_with([MARK, BAR, '!']).then_some(())?;
    let below = &screen.rows[bottom + 1..];
    // A dialog below it has taken its place.
    (!below.iter().any(|row| row.starts_with('╭'))).then_some(())?;
    let above = &screen.rows[top.saturating_sub(ABOVE)..top];
    Some(if above.iter().any(|row| row.trim_start().starts_with(SIGNED_OUT)) {
        Showing::Dialog(WaitingFor::Question)
    } else if !is_empty(screen, inside) {
        Showing::Draft
    } else if below.iter().any(|row| is_busy(row)) {
        Showing::Busy
    } else {
        Showing::Ready
    })
}

fn is_empty(screen: &Screen, inside: Range<usize>) -> bool {
    let rows = screen.firm_rows.get(inside).unwrap_or_default();
    rows.iter().all(|row| row.trim_start_matches([MARK, BAR]).trim().is_empty())
}

fn is_busy(row: &str) -> bool {
    row.contains(BUSY) || row.trim_start().starts_with(SPINNER)
}

/// A box with choices of which one is marked.
struct Dialog<'a> {
    waits_for: WaitingFor,
    /// The rows inside of the box.
    rows: &'a [String],
    choices: Choices,
}

impl<'a> Dialog<'a> {
    /// Finds the last box on the screen, with a way out below its choices.
    fn on(screen: &'a Screen) -> Option<Self> {
        let top = screen.rows.iter().rposition(|row| row.starts_with('╭'))?;
        let rows = &screen.rows[top + 1..];
        let choices = dialog::numbered(rows, &[MARK])?;
        let (above, below) = (&rows[..choices.rows.start], &rows[choices.rows.end..]);
        below.iter().any(|row| row.contains(CANCEL)).then_some(())?;
        let words = |row: &String| row.trim_matches(['│', ' ']).to_owned();
        // What is right above the choices is never part of a command.
        let last = above.iter().map(words).rfind(|row| !row.is_empty()).unwrap_or_default();
        let waits_for = if last.starts_with(PERMISSION) {
            WaitingFor::Permission
        } else if above.iter().any(|row| row.contains(TRUST)) {
            WaitingFor::Trust
        } else {
            WaitingFor::Question
        };
        Some(Self { waits_for, rows, choices })
    }
}

#[cfg(test)]
mod tests;
