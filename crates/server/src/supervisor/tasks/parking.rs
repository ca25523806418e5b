//! Tasks that wait without an agent: until a usage limit ends, until the vendor accepts the account
//! again, until there is disk space, or until a person retries them.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use segue_core::flows::tasks;
use segue_core::model::{AccountKey, Task, TaskId, TaskState, TaskWait};

use super::super::{Account, Supervisor};
use super::{begin, scheduled, start_ready};

/// Lets a task wait. It is queued again when its wait is over, and other tasks of a refused account
/// are not started meanwhile.
pub(super) fn park(supervisor: &Arc<Supervisor>, task: &Task) {
    let TaskState::Waiting(wait) = &task.state else { return };
    let (id, key) = (task.id, task.order.account.clone());
    let supervisor = Arc::clone(supervisor);
    match wait {
        TaskWait::UsageLimit { until: Some(until) } => {
            supervisor.tasks.schedule().set_held(key.clone(), true);
            let rest = remaining(*until, supervisor.ports.clock.now());
            tokio::spawn(async move {
                tokio::time::sleep(rest).await;
                release(&supervisor, id, key).await;
            });
        }
        TaskWait::Account { .. } => {
            supervisor.tasks.schedule().set_held(key.clone(), true);
            tokio::spawn(async move {
                supervisor.accounts.accepted(&account(&key)).await;
                release(&supervisor, id, key).await;
            });
        }
        TaskWait::Disk { .. } => {
            tokio::spawn(async move {
                supervisor.housekeeping.room.notified().await;
                release(&supervisor, id, key).await;
            });
        }
        // Only a person knows when these waits are over.
        TaskWait::UsageLimit { until: None }
        | TaskWait::Environment { .. }
        | TaskWait::Question { .. } => {}
    }
}

/// Lets a task wait whose state cannot be recorded, because the disk is full.
pub(super) fn park_until_room(supervisor: &Arc<Supervisor>, id: TaskId) {
    tracing::warn!(task = %id, "a task waits until the store can be written");
    let supervisor = Arc::clone(supervisor);
    tokio::spawn(async move {
        supervisor.housekeeping.room.notified().await;
        match tasks::by_id(&supervisor.ports, id).await {
            Ok(placed) if placed.task.state == TaskState::Running => {
                begin(&supervisor, scheduled(&placed));
            }
            Ok(placed) if !placed.task.state.has_ended() => supervisor.tasks.queue(&placed),
            Ok(_) => {}
            Err(error) => tracing::error!(task = %id, %error, "a task that waits cannot go on"),
        }
        start_ready(&supervisor);
    });
}

/// Returns the account as the other parts of the supervisor know it.
pub(super) fn account(AccountKey { vendor, config_dir }: &AccountKey) -> Account {
    Account { vendor: vendor.clone(), config_dir: config_dir.clone() }
}

fn remaining(until: Timestamp, now: Timestamp) -> Duration {
    Duration::try_from(until.duration_since(now)).unwrap_or_default()
}

/// Allows the tasks of an account again, and queues the task that waited for it.
async fn release(supervisor: &Arc<Supervisor>, id: TaskId, key: AccountKey) {
    supervisor.tasks.schedule().set_held(key, false);
    match tasks::by_id(&supervisor.ports, id).await {
        Ok(placed) if matches!(placed.task.state, TaskState::Waiting(_)) => {
            supervisor.tasks.queue(&placed);
        }
        // A person has cancelled or retried the task.
        Ok(_) => {}
        Err(error) => tracing::error!(task = %id, %error, "a task that waits cannot go on"),
    }
    start_ready(supervisor);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wait_for_a_time_in_the_past_is_over_at_once() {
        let at = |second| Timestamp::from_second(second).unwrap();
        assert_eq!(remaining(at(10), at(4)), Duration::from_secs(6));
        assert_eq!(remaining(at(4), at(10)), Duration::ZERO);
    }
}
