//! Parses the screen of an interactive `OpenCode`, and finds the keys that answer its questions.

use segue_core::model::{DialogText, Screen, Showing, WaitingFor};
use segue_core::ports::{Answer, Interaction, Typing};
use segue_core::rules::dialog;

use super::{OpenCode, typing};
use crate::shared::choices::find_choice;
use crate::shared::typed_text::ZERO_WIDTH_SPACE;

/// The left border of the input, and the character at the lower end of that border.
const LEFT_BORDER: char = '┃';
const BORDER_END: char = '╹';

/// The beginning of the placeholder in an empty input. Some empty inputs have no placeholder.
const PLACEHOLDER: &str = "Ask anything";

/// Shown below the input while a turn runs.
const INTERRUPT_HINTS: [&str; 2] = ["esc interrupt", "esc again to interrupt"];

/// Texts in questions, and the reasons of these questions.
const QUESTIONS: [(&str, WaitingFor); 4] = [
    ("Permission required", WaitingFor::Permission),
    ("Reject permission", WaitingFor::Permission),
    ("Always allow", WaitingFor::Permission),
    ("esc dismiss", WaitingFor::Question),
];

/// The choices of a permission question, from left to right. At first, the first one is selected.
const CHOICES: [&str; 3] = ["Allow once", "Allow always", "Reject"];

/// The heading of a question about a command. `OpenCode` may draw the command after the choices.
const COMMAND_HEADING: &str = "# Shell command";

const RIGHT: &[u8] = b"\x1b[C";
const ENTER: &[u8] = b"\r";

impl Interaction for OpenCode {
    /// Parses the screen. An unknown screen counts as busy, because it has no input.
    fn read_screen(&self, screen: &Screen) -> Option<Showing> {
        if let Some(reason) = shown_question(screen) {
            return Some(Showing::Dialog(reason));
        }
        let Some(input) = OpencodeInput::find_on(screen) else { return Some(Showing::Busy) };
        Some(match () {
            () if input.is_interruptible(screen) => Showing::Busy,
            () if input.is_empty(screen) => Showing::Ready,
            () => Showing::Draft,
        })
    }

    fn dialog_text(&self, screen: &Screen) -> Option<DialogText> {
        let rows = permission_rows(screen)?;
        Some(dialog::text(rows, CHOICES.map(str::to_owned).to_vec()))
    }

    fn typing(&self, message: &str) -> Typing {
        typing::typing(message)
    }

    fn answer(&self, screen: &Screen, answer: &Answer) -> Option<Vec<u8>> {
        permission_rows(screen)?;
        let choice =
            find_choice(&CHOICES.map(str::to_owned), answer, &["allow once"], &["reject"])?;
        let mut keys = RIGHT.repeat(choice);
        keys.extend_from_slice(ENTER);
        Some(keys)
    }

    /// Returns two Escape keys. The second one confirms the interruption.
    fn interrupt(&self) -> Vec<u8> {
        b"\x1b[27u\x1b[27u".to_vec()
    }
}

/// Returns the reason of the question on the screen. `None` if the screen shows an input, or if a
/// command is not drawn yet.
fn shown_question(screen: &Screen) -> Option<WaitingFor> {
    if OpencodeInput::find_on(screen).is_some() {
        return None;
    }
    let has_text = |text: &str| screen.rows.iter().any(|row| row.contains(text));
    let (_, reason) = QUESTIONS.iter().find(|(text, _)| has_text(text))?;
    (!is_command_missing(screen)).then_some(*reason)
}

/// Returns whether a question about a command is drawn without the command.
fn is_command_missing(screen: &Screen) -> bool {
    let text = |row: &String| row.trim_start().trim_start_matches(LEFT_BORDER).trim().to_owned();
    let mut texts = above_choices(screen).unwrap_or_default().iter().map(text);
    texts.rfind(|text| !text.is_empty()).is_some_and(|last| last == COMMAND_HEADING)
}

/// The position of the input on the screen.
#[derive(Clone, Copy, Debug)]
struct OpencodeInput {
    /// The row of the lower end of the border.
    end: usize,
    left: usize,
    right: usize,
    cursor: (usize, usize),
}

impl OpencodeInput {
    /// Finds the input. `None` if the cursor is not in an input.
    fn find_on(screen: &Screen) -> Option<Self> {
        let (row, column) = screen.cursor?;
        let cursor = (usize::from(row), usize::from(column));
        let is_end = |row: &String| row.trim_start().starts_with(BORDER_END);
        let end = screen.rows.iter().rposition(is_end)?;
        let left = screen.rows[end].chars().position(|c| c == BORDER_END)?;
        let right = left + screen.rows[end].chars().skip(left).take_while(|c| *c != ' ').count();
        let input = Self { end, left, right, cursor };
        let is_inside = cursor.0 < end && cursor.0 >= input.first(screen) && cursor.1 > left;
        is_inside.then_some(input)
    }

    /// Returns the first row of the input.
    fn first(&self, screen: &Screen) -> usize {
        let has_border = |row: &&String| row.chars().nth(self.left) == Some(LEFT_BORDER);
        self.end - screen.rows[..self.end].iter().rev().take_while(has_border).count()
    }

    fn text(&self, row: &str) -> String {
        let inside = row.chars().skip(self.left + 1).take(self.right - self.left - 1);
        // The zero-width space before a command stays in the input if the user deletes the command.
        // It is invisible, so it does not count as text.
        let visible = inside.filter(|c| *c != ZERO_WIDTH_SPACE);
        visible.collect::<String>().trim().to_owned()
    }

    /// Returns whether the input has no text. Skips the last row, which shows the model.
    fn is_empty(&self, screen: &Screen) -> bool {
        let rows = screen.rows[self.first(screen)..self.end - 1].iter().enumerate();
        let mut texts = rows.map(|(row, text)| (row + self.first(screen), self.text(text)));
        texts.all(|(row, text)| text.is_empty() || self.is_placeholder(row, &text))
    }

    fn is_placeholder(&self, row: usize, text: &str) -> bool {
        let at_start = self.cursor == (row, self.left + 3);
        at_start && text.starts_with(PLACEHOLDER)
    }

    fn is_interruptible(&self, screen: &Screen) -> bool {
        let below = screen.rows[self.end..].iter();
        below.clone().any(|row| INTERRUPT_HINTS.iter().any(|text| row.contains(text)))
    }
}

/// Returns the rows of the permission question above its choices.
fn permission_rows(screen: &Screen) -> Option<&[String]> {
    (shown_question(screen) == Some(WaitingFor::Permission)).then(|| above_choices(screen))?
}

/// Returns the rows with a left border right above the choices.
fn above_choices(screen: &Screen) -> Option<&[String]> {
    let has_choices = |row: &String| CHOICES.iter().all(|choice| row.contains(choice));
    let end = screen.rows.iter().rposition(has_choices)?;
    let has_border = |row: &&String| row.trim_start().starts_with(LEFT_BORDER);
    let first = end - screen.rows[..end].iter().rev().take_while(has_border).count();
    Some(&screen.rows[first..end])
}

#[cfg(test)]
mod tests;
