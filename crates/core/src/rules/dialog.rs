//! The question that an agent shows: its words, its choices, and the command that answers it.

use crate::model::{Dialog, WaitingFor};
use crate::ports::{DialogText, Screen};

/// How many rows above the first choice belong to the question at most.
const QUESTION_ROWS: usize = 12;

/// How many characters of a question are kept at most.
const QUESTION_CHARS: usize = 400;

/// The highest number of a choice.
const MOST_CHOICES: usize = 9;

/// Characters that vendors draw before the marked choice.
const MARKS: [char; 7] = ['❯', '›', '>', '●', '◉', '▶', '▸'];

/// Characters of frames at the edges of a row.
const FRAMES: [char; 6] = ['│', '┃', '|', '▌', '▐', '║'];

/// Returns the question in front of numbered choices, and the choices. Rows without numbered
/// choices have no question that could be told apart from the rest of a screen.
pub fn read(rows: &[String]) -> Option<DialogText> {
    let rows: Vec<&str> = rows.iter().map(|row| inside(row)).collect();
    let first =
        rows.iter().rposition(|row| numbered(row).is_some_and(|(number, _)| number == 1))?;
    let mut choices: Vec<String> = Vec::new();
    for row in &rows[first..] {
        match numbered(row) {
            Some((number, text)) if number == choices.len() + 1 && number <= MOST_CHOICES => {
                choices.push(text.to_owned());
            }
            _ => {}
        }
    }
    Some(DialogText { question: question(&rows[..first]), choices })
}

/// Returns the words of a dialog that is only to be read.
pub fn without_choices(rows: &[String]) -> DialogText {
    let rows: Vec<&str> = rows.iter().map(|row| inside(row)).collect();
    DialogText { question: question(&rows), choices: Vec::new() }
}

/// Tells whether the screen shows numbered choices of which one is marked, and no cursor: something
/// is asked, even if nobody knows what. A list in an agent's words leaves the cursor in the input.
pub fn is_unknown_question(screen: &Screen) -> bool {
    screen.cursor.is_none() && has_marked_choice(&screen.rows)
}

fn has_marked_choice(rows: &[String]) -> bool {
    let rows: Vec<&str> = rows.iter().map(|row| inside(row)).collect();
    let is_marked = |row: &&str| row.starts_with(MARKS) && numbered(row).is_some();
    let has = |wanted| rows.iter().any(|row| numbered(row).is_some_and(|it| it.0 == wanted));
    rows.iter().any(is_marked) && has(1) && has(2)
}

/// Returns a row without the frame and the spaces around it.
fn inside(row: &str) -> &str {
    row.trim_matches(|c: char| FRAMES.contains(&c) || c.is_whitespace())
}

/// Reads `❯ 1. Yes`.
fn numbered(row: &str) -> Option<(usize, &str)> {
    let row = row.trim_start_matches(MARKS).trim_start();
    let (number, text) = row.split_once(". ")?;
    Some((number.parse().ok()?, text.trim()))
}

/// Joins the rows above the choices, up to the next border.
fn question(above: &[&str]) -> String {
    let is_border = |row: &&&str| {
        row.chars().any(|c| "─━═╭╮╰╯┌┐└┘".contains(c))
            && row.chars().all(|c| "─━═╭╮╰╯┌┐└┘ │".contains(c))
    };
    let mut rows: Vec<&str> = above
        .iter()
        .rev()
        .take(QUESTION_ROWS)
        .take_while(|row| !is_border(row))
        .filter(|row| !row.is_empty())
        .copied()
        .collect();
    rows.reverse();
    let text = rows.join(" ").split_whitespace().collect::<Vec<_>>().join(" ");
    text.chars().filter(|c| !c.is_control()).take(QUESTION_CHARS).collect()
}

/// Which answers can be given to a question by a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Takes {
    pub yes: bool,
    pub choice: bool,
}

/// Makes the dialog of a session.
pub fn dialog(
    session: &str,
    kind: WaitingFor,
    DialogText { question, choices }: DialogText,
    takes: Takes,
) -> Dialog {
    let answer = match takes {
        Takes { yes: true, .. } => format!("segue answer {session} yes"),
        Takes { choice: true, .. } => format!("segue answer {session} 1"),
        Takes { .. } => format!("segue attach {session}"),
    };
    Dialog { kind, question, choices, answer }
}

/// Describes in one line what a session waits for.
pub fn describe(kind: WaitingFor, dialog: Option<&Dialog>) -> String {
    let waits = format!("it waits for an answer ({kind})");
    let Some(Dialog { question, choices, .. }) = dialog else { return waits };
    let question = if question.is_empty() { String::new() } else { format!(": {question}") };
    format!("{waits}{question}{}", in_brackets(choices))
}

