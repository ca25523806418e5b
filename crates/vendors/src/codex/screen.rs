//! Reads the screen of an interactive Codex, and answers its questions.

use segue_core::model::{Activity, DialogText, Screen, Showing, WaitingFor};
use segue_core::ports::{Answer, Interaction, Typing};
use segue_core::rules::dialog::{self, Choices};

use super::signals::title_activity;
use super::{Codex, typing};
use crate::shared::choices::{find_choice, keys_to};

/// Drawn before the input, and before the marked choice.
const MARK: char = '›';

/// Drawn before the input if its text goes to the shell.
const SHELL_MARK: char = '!';

/// Shown instead of the input while another process has the conversation open.
const OPEN_ELSEWHERE_TEXT: &str = "This conversation is open in another app";

/// Texts in questions, and what these questions ask for.
const QUESTIONS: [(&str, WaitingFor); 10] = [
    ("Trust this folder?", WaitingFor::Trust),
    ("Hooks need review", WaitingFor::Trust),
    ("Working directory", WaitingFor::Trust),
    ("Would you like to", WaitingFor::Permission),
    ("needs your approval", WaitingFor::Permission),
    ("Do you want to", WaitingFor::Permission),
    ("Allow", WaitingFor::Permission),
    ("Approve", WaitingFor::Permission),
    ("Question", WaitingFor::Question),
    ("question", WaitingFor::Question),
];

/// Beginnings of the choices that grant the least, and of the choices that grant nothing.
const YES_PREFIXES: [&str; 6] = [
    "yes, proceed",
    "yes, just this once",
    "yes, grant these permissions for this turn",
    "yes",
    "trust",
    "allow",
];
const NO_PREFIXES: [&str; 4] = ["no, and tell codex", "no", "quit", "continue without"];

/// Maximum number of rows from the beginning of a question to its choices.
const MOST_QUESTION_ROWS: usize = 24;

impl Interaction for Codex {
    /// Returns what the screen shows. `None` before Codex has set its title, and while another
    /// process has the conversation open.
    fn read_screen(&self, screen: &Screen) -> Option<Showing> {
        if screen.rows.iter().any(|row| row.contains(OPEN_ELSEWHERE_TEXT)) {
            return None;
        }
        let activity = title_activity(&screen.title);
        if let Some(question) = CodexQuestion::find_on(screen) {
            let reason = question.waits_for.or(match activity {
                Some(Activity::Waiting(reason)) => Some(reason),
                _ => None,
            });
            return Some(Showing::Dialog(reason.unwrap_or(WaitingFor::Question)));
        }
        match activity? {
            Activity::Waiting(reason) => Some(Showing::Dialog(reason)),
            Activity::Working => Some(Showing::Busy),
            Activity::Idle => input(screen),
        }
    }

    /// Returns the text and the choices of the question on the screen.
    fn dialog_text(&self, screen: &Screen) -> Option<DialogText> {
        let CodexQuestion { rows, choices, .. } = CodexQuestion::find_on(screen)?;
        Some(dialog::text(rows, choices.texts))
    }

    fn typing(&self, message: &str) -> Typing {
        typing::typing(message)
    }

    /// Returns the keys that give this answer to the question on the screen, or `None` if there is
    /// no such answer.
    fn answer(&self, screen: &Screen, answer: &Answer) -> Option<Vec<u8>> {
        let Choices { texts, marked, .. } = CodexQuestion::find_on(screen)?.choices;
        Some(keys_to(find_choice(&texts, answer, &YES_PREFIXES, &NO_PREFIXES)?, marked))
    }
}

/// Returns whether the input is empty or has a draft. A placeholder, which is drawn faint, is no
/// draft.
fn input(screen: &Screen) -> Option<Showing> {
    let (row, _) = screen.cursor?;
    let above = screen.firm_rows.get(..=usize::from(row))?;
    // The rows between the mark and the cursor are the indented further lines of the text.
    let first = above.iter().rposition(|row| row.starts_with([MARK, SHELL_MARK]))?;
    let below = screen.firm_rows.get(usize::from(row) + 1);
    let is_empty = above[first].trim_end() == MARK.to_string()
        && above.len() - first == 1
        && below.is_none_or(|row| row.trim().is_empty());
    Some(if is_empty { Showing::Ready } else { Showing::Draft })
}

/// A question with numbered choices.
#[derive(Debug)]
struct CodexQuestion<'a> {
    waits_for: Option<WaitingFor>,
    /// The rows with the text of the question.
    rows: &'a [String],
    choices: Choices,
}

impl<'a> CodexQuestion<'a> {
    /// Finds the question on the screen. It takes the place of the input, so the cursor is hidden.
    /// Text of the conversation can look like a question, but then the input is still there.
    fn find_on(screen: &'a Screen) -> Option<Self> {
        if screen.cursor.is_some() {
            return None;
        }
        let choices = dialog::numbered(&screen.rows, &[MARK])?;
        let above = &screen.rows[..choices.rows.start];
        let known_question = |row: &String| QUESTIONS.iter().find(|(text, _)| row.contains(text));
        let waits_for = above
            .iter()
            .rev()
            .take(MOST_QUESTION_ROWS)
            .find_map(known_question)
            .map(|(_, waits_for)| *waits_for);
        // The first possible heading counts: the command below it can contain the same words.
        let is_heading =
            |row: &String| QUESTIONS.iter().any(|(text, _)| row.trim_start().starts_with(text));
        let first = above.iter().position(is_heading).unwrap_or(0);
        // The subject of the question can be above its heading.
        let first = above[..first].iter().rposition(|row| row.trim().is_empty()).unwrap_or(0);
        Some(Self { waits_for, rows: &above[first..], choices })
    }
}

#[cfg(test)]
mod tests;
