//! What the terminal shows: the input, or a dialog that wants an answer.

use segue_core::model::WaitingFor;
use segue_core::ports::{Answer, Screen, Showing};

use crate::choices::{Choice, by_words, choice, plain};

/// Stands before the input, and before the choice that is marked.
const MARK: char = '❯';

/// Shown below the input while the agent works.
const BUSY: &str = "esc to interrupt";

/// What is asked before there is a conversation: about the folder, a key, and doing without asking.
const TRUST: [&str; 3] =
    ["Yes, I trust this folder", "Detected a custom API key", "running in Bypass Permissions mode"];

/// Shown below dialogs, in several wordings.
const CANCEL: &str = "Esc to cancel";

/// Tells what the screen shows; none where neither an input nor a known dialog is on it.
pub(super) fn read(screen: &Screen) -> Option<Showing> {
    if let Some(input) = input(screen) {
        return Some(match input {
            Input { is_empty: false, .. } => Showing::Draft,
            Input { busy: true, .. } => Showing::Busy,
            Input { .. } => Showing::Ready,
        });
    }
    dialog(screen).map(|dialog| Showing::Dialog(dialog.waits_for))
}

/// Returns the keys that give this answer to the dialog on the screen: the number of a choice takes
/// it at once, whichever one is marked.
pub(super) fn answer(screen: &Screen, answer: &Answer) -> Option<Vec<u8>> {
    if input(screen).is_some() {
        return None;
    }
    let choices = dialog(screen)?.choices;
    let chosen = match answer {
        Answer::Yes => plain(&choices, "Yes"),
        Answer::No => plain(&choices, "No"),
        Answer::Choice(words) => by_words(&choices, words.trim()),
    };
    chosen.map(|choice| choice.number.to_string().into_bytes())
}

struct Input {
    is_empty: bool,
    busy: bool,
}

/// Finds the input: the last rows between two rules, the first of them with the mark.
fn input(screen: &Screen) -> Option<Input> {
    let bottom = screen.rows.iter().rposition(|row| is_rule(row))?;
    let top = screen.rows[..bottom].iter().rposition(|row| is_rule(row))?;
    let inside = top + 1..bottom;
    screen.rows.get(inside.start)?.starts_with([MARK, '!']).then_some(())?;
    let below = &screen.rows[bottom + 1..];
    Some(Input {
        is_empty: is_empty(screen, inside),
        busy: below.iter().any(|row| row.contains(BUSY)),
    })
}

fn is_empty(screen: &Screen, mut inside: std::ops::Range<usize>) -> bool {
    let typed = |row: &str| row.trim_start_matches(MARK).trim().to_owned();
    let (Some(shown), Some(firm)) =
        (screen.rows.get(inside.start), screen.firm_rows.get(inside.start))
    else {
        return false;
    };
    let (shown, firm) = (typed(shown), typed(firm));
    // A placeholder is faint but for its first letter, on which the cursor is drawn.
    let first = firm.is_empty() || (firm.chars().count() == 1 && shown != firm);
    inside.start += 1;
    let others = screen.firm_rows.get(inside).unwrap_or_default();
    first && others.iter().all(|row| row.trim().is_empty())
}

/// A rule goes from edge to edge; the upper one may end with the name of the session.
fn is_rule(row: &str) -> bool {
    row.starts_with("──────────")
}

struct Dialog {
    waits_for: WaitingFor,
    choices: Vec<Choice>,
}

/// Finds the dialog below the last rule: choices of which one is marked, with a way out below.
fn dialog(screen: &Screen) -> Option<Dialog> {
    let top = screen.rows.iter().rposition(|row| is_rule(row)).map_or(0, |at| at + 1);
    let rows = &screen.rows[top..];
    let has = |text: &str| rows.iter().any(|row| row.contains(text));
    let choices: Vec<Choice> = rows.iter().filter_map(|row| choice(row, MARK)).collect();
    let is_marked = rows.iter().any(|row| row.trim_start().starts_with(MARK));
    if choices.is_empty() || !is_marked || !has(CANCEL) {
        return None;
    }
    let waits_for = if TRUST.iter().any(|text| has(text)) {
        WaitingFor::Trust
    } else if has("Do you want") {
        WaitingFor::Permission
    } else {
        WaitingFor::Question
    };
    Some(Dialog { waits_for, choices })
}

#[cfg(test)]
mod tests;
