//! What an interactive Codex shows, and how its questions are answered.

use segue_core::model::WaitingFor;
use segue_core::ports::{Activity, Answer, DialogText, Screen, Showing};
use segue_core::rules::dialog::{self, Choices};

use super::signals::title_activity;
use crate::choices::{keys_to, meant};

/// What the input begins with, and the chosen one of several choices.
const MARK: char = '›';

/// What the input begins with when it is for the shell.
const SHELL_MARK: char = '!';

/// What is on the screen instead of an input while another process has the conversation.
const ELSEWHERE: &str = "This conversation is open in another app";

/// Words of questions, and what they ask for.
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

/// How the choices begin that grant as little as possible, and those that grant nothing.
const YES: [&str; 6] = [
    "yes, proceed",
    "yes, just this once",
    "yes, grant these permissions for this turn",
    "yes",
    "trust",
    "allow",
];
const NO: [&str; 4] = ["no, and tell codex", "no", "quit", "continue without"];

/// How many rows above its choices a question begins at most.
const FARTHEST: usize = 24;

/// Tells what the screen shows; none before Codex has drawn its input for good.
pub(super) fn read(screen: &Screen) -> Option<Showing> {
    if screen.rows.iter().any(|row| row.contains(ELSEWHERE)) {
        return None;
    }
    let activity = title_activity(&screen.title);
    if let Some(question) = Question::on(screen) {
        let asked = question.asks.or(match activity {
            Some(Activity::Waiting(reason)) => Some(reason),
            _ => None,
        });
        return Some(Showing::Dialog(asked.unwrap_or(WaitingFor::Question)));
    }
    match activity? {
        Activity::Waiting(reason) => Some(Showing::Dialog(reason)),
        Activity::Working => Some(Showing::Busy),
        Activity::Idle => input(screen),
    }
}

/// Tells whether the input has somebody's text in it: a placeholder is drawn faint.
fn input(screen: &Screen) -> Option<Showing> {
    let (row, _) = screen.cursor?;
    let above = screen.firm_rows.get(..=usize::from(row))?;
    // Further lines of a text are indented; nothing else is between the mark and the cursor.
    let first = above.iter().rposition(|row| row.starts_with([MARK, SHELL_MARK]))?;
    let below = screen.firm_rows.get(usize::from(row) + 1);
    let empty = above[first].trim_end() == MARK.to_string()
        && above.len() - first == 1
        && below.is_none_or(|row| row.trim().is_empty());
    Some(if empty { Showing::Ready } else { Showing::Draft })
}

/// A question with numbered choices.
#[derive(Debug)]
struct Question<'a> {
    asks: Option<WaitingFor>,
    /// The rows that say what is asked.
    rows: &'a [String],
    choices: Choices,
}

impl<'a> Question<'a> {
    /// Finds the one on the screen, where there is no input. What was said above it can look like
    /// one, but leaves the input there.
    fn on(screen: &'a Screen) -> Option<Self> {
        if screen.cursor.is_some() {
            return None;
        }
        let choices = dialog::numbered(&screen.rows, &[MARK])?;
        let above = &screen.rows[..choices.rows.start];
        let known = |row: &String| QUESTIONS.iter().find(|(words, _)| row.contains(words));
        let asks = above.iter().rev().take(FARTHEST).find_map(known).map(|(_, asks)| *asks);
        // The first one that could be its heading: a command can have the same words.
        let is_heading =
            |row: &String| QUESTIONS.iter().any(|(words, _)| row.trim_start().starts_with(words));
        let first = above.iter().position(is_heading).unwrap_or(0);
        // What it is about can stand above its heading.
        let first = above[..first].iter().rposition(|row| row.trim().is_empty()).unwrap_or(0);
        Some(Self { asks, rows: &above[first..], choices })
    }
}

/// Returns the words and the choices of the question on the screen.
pub(super) fn dialog_text(screen: &Screen) -> Option<DialogText> {
    let Question { rows, choices, .. } = Question::on(screen)?;
    Some(dialog::text(rows, choices.texts))
}

/// Returns the keys that give this answer to the question on the screen.
pub(super) fn answer(screen: &Screen, answer: &Answer) -> Option<Vec<u8>> {
    let Choices { texts, marked, .. } = Question::on(screen)?.choices;
    Some(keys_to(meant(&texts, answer, &YES, &NO)?, marked))
}

#[cfg(test)]
mod tests;
