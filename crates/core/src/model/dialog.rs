//! A question that an agent shows on its terminal.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::WaitingFor;

/// A question that only a person can answer, as the agent's screen shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Dialog {
    /// Unique id of this question. An answer that names it is never given to another question.
    pub id: String,
    pub kind: WaitingFor,
    /// Text of the question in one line. Empty if it cannot be read from the screen.
    pub question: String,
    /// The choices in the order of their numbers, which start at 1.
    pub choices: Vec<String>,
    /// The command with which a user answers the question.
    pub answer: String,
}
