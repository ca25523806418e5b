//! Changes the priority of a queued task.

use crate::error::{Error, Result};
use crate::failpoint;
use crate::model::{Principal, Task, TaskId, TaskOrder, TaskPriority, TaskState};
use crate::ports::{PlacedTask, Ports};
use crate::rules::scope::RestrictedAction;

use super::by_id;
use super::record::change;

/// Changes the priority of a task that has not been started.
pub async fn set_priority(
    ports: &Ports,
    principal: &Principal,
    id: TaskId,
    level: i8,
) -> Result<PlacedTask> {
    principal.allow(RestrictedAction::Tasks)?;
    let priority = TaskPriority::new(level)?;
    let PlacedTask { task, .. } = by_id(ports, id).await?;
    if task.state != TaskState::Queued {
        let state = task.state.word();
        return Err(Error::conflict(format!("task `{id}` is {state}"))
            .caused_by("only a queued task has a place in the queue"));
    }
    let order = TaskOrder { priority, ..task.order.clone() };
    let moved = Task { order, ..task };
    failpoint::hit("task.priority.before");
    let reason = Some(format!("priority {level}"));
    ports.store.commit(change(ports, &moved, moved.state.kind(), reason)).await?;
    failpoint::hit("task.priority.after");
    by_id(ports, id).await
}
