//! What the terminal shows: the input, or a dialog that wants an answer.

use std::ops::Range;

use segue_core::model::WaitingFor;
use segue_core::ports::{Answer, Screen, Showing};

use crate::choices::{Choice, by_words, choice, plain};

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
    input(screen).or_else(|| dialog(screen).map(|dialog| Showing::Dialog(dialog.waits_for)))
}

/// Returns the keys that give this answer to the dialog on the screen: the number of a choice takes
/// it at once, whichever one is marked, and Escape takes the one that says no.
pub(super) fn answer(screen: &Screen, answer: &Answer) -> Option<Vec<u8>> {
    if input(screen).is_some() {
        return None;
    }
    let choices = dialog(screen)?.choices;
    let chosen = match answer {
        Answer::Yes => plain(&choices, "Yes"),
        Answer::No => plain(&choices, "No"),
        Answer::Choice(words) => by_words(&choices, words.trim()),
    }?;
    let is_escape = chosen.text.contains(BY_ESCAPE);
    Some(if is_escape { ESCAPE.to_vec() } else { chosen.number.to_string().into_bytes() })
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

struct Dialog {
    waits_for: WaitingFor,
    choices: Vec<Choice>,
}

/// Finds the dialog: the last box with choices of which one is marked, with a way out below.
fn dialog(screen: &Screen) -> Option<Dialog> {
    let top = screen.rows.iter().rposition(|row| row.starts_with('╭'))?;
    let rows: Vec<&str> =
        screen.rows[top..].iter().map(|row| row.trim_matches(['│', ' '])).collect();
    let has = |text: &str| rows.iter().any(|row| row.contains(text));
    let choices: Vec<Choice> = rows.iter().filter_map(|row| choice(row, MARK)).collect();
    let is_marked = rows.iter().any(|row| row.starts_with(MARK));
    if choices.is_empty() || !is_marked || !has(CANCEL) {
        return None;
    }
    let waits_for = if has(TRUST) {
        WaitingFor::Trust
    } else if has(PERMISSION) {
        WaitingFor::Permission
    } else {
        WaitingFor::Question
    };
    Some(Dialog { waits_for, choices })
}

#[cfg(test)]
mod tests;
