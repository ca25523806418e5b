//! Reads the screen: the input, or a dialog that waits for an answer. Answers dialogs.

use std::ops::Range;

use segue_core::model::{DialogText, Screen, Showing, WaitingFor};
use segue_core::ports::{Answer, Interaction, Readiness, Typing};
use segue_core::rules::dialog::{self, Choices};

use super::{Copilot, typing};
use crate::shared::choices::{find_choice, number_key};

/// Drawn before the input, and before the selected choice of a dialog.
const MARK: char = '❯';

/// Drawn before each row of the input if the input is drawn in its own colour.
const BAR: char = '┃';

/// How the borders above and below the input begin, in both styles of the input.
const TOP_BORDERS: [&str; 2] = ["──────────", "╻▄▄▄▄▄▄▄▄▄"];
const BOTTOM_BORDERS: [&str; 2] = ["──────────", "╹▀▀▀▀▀▀▀▀▀"];

/// Part of the hints that are shown below the input while the agent works. Their wording differs.
const BUSY_HINT: &str = "interrupt";
const SPINNER: [char; 4] = ['◎', '◉', '●', '○'];

/// Shown above the input while no account is signed in. Copilot ignores messages that are sent
/// then.
const SIGNED_OUT_PREFIX: &str = "Please use /login to sign in";

/// How many rows above the input are searched for `SIGNED_OUT_PREFIX`. The working folder is shown
/// between that text and the input.
const SEARCHED_ROWS_ABOVE: usize = 3;

const TRUST_TEXT: &str = "Confirm folder trust";
const PERMISSION_PREFIX: &str = "Do you want to";

/// Shown below the choices of a dialog.
const CANCEL_HINT: &str = "esc to cancel";

/// Part of the choice that Escape confirms. The number of this choice only selects it.
const ESCAPE_HINT: &str = "(Esc";

/// The Escape key as `CSI 27 u`. Copilot cannot mistake this for the beginning of another key's
/// sequence.
const ESCAPE: &[u8] = b"\x1b[27u";

/// The keys that interrupt a turn: Escape twice, each as `CSI 27 u`.
const INTERRUPT_KEYS: &[u8] = b"\x1b[27u\x1b[27u";

impl Interaction for Copilot {
    /// Returns what the screen shows; `None` if it shows neither an input nor a known dialog.
    fn read_screen(&self, screen: &Screen) -> Option<Showing> {
        input(screen).or_else(|| {
            CopilotDialog::find_on(screen).map(|dialog| Showing::Dialog(dialog.waits_for))
        })
    }

    /// Returns the question and the choices of the dialog on the screen.
    fn dialog_text(&self, screen: &Screen) -> Option<DialogText> {
        let CopilotDialog { rows, choices, .. } = CopilotDialog::find_on(screen)?;
        Some(dialog::text(&rows[..choices.rows.start], choices.texts))
    }

    fn readiness(&self) -> Readiness {
        // Copilot records nothing before the first message.
        Readiness::ShownUntilReported
    }

    fn typing(&self, message: &str) -> Typing {
        typing::typing(message)
    }

    /// The key is the number of the choice, without Enter. For the choice that means no, the key is
    /// Escape.
    fn answer(&self, screen: &Screen, answer: &Answer) -> Option<Vec<u8>> {
        if input(screen).is_some() {
            return None;
        }
        let choices = CopilotDialog::find_on(screen)?.choices.texts;
        let wanted = find_choice(&choices, answer, &["yes"], &["no"])?;
        let is_escape = choices[wanted].contains(ESCAPE_HINT);
        Some(if is_escape { ESCAPE.to_vec() } else { number_key(wanted) })
    }

    fn interrupt(&self) -> Vec<u8> {
        INTERRUPT_KEYS.to_vec()
    }
}

/// Finds the input and returns its state. The input is the last group of rows between two borders.
/// If Copilot knows the terminal's colours, each row begins with a bar; otherwise only the first
/// row begins with the mark.
fn input(screen: &Screen) -> Option<Showing> {
    let begins_with_any =
        |row: &String, edges: [&str; 2]| edges.iter().any(|edge| row.starts_with(edge));
    let bottom = screen.rows.iter().rposition(|row| begins_with_any(row, BOTTOM_BORDERS))?;
    let top = screen.rows[..bottom].iter().rposition(|row| begins_with_any(row, TOP_BORDERS))?;
    let inside = top + 1..bottom;
    screen.rows.get(inside.start)?.starts_with([MARK, BAR, '!']).then_some(())?;
    let below = &screen.rows[bottom + 1..];
    // A dialog below the input has replaced it.
    (!below.iter().any(|row| row.starts_with('╭'))).then_some(())?;
    let above = &screen.rows[top.saturating_sub(SEARCHED_ROWS_ABOVE)..top];
    Some(if above.iter().any(|row| row.trim_start().starts_with(SIGNED_OUT_PREFIX)) {
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
    row.contains(BUSY_HINT) || row.trim_start().starts_with(SPINNER)
}

/// A box with choices, one of which is selected.
struct CopilotDialog<'a> {
    waits_for: WaitingFor,
    /// The rows below the top border of the box.
    rows: &'a [String],
    choices: Choices,
}

impl<'a> CopilotDialog<'a> {
    /// Finds the last box on the screen. `None` if it has no choices, or no hint about cancelling
    /// below them.
    fn find_on(screen: &'a Screen) -> Option<Self> {
        let top = screen.rows.iter().rposition(|row| row.starts_with('╭'))?;
        let rows = &screen.rows[top + 1..];
        let choices = dialog::numbered(rows, &[MARK])?;
        let (above, below) = (&rows[..choices.rows.start], &rows[choices.rows.end..]);
        below.iter().any(|row| row.contains(CANCEL_HINT)).then_some(())?;
        let text = |row: &String| row.trim_matches(['│', ' ']).to_owned();
        // The row right above the choices is never part of the command, so a command cannot imitate
        // this row.
        let last = above.iter().map(text).rfind(|row| !row.is_empty()).unwrap_or_default();
        let waits_for = if last.starts_with(PERMISSION_PREFIX) {
            WaitingFor::Permission
        } else if above.iter().any(|row| row.contains(TRUST_TEXT)) {
            WaitingFor::Trust
        } else {
            WaitingFor::Question
        };
        Some(Self { waits_for, rows, choices })
    }
}

#[cfg(test)]
mod tests;
