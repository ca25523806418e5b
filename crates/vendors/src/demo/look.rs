//! Reads the agent's screen, and finds the keys that answer its questions.

use segue_core::model::{DialogText, Screen, Showing, WaitingFor};
use segue_core::ports::{Answer, Interaction};

use super::Demo;

/// The agent's questions as the screen shows them, and what they ask for.
const QUESTIONS: [(&str, WaitingFor); 3] = [
    ("Do you trust this folder?", WaitingFor::Trust),
    ("Allow?", WaitingFor::Permission),
    ("Which colour?", WaitingFor::Question),
];

const WORKING: &str = "working, ctrl-c interrupts";

impl Interaction for Demo {
    /// Reads the bottom of the screen, where the cursor is: a question in a box, or the draft.
    fn read_screen(&self, screen: &Screen) -> Option<Showing> {
        let row = usize::from(screen.cursor?.0);
        if let Some((_, reason)) = question(screen) {
            return Some(Showing::Dialog(reason));
        }
        let draft = screen.rows.get(row)?.strip_prefix('>')?;
        let above = row.checked_sub(1).and_then(|above| screen.rows.get(above));
        if above.is_some_and(|above| above.contains(WORKING)) {
            return Some(Showing::Busy);
        }
        Some(if draft.trim().is_empty() { Showing::Ready } else { Showing::Draft })
    }

    /// Returns the question in the box, and its choices.
    fn dialog_text(&self, screen: &Screen) -> Option<DialogText> {
        let (text, _) = question(screen)?;
        let asked = QUESTIONS.iter().find(|(question, _)| text.starts_with(question))?.0;
        let mut choices: Vec<String> = Vec::new();
        for word in text.strip_prefix(asked)?.split_whitespace() {
            if word == (choices.len() + 1).to_string() {
                choices.push(String::new());
            } else if let Some(choice) = choices.last_mut() {
                choice.push_str(if choice.is_empty() { "" } else { " " });
                choice.push_str(word);
            }
        }
        Some(DialogText { question: asked.to_owned(), is_whole: true, choices })
    }

    /// Returns the keys that answer the question on the screen. `None` if there is no question, or
    /// it has no such answer.
    fn answer(&self, screen: &Screen, answer: &Answer) -> Option<Vec<u8>> {
        let (text, reason) = question(screen)?;
        match (answer, reason) {
            (Answer::Yes, WaitingFor::Trust | WaitingFor::Permission) => Some(b"y".to_vec()),
            (Answer::No, _) => Some(b"n".to_vec()),
            (Answer::Choice(choice), _) => numbered(&text, choice),
            (Answer::Yes, _) => None,
        }
    }
}

/// Returns the text in the box at the bottom, question and choices, and what the question is about.
fn question(screen: &Screen) -> Option<(String, WaitingFor)> {
    // The box ends in the row of the cursor.
    let (above, at) = screen.rows.split_at_checked(usize::from(screen.cursor?.0))?;
    at.first().filter(|row| row.starts_with('╰'))?;
    let mut inside: Vec<&str> =
        above.iter().rev().map_while(|row| row.strip_prefix('│')?.strip_suffix('│')).collect();
    inside.reverse();
    let text = inside.join(" ").split_whitespace().collect::<Vec<_>>().join(" ");
    let asked = QUESTIONS.iter().find(|(question, _)| text.starts_with(question))?;
    Some((text, asked.1))
}

/// Finds a choice by its number or the beginning of its text: `1 red 2 green`.
fn numbered(text: &str, choice: &str) -> Option<Vec<u8>> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let meant = words.windows(2).find(|pair| {
        let is_number = pair[0].chars().all(|c| c.is_ascii_digit());
        is_number && (pair[0] == choice || pair[1].starts_with(choice))
    })?;
    Some(meant[0].as_bytes().to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn screen(rows: &[&str]) -> Screen {
        let row = u16::try_from(rows.len() - 1).unwrap();
        Screen {
            rows: rows.iter().map(|row| (*row).to_owned()).collect(),
            cursor: Some((row, 0)),
            ..Screen::default()
        }
    }

    fn asking(question: &str) -> Screen {
        let (one, other) = question.split_once(' ').unwrap();
        screen(&["● hi", "╭──────╮", &format!("│ {one}  │"), &format!("│ {other} │"), "╰──────╯"])
    }

    #[test]
    fn bottom_of_the_screen_shows_the_state_of_the_agent() {
        let table = [
            (screen(&["● hi", ">"]), Some(Showing::Ready)),
            (screen(&["● hi", "> half a thou"]), Some(Showing::Draft)),
            (screen(&["> told", WORKING, ">"]), Some(Showing::Busy)),
            (asking("Allow? 1 yes 2 no"), Some(Showing::Dialog(WaitingFor::Permission))),
            (
                asking("Do you trust this folder? 1 yes 2 no, exit"),
                Some(Showing::Dialog(WaitingFor::Trust)),
            ),
            (screen(&["$ something else"]), None),
        ];
        for (screen, wanted) in table {
            assert_eq!(Demo.read_screen(&screen), wanted, "{:?}", screen.rows);
        }
    }

    #[test]
    fn the_question_and_its_choices_are_read() {
        let read = Demo.dialog_text(&asking("Which colour? 1 red 2 light green 3 blue")).unwrap();
        assert_eq!(read.question, "Which colour?");
        assert_eq!(read.choices, ["red", "light green", "blue"]);
        assert_eq!(Demo.dialog_text(&screen(&["● hi", ">"])), None);
    }

    #[test]
    fn answers_become_keys_only_if_a_question_is_shown() {
        let permission = asking("Allow? 1 yes 2 no");
        let colour = asking("Which colour? 1 red 2 green 3 blue");
        let choice = |text: &str| Answer::Choice(text.to_owned());
        assert_eq!(Demo.answer(&permission, &Answer::Yes), Some(b"y".to_vec()));
        assert_eq!(Demo.answer(&permission, &Answer::No), Some(b"n".to_vec()));
        assert_eq!(Demo.answer(&colour, &choice("gr")), Some(b"2".to_vec()));
        assert_eq!(Demo.answer(&colour, &choice("3")), Some(b"3".to_vec()));
        assert_eq!(Demo.answer(&colour, &choice("pink")), None);
        assert_eq!(Demo.answer(&colour, &Answer::Yes), None);
        assert_eq!(Demo.answer(&screen(&[">"]), &Answer::Yes), None);
    }
}
