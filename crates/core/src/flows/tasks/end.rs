//! Records that a task has ended, waits, or is started once more.

use crate::error::{Error, Result};
use crate::failpoint;
use crate::flows::plans::{self, PlanCommit};
use crate::flows::replies;
use crate::model::{Task, TaskId, TaskProgress, TaskResult, TaskState, TaskWait, VerifyReport};
use crate::ports::{Conflict, Ports};

use super::changes::{self, TaskChanges};
use super::record::change;
use super::report::due;
use super::usage::usage_of;

/// How a task ends.
#[derive(Clone, Debug)]
pub struct TaskEnd {
    /// `Done`, `Failed` or `Cancelled`.
    pub state: TaskState,
    /// The agent's last answer.
    pub answer: Option<String>,
    /// The last run of the verify command.
    pub verify: Option<VerifyReport>,
}

impl TaskEnd {
    /// Describes an end without a verify command.
    pub fn new(state: TaskState, answer: Option<String>) -> Self {
        Self { state, answer, verify: None }
    }
}

/// A task whose end is recorded.
#[derive(Clone, Debug)]
pub struct EndedTask {
    /// Queued if its plan starts it again.
    pub task: Task,
    /// Tasks of its plan that are in the queue now.
    pub released: Vec<TaskId>,
}

/// Records the end of a task, that it has to be reported to the task's parent, and what it means for
/// the task's plan. A task that failed is queued again if its plan wants that.
pub async fn end(ports: &Ports, task: &Task, end: TaskEnd) -> Result<EndedTask> {
    let TaskEnd { state, answer, verify } = end;
    if let TaskState::Failed { reason } = &state
        && plans::is_retried(ports, task).await?
    {
        let task = retry_in_plan(ports, task, reason).await?;
        return Ok(EndedTask { task, released: Vec::new() });
    }
    let now = ports.clock.now();
    let duration = task.started_at.map(|started| now.duration_since(started));
    let duration_ms = duration.and_then(|it| u64::try_from(it.as_millis()).ok()).unwrap_or(0);
    let TaskChanges { commits, diff, note } = changes::since_base(ports, task).await;
    let usage = usage_of(ports, task, now).await?;
    let notes = [task.progress.lost_conversation.clone(), note].into_iter().flatten();
    let note = notes.reduce(|all, next| format!("{all}; {next}"));
    let result = TaskResult { answer, commits, diff, usage, duration_ms, verify, note };
    let ended = Task { state, result: Some(result), ended_at: Some(now), ..task.clone() };
    loop {
        let mut commit = change(ports, &ended, task.state.kind(), ended.state.reason());
        commit.changes.extend(due(ports, &ended));
        commit.changes.extend(replies::due(ports, &ended));
        let PlanCommit { changes, events, released } = plans::after_end(ports, &ended).await?;
        commit.changes.extend(changes);
        commit.events.extend(events);
        failpoint::hit("task.end.before");
        match ports.store.commit(commit).await {
            // Another task of the plan has ended meanwhile.
            Err(error) if is_plan_changed(&error) => continue,
            result => result?,
        };
        failpoint::hit("task.end.after");
        return Ok(EndedTask { task: ended, released });
    }
}

fn is_plan_changed(error: &Error) -> bool {
    matches!(error.conflict.as_deref(), Some(Conflict::PlanHasMoved { .. }))
}

/// Records that a task that failed is started again, because its plan wants that. It goes on in its
/// conversation.
async fn retry_in_plan(ports: &Ports, task: &Task, reason: &str) -> Result<Task> {
    let number = task.progress.plan_retries + 1;
    let progress = TaskProgress { message: None, plan_retries: number, ..task.progress.clone() };
    let queued = Task { state: TaskState::Queued, progress, ..task.clone() };
    let reason = Some(format!("retry {number} after a failure: {reason}"));
    failpoint::hit("plan.retry.before");
    ports.store.commit(change(ports, &queued, task.state.kind(), reason)).await?;
    failpoint::hit("plan.retry.after");
    Ok(queued)
}

/// Records that a task waits.
pub async fn wait(ports: &Ports, task: &Task, wait: TaskWait) -> Result<Task> {
    let waiting = Task { state: TaskState::Waiting(wait), ..task.clone() };
    let reason = waiting.state.reason();
    failpoint::hit("task.wait.before");
    ports.store.commit(change(ports, &waiting, task.state.kind(), reason)).await?;
    failpoint::hit("task.wait.after");
    Ok(waiting)
}

/// Records that a task starts once more in a new conversation, because nothing was done in the last
/// one. Its earlier sessions stay in its record.
pub async fn retry_fresh(ports: &Ports, task: &Task, reason: &str) -> Result<Task> {
    let progress = TaskProgress { message: None, is_fresh_retry: true, ..task.progress.clone() };
    let queued = Task { state: TaskState::Queued, session: None, progress, ..task.clone() };
    let reason = Some(format!("retried in a new conversation: {reason}"));
    failpoint::hit("task.fresh.before");
    ports.store.commit(change(ports, &queued, task.state.kind(), reason)).await?;
    failpoint::hit("task.fresh.after");
    Ok(queued)
}

/// Records that a task begins a new conversation, because the last one is lost. The logs of both
/// sessions and the result of the task report the loss. Its earlier sessions stay in its record.
pub async fn begin_anew(ports: &Ports, task: &Task, loss: &str) -> Result<Task> {
    let loss = format!("a new conversation was begun: {loss}");
    let progress = TaskProgress {
        message: None,
        is_fresh_retry: true,
        lost_conversation: Some(loss.clone()),
        ..task.progress.clone()
    };
    let queued = Task { state: TaskState::Queued, session: None, progress, ..task.clone() };
    let mut commit = change(ports, &queued, task.state.kind(), Some(loss));
    // The event belongs to the session that has lost its conversation.
    commit.events.iter_mut().for_each(|event| event.session = task.session);
    failpoint::hit("task.anew.before");
    ports.store.commit(commit).await?;
    failpoint::hit("task.anew.after");
    Ok(queued)
}

/// Returns whether a commit failed because another request has changed the task, or has paused its
/// plan.
pub fn is_changed_meanwhile(error: &Error) -> bool {
    matches!(
        error.conflict.as_deref(),
        Some(Conflict::TaskHasMoved { .. } | Conflict::PlanIsHeld { .. })
    )
}
