//! Finds the turns that were added after a handoff.

use jiff::Timestamp;

use crate::model::{Role, Turn};
use crate::rules::digest::is_digest;

/// Finds the turns that were added after a handoff, while the conversation is read from the newest
/// turn to the oldest.
#[derive(Clone, Copy, Debug)]
pub struct NewTurns {
    handed_over_at: Timestamp,
    is_over: bool,
}

impl NewTurns {
    pub fn new(handed_over_at: Timestamp) -> Self {
        Self { handed_over_at, is_over: false }
    }

    /// Returns whether the next older turn was added after the handoff. Once this is `false`, it is
    /// `false` for all older turns. A turn without a timestamp is treated like the turn after it.
    pub fn is_new(&mut self, turn: &Turn) -> bool {
        let is_old = turn.at.is_some_and(|at| at <= self.handed_over_at);
        self.is_over = self.is_over || is_old || is_digest_message(turn);
        !self.is_over
    }
}

/// Returns whether a turn is the message with which the conversation was handed over.
fn is_digest_message(turn: &Turn) -> bool {
    matches!(turn.role, Role::User | Role::Summary) && is_digest(&turn.text)
}
