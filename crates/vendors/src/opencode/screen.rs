//! Reads the screen of an interactive `OpenCode`, and answers its questions.

use segue_core::model::{DialogText, Screen, Showing, WaitingFor};
use segue_core::ports::{Answer, Interaction, Typing};
use segue_core::rules::dialog;

use super::{OpenCode, typing};
use crate::shared::choices::find_choice;
use crate::shared::typed_text::ZERO_WIDTH_SPACE;

/// The left border of the input, and the lower end of that border.
const EDGE: char = '┃';
const CORNER: char = '╹';

/// How the placeholder in an empty input begins. Not every empty input has one.
const HINT: &str = "Ask anything";

/// Shown below the input while a turn runs.
const INTERRUPT: [&str; 2] = ["esc interrupt", "esc again to interrupt"];

/// Texts that identify a question, and what the question asks for.
const QUESTIONS: [(&str, WaitingFor); 4] = [
    ("Permission required", WaitingFor::Permission),
    ("Reject permission", WaitingFor::Permission),
    ("Always allow", WaitingFor::Permission),
    ("esc dismiss", WaitingFor::Question),
];

/// The choices of a permission question, from left to right. The first one is selected when they
/// appear.
const CHOICES: [&str; 3] = ["Allow once", "Allow always", "Reject"];

/// The heading of a question about a command. `OpenCode` may draw the command below it later than
/// the choices.
const COMMAND_HEADING: &str = "# Shell command";

const RIGHT: &[u8] = b"\x1b[C";
const ENTER: &[u8] = b"\r";

impl Interaction for OpenCode {
    /// Returns what the screen shows. An unknown screen counts as busy, because it has no input to
    /// type into.
    fn read_screen(&self, screen: &Screen) -> Option<Showing> {
        if let Some(asked) = question(screen) {
            return Some(Showing::Dialog(asked));
        }
        let Some(input) = OpencodeInput::on(screen) else { return Some(Showing::Busy) };
        Some(match () {
            () if input.is_interruptible(screen) => Showing::Busy,
            () if input.is_empty(screen) => Showing::Ready,
            () => Showing::Draft,
        })
    }

    /// Returns the text and the choices of the permission question on the screen.
    fn dialog_text(&self, screen: &Screen) -> Option<DialogText> {
        let rows = permission(screen)?;
        Some(dialog::text(rows, CHOICES.map(str::to_owned).to_vec()))
    }

    fn typing(&self, message: &str) -> Typing {
        typing::typing(message)
    }

    /// Returns the keys that give this answer to the permission question on the screen.
    fn answer(&self, screen: &Screen, answer: &Answer) -> Option<Vec<u8>> {
        permission(screen)?;
        let wanted =
            find_choice(&CHOICES.map(str::to_owned), answer, &["allow once"], &["reject"])?;
        let mut keys = RIGHT.repeat(wanted);
        keys.extend_from_slice(ENTER);
        Some(keys)
    }

    /// Returns Escape twice. After the first one, OpenCode only asks for a confirmation.
    fn interrupt(&self) -> Vec<u8> {
        b"\x1b[27u\x1b[27u".to_vec()
    }
}

/// Finds the question that is shown instead of the input.
fn question(screen: &Screen) -> Option<WaitingFor> {
    if OpencodeInput::on(screen).is_some() {
        return None;
    }
    let asks = |words: &str| screen.rows.iter().any(|row| row.contains(words));
    let (_, asked) = QUESTIONS.iter().find(|(words, _)| asks(words))?;
    (!lacks_command(screen)).then_some(*asked)
}

/// Returns whether a question about a command is drawn without the command.
fn lacks_command(screen: &Screen) -> bool {
    let text = |row: &String| row.trim_start().trim_start_matches(EDGE).trim().to_owned();
    let mut texts = above_choices(screen).unwrap_or_default().iter().map(text);
    texts.rfind(|text| !text.is_empty()).is_some_and(|last| last == COMMAND_HEADING)
}

/// The position of the input on the screen.
#[derive(Clone, Copy, Debug)]
struct OpencodeInput {
    /// The row of its lower end.
    end: usize,
    left: usize,
    right: usize,
    cursor: (usize, usize),
}

impl OpencodeInput {
    /// Finds the input that contains the cursor.
    fn on(screen: &Screen) -> Option<Self> {
        let (row, column) = screen.cursor?;
        let cursor = (usize::from(row), usize::from(column));
        let ends = |row: &String| row.trim_start().starts_with(CORNER);
        let end = screen.rows.iter().rposition(ends)?;
        let left = screen.rows[end].chars().position(|it| it == CORNER)?;
        let right = left + screen.rows[end].chars().skip(left).take_while(|it| *it != ' ').count();
        let input = Self { end, left, right, cursor };
        let is_inside = cursor.0 < end && cursor.0 >= input.first(screen) && cursor.1 > left;
        is_inside.then_some(input)
    }

    /// Returns the first of the rows that have the left border.
    fn first(&self, screen: &Screen) -> usize {
        let edged = |row: &&String| row.chars().nth(self.left) == Some(EDGE);
        self.end - screen.rows[..self.end].iter().rev().take_while(edged).count()
    }

    fn text(&self, row: &str) -> String {
        let inside = row.chars().skip(self.left + 1).take(self.right - self.left - 1);
        // A zero-width space before a command stays in the input when the command is deleted. A
        // person cannot see it, so it does not count as text.
        let seen = inside.filter(|it| *it != ZERO_WIDTH_SPACE);
        seen.collect::<String>().trim().to_owned()
    }

    /// Returns whether the input has no text. Its last row is skipped: it names the model.
    fn is_empty(&self, screen: &Screen) -> bool {
        let rows = screen.rows[self.first(screen)..self.end - 1].iter().enumerate();
        let mut texts = rows.map(|(row, text)| (row + self.first(screen), self.text(text)));
        texts.all(|(row, text)| text.is_empty() || self.is_hint(row, &text))
    }

    fn is_hint(&self, row: usize, text: &str) -> bool {
        let at_start = self.cursor == (row, self.left + 3);
        at_start && text.starts_with(HINT)
    }

    fn is_interruptible(&self, screen: &Screen) -> bool {
        let below = screen.rows[self.end..].iter();
        below.clone().any(|row| INTERRUPT.iter().any(|words| row.contains(words)))
    }
}

/// Returns the rows of the permission question above its choices.
fn permission(screen: &Screen) -> Option<&[String]> {
    (question(screen) == Some(WaitingFor::Permission)).then(|| above_choices(screen))?
}

/// Returns the rows with a left border right above the choices.
fn above_choices(screen: &Screen) -> Option<&[String]> {
    let row_of_choices = |row: &String| CHOICES.iter().all(|choice| row.contains(choice));
    let end = screen.rows.iter().rposition(row_of_choices)?;
    let edged = |row: &&String| row.trim_start().starts_with(EDGE);
    let first = end - screen.rows[..end].iter().rev().take_while(edged).count();
    Some(&screen.rows[first..end])
}

#[cfg(test)]
mod tests;
