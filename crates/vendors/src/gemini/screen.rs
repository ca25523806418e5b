//! What an interactive Gemini shows, and how its questions are answered.

use segue_core::model::WaitingFor;
use segue_core::ports::{Activity, Answer, Screen, Showing};

use super::signals::title_activity;

/// What stands before the input: usually, when nothing is asked for, and when it is for the shell.
const MARKS: [&str; 3] = [" > ", " * ", " ! "];

/// What is in an input without a text.
const PLACEHOLDERS: [&str; 4] = [
    "Type your message or @path/to/file",
    "Type your shell command",
    "Press 'i' for INSERT mode.",
    "Press 'Esc' for NORMAL mode.",
];

/// Stands before the choice that is marked.
const CHOSEN: char = '●';

/// Words of questions, and what they ask for.
const QUESTIONS: [(&str, WaitingFor); 6] = [
    ("Do you trust", WaitingFor::Trust),
    ("How would you like to authenticate", WaitingFor::Trust),
    ("Allow execution", WaitingFor::Permission),
    ("Apply this change?", WaitingFor::Permission),
    ("Do you want to proceed", WaitingFor::Permission),
    ("Allow ", WaitingFor::Permission),
];

/// Tells what the screen shows; none where neither an input nor a question is on it.
pub(super) fn read(screen: &Screen) -> Option<Showing> {
    if let Some(question) = Question::on(screen) {
        return Some(Showing::Dialog(question.asks));
    }
    match title_activity(&screen.title) {
        Some(Activity::Working) => Some(Showing::Busy),
        Some(Activity::Waiting(reason)) => Some(Showing::Dialog(reason)),
        Some(Activity::Idle) | None => input(screen),
    }
}

/// Returns the keys that give this answer to the question on the screen: the number of a choice
/// takes it at once, whichever one is marked.
pub(super) fn answer(screen: &Screen, answer: &Answer) -> Option<Vec<u8>> {
    let question = Question::on(screen)?;
    question.choice(answer).map(|choice| choice.number.to_string().into_bytes())
}

/// Tells whether the input has somebody's text in it.
fn input(screen: &Screen) -> Option<Showing> {
    let rule = screen.rows.iter().rposition(|row| is_rule(row))?;
    let rows = &screen.rows[rule + 1..];
    let text = rows.iter().find_map(|row| MARKS.iter().find_map(|mark| marked(row, mark)))?;
    let is_empty = text.is_empty() || PLACEHOLDERS.contains(&text);
    Some(if is_empty { Showing::Ready } else { Showing::Draft })
}

/// Returns what is behind the mark; where nothing is, the row ends with it.
fn marked<'a>(row: &'a str, mark: &str) -> Option<&'a str> {
    if row == mark.trim_end() { Some("") } else { row.strip_prefix(mark).map(str::trim) }
}

/// The rule above the input goes from edge to edge.
fn is_rule(row: &str) -> bool {
    row.starts_with("──────────")
}

/// A question with numbered choices, in a frame.
#[derive(Debug)]
struct Question<'a> {
    asks: WaitingFor,
    choices: Vec<Choice<'a>>,
}

#[derive(Clone, Copy, Debug)]
struct Choice<'a> {
    number: u8,
    is_marked: bool,
    text: &'a str,
}

impl<'a> Question<'a> {
    /// Finds the one on the screen: choices in a frame, one of which is marked, with nothing below
    /// it that looks like an input.
    fn on(screen: &'a Screen) -> Option<Self> {
        if input(screen).is_some() {
            return None;
        }
        let rows = &screen.rows;
        let first =
            rows.iter().rposition(|row| Choice::read(row).is_some_and(|it| it.number == 1))?;
        let choices: Vec<Choice<'a>> =
            rows[first..].iter().filter_map(|row| Choice::read(row)).collect();
        choices.iter().find(|choice| choice.is_marked)?;
        let known = |row: &String| QUESTIONS.iter().find(|(words, _)| row.contains(words));
        let asks = rows[..first].iter().rev().find_map(known);
        Some(Self { asks: asks.map_or(WaitingFor::Question, |(_, asks)| *asks), choices })
    }

    fn choice(&self, answer: &Answer) -> Option<&Choice<'a>> {
        match answer {
            Answer::Yes => self.first(&["allow once", "yes, allow once", "trust folder", "yes"]),
            Answer::No => self.first(&["no", "don't trust"]),
            Answer::Choice(words) => self.named(&words.trim().to_lowercase()),
        }
    }

    fn first(&self, beginnings: &[&str]) -> Option<&Choice<'a>> {
        beginnings.iter().find_map(|begin| self.begins(begin).into_iter().next())
    }

    /// Returns the choice of this number, or the only one that begins with these words.
    fn named(&self, words: &str) -> Option<&Choice<'a>> {
        if let Ok(number) = words.parse::<u8>() {
            return self.choices.iter().find(|choice| choice.number == number);
        }
        let begins = if words.is_empty() { Vec::new() } else { self.begins(words) };
        if let [only] = begins[..] { Some(only) } else { None }
    }

    fn begins(&self, words: &str) -> Vec<&Choice<'a>> {
        let begins = |choice: &&Choice<'_>| choice.text.to_lowercase().starts_with(words);
        self.choices.iter().filter(begins).collect()
    }
}

impl<'a> Choice<'a> {
    /// Reads `│ ● 1. Allow once      │`.
    fn read(row: &'a str) -> Option<Self> {
        let row = row.trim().strip_prefix('│')?.trim_end_matches('│').trim();
        let unmarked = row.strip_prefix(CHOSEN);
        let (number, text) = unmarked.unwrap_or(row).trim_start().split_once(". ")?;
        let number = number.parse().ok().filter(|number| (1..=9).contains(number))?;
        Some(Self { number, is_marked: unmarked.is_some(), text: text.trim() })
    }
}

#[cfg(test)]
mod tests;
