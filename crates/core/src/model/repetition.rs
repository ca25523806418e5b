//! Work of agents that repeats itself without a person.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::SessionId;
use crate::word_enum::word_enum;

/// Work of a session that repeats itself. A person has to decide whether it goes on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Repetition {
    pub kind: RepetitionKind,
    /// What repeats, as a text for people, without its secrets.
    pub what: String,
    /// How often it was repeated when it was noticed.
    pub times: u32,
    /// When it was noticed.
    pub since: Timestamp,
    /// The session with which messages go back and forth.
    pub other: Option<SessionId>,
    /// Whether a person has acted since. Then it needs no person until it has ended.
    pub is_known: bool,
}

word_enum! {
    /// What repeats.
    pub enum RepetitionKind {
        /// The same tool calls with the same results, within a turn.
        ToolCalls = "tool_calls",
        /// Messages between two agents.
        Messages = "messages",
    }
}

impl Repetition {
    /// Returns what repeats if a person has to decide about it.
    pub fn needs_person(&self) -> Option<RepetitionKind> {
        (!self.is_known).then_some(self.kind)
    }

    /// Returns the repetition as a text for people, such as `` `ls` 10 times ``.
    pub fn summary(&self) -> String {
        format!("{} {} times", self.what, self.times)
    }
}
