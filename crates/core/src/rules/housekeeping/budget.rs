//! What is removed first when the disk budget is used up.

use std::collections::VecDeque;

use jiff::Timestamp;

use super::{RemovalCandidate, SweepAges};

/// The things that are removed one after the other until the rest is below the budget.
#[derive(Clone, Debug)]
pub struct BudgetPlan {
    candidates: VecDeque<RemovalCandidate>,
    used: u64,
    budget: u64,
}

impl BudgetPlan {
    /// Plans what is removed if `used` bytes are in use. Within a class, the thing that was not used
    /// for the longest time goes first.
    pub fn new(
        mut candidates: Vec<RemovalCandidate>,
        (used, budget): (u64, u64),
        (ages, now): (&SweepAges, Timestamp),
    ) -> Self {
        candidates.retain(|it| it.can_make_room(ages, now));
        candidates.sort_by_key(|it| (it.class, it.last_used));
        Self { candidates: candidates.into(), used, budget }
    }

    /// Returns what to remove next. `None` if the rest is below the budget, or if nothing may be
    /// removed.
    pub fn take_next(&mut self) -> Option<RemovalCandidate> {
        if self.used < self.budget {
            return None;
        }
        self.candidates.pop_front()
    }

    /// Notes that something was removed.
    pub fn removed(&mut self, candidate: &RemovalCandidate) {
        self.used = self.used.saturating_sub(candidate.bytes);
    }
}
