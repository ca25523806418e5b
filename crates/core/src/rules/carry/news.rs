//! What was said since a conversation was handed over.

use jiff::Timestamp;

use crate::model::{Role, Turn};
use crate::rules::digest::is_digest;

/// Tells whether this was said after the conversation was handed over, so that it is news to where
/// it came from. The message that told of the time before is none.
pub fn since(turn: &Turn, handed_over_at: Timestamp) -> bool {
    turn.at.is_some_and(|at| at > handed_over_at) && !tells_of_before(turn)
}

/// The news of a conversation, read from the newest turn to the oldest.
#[derive(Clone, Copy, Debug)]
pub struct News {
    handed_over_at: Timestamp,
    is_over: bool,
}

impl News {
    pub fn new(handed_over_at: Timestamp) -> Self {
        Self { handed_over_at, is_over: false }
    }

    /// Tells whether the next older turn is still news; after the first that is not, none is. A turn
    /// without a time is as old as the one that was said after it.
    pub fn is_news(&mut self, turn: &Turn) -> bool {
        let is_old = turn.at.is_some_and(|at| at <= self.handed_over_at);
        self.is_over = self.is_over || is_old || tells_of_before(turn);
        !self.is_over
    }
}

fn tells_of_before(turn: &Turn) -> bool {
    matches!(turn.role, Role::User | Role::Summary) && is_digest(&turn.text)
}
