//! An agent's screen, and the information that a vendor's reader gets from it.

use super::WaitingFor;

/// The contents of an agent's screen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Screen {
    /// The rows from top to bottom, without trailing spaces.
    pub rows: Vec<String>,
    /// The same rows without faint text: hints and placeholders, which no user typed.
    pub firm_rows: Vec<String>,
    pub title: String,
    /// Row and column, starting at 0. `None` while the cursor is hidden.
    pub cursor: Option<(u16, u16)>,
    /// Increases whenever the agent draws or a user types.
    pub revision: u64,
}

/// What a screen shows about the agent's input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Showing {
    /// The input is visible and empty.
    Ready,
    /// The input contains text.
    Draft,
    /// The agent works.
    Busy,
    /// A dialog waits for an answer.
    Dialog(WaitingFor),
}

/// The text of a dialog on a screen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DialogText {
    pub question: String,
    /// Whether the question is complete.
    pub is_whole: bool,
    pub choices: Vec<String>,
}
