//! What an interactive Codex shows, and how its questions are answered.

use segue_core::model::WaitingFor;
use segue_core::ports::{Activity, Answer, Screen, Showing};

use super::signals::title_activity;
use crate::choices::keys_to;

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
    choices: Vec<Choice<'a>>,
    chosen: usize,
}

#[derive(Clone, Copy, Debug)]
struct Choice<'a> {
    row: usize,
    is_marked: bool,
    number: &'a str,
    text: &'a str,
}

impl<'a> Question<'a> {
    /// Finds the one on the screen: numbered choices from 1 on, one of which is marked, and no
    /// input. What was said above it can look like one, but leaves the input there.
    fn on(screen: &'a Screen) -> Option<Self> {
        if screen.cursor.is_some() {
            return None;
        }
        let rows = screen.rows.iter().enumerate();
        let mut choices: Vec<Choice<'a>> =
            rows.filter_map(|(row, text)| Choice::read(row, text)).collect();
        let first = choices.iter().rposition(|choice| choice.number == "1")?;
        choices.drain(..first);
        let chosen = choices.iter().position(|choice| choice.is_marked)?;
        let asked = screen.rows[..choices[0].row].iter().rev();
        let known = |row: &String| QUESTIONS.iter().find(|(words, _)| row.contains(words));
        let asks = asked.take(FARTHEST).find_map(known).map(|(_, asks)| *asks);
        Some(Self { asks, choices, chosen })
    }

    fn position(&self, answer: &Answer) -> Option<usize> {
        let begins = |words: &str| {
            let wanted = words.to_lowercase();
            self.choices.iter().position(|choice| choice.text.to_lowercase().starts_with(&wanted))
        };
        match answer {
            Answer::Yes => begins("yes").or_else(|| begins("trust")).or_else(|| begins("allow")),
            Answer::No => {
                begins("no").or_else(|| begins("quit")).or_else(|| begins("continue wit"))
            }
            Answer::Choice(text) if text.trim().is_empty() => None,
            Answer::Choice(text) => {
                let number = |choice: &Choice<'_>| choice.number == text.trim();
                self.choices.iter().position(number).or_else(|| begins(text.trim()))
            }
        }
    }
}

impl<'a> Choice<'a> {
    fn read(row: usize, text: &'a str) -> Option<Self> {
        let unmarked = text.strip_prefix(MARK);
        let (number, text) = unmarked.unwrap_or(text).trim_start().split_once(". ")?;
        let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then_some(Self { row, is_marked: unmarked.is_some(), number, text })
    }
}

/// Returns the keys that give this answer to the question on the screen.
pub(super) fn answer(screen: &Screen, answer: &Answer) -> Option<Vec<u8>> {
    let question = Question::on(screen)?;
    Some(keys_to(question.position(answer)?, question.chosen))
}

#[cfg(test)]
mod tests;
