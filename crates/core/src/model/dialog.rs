//! A question that an agent shows on its terminal.

use serde::{Deserialize, Serialize};

use super::WaitingFor;

/// A question that only a person can answer, as the agent's screen shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dialog {
    /// Told apart from every other question: an answer that names it is given to no other.
    pub id: String,
    pub kind: WaitingFor,
    /// The words of the question in one line; empty if they cannot be read from the screen.
    pub question: String,
    /// The choices in the order of their numbers, which begin with 1.
    pub choices: Vec<String>,
    /// The command that answers it.
    pub answer: String,
}