/// Returns the question and its choices in one line.
pub fn summary(question: &str, choices: &[String]) -> String {
    format!("{question}{}", in_brackets(choices)).trim_start().to_owned()
}

fn in_brackets(choices: &[String]) -> String {
    let numbered = choices.iter().zip(1..).map(|(text, number)| format!("{number} {text}"));
    let numbered = numbered.collect::<Vec<_>>().join(", ");
    if choices.is_empty() { String::new() } else { format!(" [{numbered}]") }
}

/// Returns what a person can run to answer.
pub fn hint(dialog: &Dialog) -> String {
    let command = &dialog.answer;
    if command.ends_with(" yes") {
        return format!("run `{command}`, or `no`");
    }
    if command.ends_with(" 1") {
        return format!("run `{command}`, or another choice up to {}", dialog.choices.len());
    }
    format!("run `{command}` to answer it")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    const TRUST: &str = "
  Folder access
  /code/a

  Trust this folder? It can run
  code.

› 1. Trust and continue
  2. Quit

  enter continue";

    const FRAMED: &str = "
● 1. an older list
╭──────────────────────╮
│ Allow execution?     │
│                      │
│ ● 1. Allow once      │
│      for this folder │
│   2. No (esc)        │
╰──────────────────────╯";

    #[test]
    fn the_question_is_above_its_choices() {
        let asked = read(&rows(TRUST)).unwrap();
        let question = "Folder access /code/a Trust this folder? It can run code.";
        assert_eq!(asked.question, question);
        assert_eq!(asked.choices, ["Trust and continue", "Quit"]);
        let asked = read(&rows(FRAMED)).unwrap();
        assert_eq!(asked.question, "Allow execution?");
        assert_eq!(asked.choices, ["Allow once", "No (esc)"]);
        assert_eq!(read(&rows("nothing\nis asked")), None);
    }

    #[test]
    fn summary_has_the_question_and_its_choices() {
        let choices = ["yes".to_owned(), "no, exit".to_owned()];
        assert_eq!(summary("Go on?", &choices), "Go on? [1 yes, 2 no, exit]");
        assert_eq!(summary("", &choices), "[1 yes, 2 no, exit]");
        assert_eq!(summary("Go on?", &[]), "Go on?");
    }

    #[test]
    fn a_list_without_a_mark_is_no_question() {
        assert!(has_marked_choice(&rows(TRUST)));
        assert!(has_marked_choice(&rows(FRAMED)));
        for text in ["1. one\n2. two", "› 1. alone", "› hello", "❯ 2. b\n3. c", ""] {
            assert!(!has_marked_choice(&rows(text)), "{text}");
        }
    }

    #[test]
    fn a_screen_with_a_cursor_is_no_unknown_question() {
        let asks = Screen { rows: rows(TRUST), ..Screen::default() };
        assert!(is_unknown_question(&asks));
        assert!(!is_unknown_question(&Screen { cursor: Some((1, 2)), ..asks }));
    }

    #[test]
    fn a_question_that_fills_the_screen_is_cut() {
        let long = format!("{}\n› 1. Yes\n  2. No", "word ".repeat(1000));
        let asked = read(&rows(&long)).unwrap();
        assert_eq!(asked.question.chars().count(), QUESTION_CHARS);
    }

    #[test]
    fn the_command_fits_the_question() {
        let asked = |choices: &[&str]| DialogText {
            question: "Which?".to_owned(),
            choices: choices.iter().map(|&text| text.to_owned()).collect(),
        };
        let table = [
            (asked(&["Yes", "No"]), (true, true), "run `segue answer a/b yes`, or `no`"),
            (
                asked(&["red", "green"]),
                (false, true),
                "run `segue answer a/b 1`, or another choice up to 2",
            ),
            (asked(&["dark", "light"]), (false, false), "run `segue attach a/b` to answer it"),
        ];
        for (asked, (yes, choice), expected) in table {
            let takes = Takes { yes, choice };
            let dialog = dialog("a/b", WaitingFor::Question, asked, takes);
            assert_eq!(hint(&dialog), expected);
        }
        let takes = Takes { yes: true, choice: true };
        let dialog = dialog("a/b", WaitingFor::Trust, asked(&["Yes", "No"]), takes);
        let described = describe(WaitingFor::Trust, Some(&dialog));
        assert_eq!(described, "it waits for an answer (trust): Which? [1 Yes, 2 No]");
        assert_eq!(describe(WaitingFor::Trust, None), "it waits for an answer (trust)");
    }
}
