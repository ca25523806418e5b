//! Reads what an interactive Gemini shows, and answers its questions.

use segue_core::model::{Activity, DialogText, Screen, Showing, WaitingFor};
use segue_core::ports::{Answer, Interaction, Readiness, Typing};
use segue_core::rules::dialog::{self, Choices};

use super::signals::title_activity;
use super::{Gemini, typing};
use crate::shared::choices::{find_choice, number_key};

/// Drawn before the input: usually, in the mode without permission questions, and if the text goes
/// to the shell.
const MARKS: [&str; 3] = [" > ", " * ", " ! "];

/// Texts in an input without a draft.
const PLACEHOLDERS: [&str; 4] = [
    "Type your message or @path/to/file",
    "Type your shell command",
    "Press 'i' for INSERT mode.",
    "Press 'Esc' for NORMAL mode.",
];

/// Drawn before the marked choice.
const CHOSEN: char = '●';

/// Beginning of the upper edge of a frame.
const CORNER: char = '╭';

/// Texts in questions, and what these questions ask for.
const QUESTIONS: [(&str, WaitingFor); 6] = [
    ("Do you trust", WaitingFor::Trust),
    ("How would you like to authenticate", WaitingFor::Trust),
    ("Allow execution", WaitingFor::Permission),
    ("Apply this change?", WaitingFor::Permission),
    ("Do you want to proceed", WaitingFor::Permission),
    ("Allow ", WaitingFor::Permission),
];

impl Interaction for Gemini {
    /// Returns what the screen shows, or `None` if it shows neither an input nor a question.
    fn read_screen(&self, screen: &Screen) -> Option<Showing> {
        if let Some(question) = GeminiQuestion::on(screen) {
            return Some(Showing::Dialog(question.asks));
        }
        match title_activity(&screen.title) {
            Some(Activity::Working) => Some(Showing::Busy),
            Some(Activity::Waiting(reason)) => Some(Showing::Dialog(reason)),
            Some(Activity::Idle) | None => input(screen),
        }
    }

    /// Returns the text and the choices of the question on the screen.
    fn dialog_text(&self, screen: &Screen) -> Option<DialogText> {
        let GeminiQuestion { rows, choices, .. } = GeminiQuestion::on(screen)?;
        Some(dialog::text(rows, choices.texts))
    }

    fn readiness(&self) -> Readiness {
        Readiness::Shown
    }

    fn typing(&self, message: &str) -> Typing {
        typing::typing(message)
    }

    /// Returns the keys that give this answer to the question on the screen, or `None` if there is
    /// no such answer. The number of a choice selects it at once, whichever choice is marked.
    fn answer(&self, screen: &Screen, answer: &Answer) -> Option<Vec<u8>> {
        let choices = GeminiQuestion::on(screen)?.choices.texts;
        let yes = ["allow once", "yes, allow once", "trust folder", "yes"];
        find_choice(&choices, answer, &yes, &["no", "don't trust"]).map(number_key)
    }
}

/// Returns whether the input is empty or has a draft, or `None` if there is no input.
fn input(screen: &Screen) -> Option<Showing> {
    let rule = screen.rows.iter().rposition(|row| is_rule(row))?;
    let rows = &screen.rows[rule + 1..];
    let text = rows.iter().find_map(|row| MARKS.iter().find_map(|mark| marked(row, mark)))?;
    let is_empty = text.is_empty() || PLACEHOLDERS.contains(&text);
    Some(if is_empty { Showing::Ready } else { Showing::Draft })
}

/// Returns the text after the mark, or `None` if the row does not begin with it. If there is no
/// text, the row has no space after the mark.
fn marked<'a>(row: &'a str, mark: &str) -> Option<&'a str> {
    if row == mark.trim_end() { Some("") } else { row.strip_prefix(mark).map(str::trim) }
}

/// Returns whether a row is a rule. The rule above the input spans the whole width.
fn is_rule(row: &str) -> bool {
    row.starts_with("──────────")
}

/// A question with numbered choices, in a frame.
#[derive(Debug)]
struct GeminiQuestion<'a> {
    asks: WaitingFor,
    /// The rows of the frame above the choices.
    rows: &'a [String],
    choices: Choices,
}

impl<'a> GeminiQuestion<'a> {
    /// Finds the question on the screen: choices in a frame, one of which is marked. The screen
    /// must not show an input.
    fn on(screen: &'a Screen) -> Option<Self> {
        if input(screen).is_some() {
            return None;
        }
        // Text of the agent above the frame can look like choices.
        let rows = dialog::last_box(&screen.rows);
        rows.first()?.trim_start().starts_with(CORNER).then_some(())?;
        let choices = dialog::numbered(rows, &[CHOSEN])?;
        let rows = &rows[..choices.rows.start];
        let known = |row: &String| QUESTIONS.iter().find(|(words, _)| row.contains(words));
        let asks = rows.iter().rev().find_map(known).map(|(_, asks)| *asks);
        Some(Self { asks: asks.unwrap_or(WaitingFor::Question), rows, choices })
    }
}

#[cfg(test)]
mod tests;
