//! Parses the agent's screen, and finds the keys that answer its questions.

use segue_core::model::{DialogText, Screen, Showing, WaitingFor};
use segue_core::ports::{Answer, Interaction};

use super::Demo;

/// The beginnings of the agent's questions on the screen, and their reasons.
const QUESTIONS: [(&str, WaitingFor); 3] = [
    ("Do you trust this folder?", WaitingFor::Trust),
    ("Allow?", WaitingFor::Permission),
    ("Which colour?", WaitingFor::Question),
];

const WORKING: &str = "working, ctrl-c interrupts";

impl Interaction for Demo {
    /// Parses the rows around the cursor: a question in a box, or the draft.
    fn read_screen(&self, screen: &Screen) -> Option<Showing> {
        let row = usize::from(screen.cursor?.0);
        if let Some((_, reason)) = shown_question(screen) {
            return Some(Showing::Dialog(reason));
        }
        let draft = screen.rows.get(row)?.strip_prefix('>')?;
        let above = row.checked_sub(1).and_then(|above| screen.rows.get(above));
        if above.is_some_and(|above| above.contains(WORKING)) {
            return Some(Showing::Busy);
        }
        Some(if draft.trim().is_empty() { Showing::Ready } else { Showing::Draft })
    }

    fn dialog_text(&self, screen: &Screen) -> Option<DialogText> {
        let (text, _) = shown_question(screen)?;
        let (question, _) = QUESTIONS.iter().find(|(question, _)| text.starts_with(question))?;
        let mut choices: Vec<String> = Vec::new();
        for word in text.strip_prefix(question)?.split_whitespace() {
            if word == (choices.len() + 1).to_string() {
                choices.push(String::new());
            } else if let Some(choice) = choices.last_mut() {
                choice.push_str(if choice.is_empty() { "" } else { " " });
                choice.push_str(word);
            }
        }
        Some(DialogText { question: (*question).to_owned(), is_whole: true, choices })
    }

    fn answer(&self, screen: &Screen, answer: &Answer) -> Option<Vec<u8>> {
        let (text, reason) = shown_question(screen)?;
        match (answer, reason) {
            (Answer::Yes, WaitingFor::Trust | WaitingFor::Permission) => Some(b"y".to_vec()),
            (Answer::No, _) => Some(b"n".to_vec()),
            (Answer::Choice(choice), _) => key_of_choice(&text, choice),
            (Answer::Yes, _) => None,
        }
    }
}

/// Returns the text in the box at the bottom of the screen (question and choices), and the reason
/// of the question.
fn shown_question(screen: &Screen) -> Option<(String, WaitingFor)> {
    // The box ends in the row of the cursor.
    let (above, from_cursor) = screen.rows.split_at_checked(usize::from(screen.cursor?.0))?;
    from_cursor.first().filter(|row| row.starts_with('╰'))?;
    let mut box_rows: Vec<&str> =
        above.iter().rev().map_while(|row| row.strip_prefix('│')?.strip_suffix('│')).collect();
    box_rows.reverse();
    let text = box_rows.join(" ").split_whitespace().collect::<Vec<_>>().join(" ");
    let (_, reason) = QUESTIONS.iter().find(|(question, _)| text.starts_with(question))?;
    Some((text, *reason))
}

/// Returns the key of a choice in a text such as `1 red 2 green`. The choice is a number or the
/// beginning of a word.
fn key_of_choice(text: &str, choice: &str) -> Option<Vec<u8>> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let number_and_word = words.windows(2).find(|pair| {
        let is_number = pair[0].chars().all(|c| c.is_ascii_digit());
        is_number && (pair[0] == choice || pair[1].starts_with(choice))
    })?;
    Some(number_and_word[0].as_bytes().to_vec())
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

    fn screen_with_question(question: &str) -> Screen {
        let (first, rest) = question.split_once(' ').unwrap();
        screen(&["● hi", "╭──────╮", &format!("│ {first}  │"), &format!("│ {rest} │"), "╰──────╯"])
    }

    #[test]
    fn rows_around_the_cursor_show_the_state_of_the_agent() {
        let table = [
            (screen(&["● hi", ">"]), Some(Showing::Ready)),
            (screen(&["● hi", "> half a thou"]), Some(Showing::Draft)),
            (screen(&["> told", WORKING, ">"]), Some(Showing::Busy)),
            (
                screen_with_question("Allow? 1 yes 2 no"),
                Some(Showing::Dialog(WaitingFor::Permission)),
            ),
            (
                screen_with_question("Do you trust this folder? 1 yes 2 no, exit"),
                Some(Showing::Dialog(WaitingFor::Trust)),
            ),
            (screen(&["$ something else"]), None),
        ];
        for (screen, wanted) in table {
            assert_eq!(Demo.read_screen(&screen), wanted, "{:?}", screen.rows);
        }
    }

    #[test]
    fn dialog_text_contains_the_question_and_its_choices() {
        let read = Demo
            .dialog_text(&screen_with_question("Which colour? 1 red 2 light green 3 blue"))
            .unwrap();
        assert_eq!(read.question, "Which colour?");
        assert_eq!(read.choices, ["red", "light green", "blue"]);
        assert_eq!(Demo.dialog_text(&screen(&["● hi", ">"])), None);
    }

    #[test]
    fn answers_become_keys_only_if_a_question_is_shown() {
        let permission = screen_with_question("Allow? 1 yes 2 no");
        let colour = screen_with_question("Which colour? 1 red 2 green 3 blue");
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
