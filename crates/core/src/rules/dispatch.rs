//! Which rules are about an event, and whether its actor may start work.

mod actors;
mod conditions;
mod polling;

#[cfg(test)]
mod tests;

pub use actors::{ActorCheck, check_actor};
pub use conditions::mismatch;
pub use polling::{PolledChange, issue_changes, polled_issue, polled_pull, pull_changes};

use crate::model::TriggerKind;

/// The most tasks that events about one issue start for one agent within an hour. More are a loop: an
/// agent that answers an agent, or a CI run that fails again and again.
pub const MAX_TASKS_PER_HOUR: u32 = 20;

/// Returns whether an event means that the work on an issue is over.
pub fn ends_work(trigger: TriggerKind) -> bool {
    matches!(
        trigger,
        TriggerKind::IssueClosed
            | TriggerKind::PullClosed
            | TriggerKind::PullMerged
            | TriggerKind::BranchDeleted
    )
}

/// Returns why no further task is started about an issue. `recent` is the number of tasks that were
/// added in the last hour.
pub fn brake(recent: u32) -> Option<String> {
    (recent >= MAX_TASKS_PER_HOUR).then(|| {
        format!(
            "{recent} tasks about this issue were added within an hour; the next event after a \
             pause starts a task again"
        )
    })
}
