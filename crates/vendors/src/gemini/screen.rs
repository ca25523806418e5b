//! Parses the screen of an interactive Gemini, and finds the keys that answer its questions.

use segue_core::model::{Activity, DialogText, Screen, Showing, WaitingFor};
use segue_core::ports::{Answer, Interaction, Readiness, Typing};
use segue_core::rules::dialog::{self, Choices};

use super::signals::title_activity;
use super::{Gemini, typing};
use crate::shared::choices::{find_choice, number_key};

/// The beginnings of the input row: in normal mode, in the mode without permission questions, and
/// in shell mode.
const INPUT_PREFIXES: [&str; 3] = [" > ", " * ", " ! "];

/// Texts in an empty input.
const PLACEHOLDERS: [&str; 4] = [
    "Type your message or @path/to/file",
    "Type your shell command",
    "Press 'i' for INSERT mode.",
    "Press 'Esc' for NORMAL mode.",
];

/// The mark before the selected choice.
const MARKER: char = '●';

/// The beginning of the top row of a frame.
const FRAME_CORNER: char = '╭';

/// Texts in questions, and the reasons of these questions.
const QUESTIONS: [(&str, WaitingFor); 6] = [
    ("Do you trust", WaitingFor::Trust),
    ("How would you like to authenticate", WaitingFor::Trust),
    ("Allow execution", WaitingFor::Permission),
    ("Apply this change?", WaitingFor::Permission),
    ("Do you want to proceed", WaitingFor::Permission),
    ("Allow ", WaitingFor::Permission),
];

impl Interaction for Gemini {
    fn read_screen(&self, screen: &Screen) -> Option<Showing> {
        if let Some(question) = GeminiQuestion::find_on(screen) {
            return Some(Showing::Dialog(question.reason));
        }
        match title_activity(&screen.title) {
            Some(Activity::Working) => Some(Showing::Busy),
            Some(Activity::Waiting(reason)) => Some(Showing::Dialog(reason)),
            Some(Activity::Idle) | None => input(screen),
        }
    }

    fn dialog_text(&self, screen: &Screen) -> Option<DialogText> {
        let GeminiQuestion { rows, choices, .. } = GeminiQuestion::find_on(screen)?;
        Some(dialog::text(rows, choices.texts))
    }

    fn readiness(&self) -> Readiness {
        Readiness::Shown
    }

    fn typing(&self, message: &str) -> Typing {
        typing::typing(message)
    }

    /// Returns the number of the choice. Gemini accepts the number without Enter.
    fn answer(&self, screen: &Screen, answer: &Answer) -> Option<Vec<u8>> {
        let choices = GeminiQuestion::find_on(screen)?.choices.texts;
        let yes = ["allow once", "yes, allow once", "trust folder", "yes"];
        find_choice(&choices, answer, &yes, &["no", "don't trust"]).map(number_key)
    }
}

/// Returns whether the input is empty or has a draft. `None` if there is no input.
fn input(screen: &Screen) -> Option<Showing> {
    let rule = screen.rows.iter().rposition(|row| is_rule(row))?;
    let rows = &screen.rows[rule + 1..];
    let text =
        rows.iter().find_map(|row| INPUT_PREFIXES.iter().find_map(|mark| text_after(row, mark)))?;
    let is_empty = text.is_empty() || PLACEHOLDERS.contains(&text);
    Some(if is_empty { Showing::Ready } else { Showing::Draft })
}

/// Returns the text of a row after the prefix. `None` if the row does not begin with the prefix. If
/// the text is empty, the row does not have the last space of the prefix.
fn text_after<'a>(row: &'a str, mark: &str) -> Option<&'a str> {
    if row == mark.trim_end() { Some("") } else { row.strip_prefix(mark).map(str::trim) }
}

/// Returns whether a row is a horizontal line. Gemini draws such a line above the input.
fn is_rule(row: &str) -> bool {
    row.starts_with("──────────")
}

/// A question with numbered choices, in a frame.
#[derive(Debug)]
struct GeminiQuestion<'a> {
    reason: WaitingFor,
    /// The rows of the frame above the choices.
    rows: &'a [String],
    choices: Choices,
}

impl<'a> GeminiQuestion<'a> {
    /// Finds the question on the screen: choices in a frame, one of them selected. `None` if the
    /// screen shows an input.
    fn find_on(screen: &'a Screen) -> Option<Self> {
        if input(screen).is_some() {
            return None;
        }
        // The agent's text above the frame can look like choices.
        let rows = dialog::last_box(&screen.rows);
        rows.first()?.trim_start().starts_with(FRAME_CORNER).then_some(())?;
        let choices = dialog::numbered(rows, &[MARKER])?;
        let rows = &rows[..choices.rows.start];
        let find_text = |row: &String| QUESTIONS.iter().find(|(text, _)| row.contains(text));
        let reason = rows.iter().rev().find_map(find_text).map(|(_, reason)| *reason);
        Some(Self { reason: reason.unwrap_or(WaitingFor::Question), rows, choices })
    }
}

#[cfg(test)]
mod tests;
