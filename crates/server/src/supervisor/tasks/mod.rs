//! Runs the queued tasks.
//!
//! The [`TaskDispatcher`] owns the schedule. Whenever a task is added, ends or may go on, it starts
//! the tasks that may start now. Each started task has a future of its own, which [`work`]s on it
//! until it has ended or has to wait. Nothing happens between these events, however long the queue
//! is.

mod parking;
pub(crate) mod plans;
mod reports;
mod requests;
mod session;
mod turn;
mod verify;
mod work;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use segue_core::Result;
use segue_core::flows::tasks;
use segue_core::model::{Task, TaskId, TaskState, TaskWait};
use segue_core::ports::{PlacedTask, TaskQuery};
use segue_core::rules::housekeeping::is_disk_full;
use segue_core::rules::schedule::{AgentKey, ScheduledTask, TaskExclusive, TaskSchedule};

pub(crate) use requests::{
    add, add_from_forge, cancel, leave_queue, list, page, report_work, retry, set_priority, show,
    summaries, wait,
};

use super::Supervisor;
use crate::project;

/// Decides which tasks run.
#[derive(Debug, Default)]
pub(crate) struct TaskDispatcher {
    schedule: Mutex<TaskSchedule>,
}

impl TaskDispatcher {
    /// Adds a task to the queue.
    fn queue(&self, placed: &PlacedTask) {
        self.schedule().queue(scheduled(placed));
    }

    /// Marks the next task as started, and returns it. `None` if every queued task has to wait. This
    /// is one step, so that two threads never take the same task.
    fn take_next(&self) -> Option<ScheduledTask> {
        let mut schedule = self.schedule();
        let next = schedule.next().cloned()?;
        schedule.start(next.clone());
        drop(schedule);
        Some(next)
    }

    /// Removes a queued task that was cancelled. A running task keeps its slot until the work on it
    /// has stopped.
    fn leave_queue(&self, id: TaskId) {
        let mut schedule = self.schedule();
        if !schedule.is_running(id) {
            schedule.remove(id);
        }
    }

    /// Gives a queued task another place. A running task keeps its slot.
    fn requeue(&self, placed: &PlacedTask) {
        let mut schedule = self.schedule();
        if !schedule.is_running(placed.task.id) {
            schedule.remove(placed.task.id);
            schedule.queue(scheduled(placed));
        }
    }

    /// Removes a task on which the work has stopped.
    fn remove(&self, id: TaskId) {
        self.schedule().remove(id);
    }

    /// Returns why a queued task does not start now, as a text for people.
    fn obstacle(&self, id: TaskId) -> Option<String> {
        self.schedule().obstacle(id).map(|obstacle| obstacle.to_string())
    }

    fn schedule(&self) -> MutexGuard<'_, TaskSchedule> {
        self.schedule.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes up all tasks that have not ended: queues them, and continues those that were running when
/// the last daemon ended. Called once, after the sessions are reconciled.
pub(crate) async fn take_up(supervisor: &Arc<Supervisor>) -> Result<()> {
    reports::send_due(supervisor, None).await;
    let open = supervisor.ports.store.tasks(&TaskQuery::open()).await?;
    let cancelled = plans::take_up(supervisor, &open).await?;
    for placed in &open {
        if placed.task.order.plan.as_ref().is_some_and(|it| cancelled.contains(&it.plan)) {
            plans::cancel_later(supervisor, placed.task.id);
            continue;
        }
        match &placed.task.state {
            TaskState::Running | TaskState::Waiting(TaskWait::Question { .. }) => {
                begin(supervisor, scheduled(placed));
            }
            TaskState::Waiting(TaskWait::UsageLimit { .. }) => {
                parking::park(supervisor, &placed.task);
            }
            // The account or the environment may be usable now.
            _ => supervisor.tasks.queue(placed),
        }
    }
    start_ready(supervisor);
    Ok(())
}

/// Starts every task that may start now.
fn start_ready(supervisor: &Arc<Supervisor>) {
    let limits = project::task_limits(supervisor.config_file());
    supervisor.tasks.schedule().set_limits(limits);
    while let Some(task) = supervisor.tasks.take_next() {
        work_on(supervisor, task.id);
    }
}

/// Marks a task as started, and works on it.
fn begin(supervisor: &Arc<Supervisor>, task: ScheduledTask) {
    let id = task.id;
    supervisor.tasks.schedule().start(task);
    work_on(supervisor, id);
}

/// Works on a started task in the background.
fn work_on(supervisor: &Arc<Supervisor>, id: TaskId) {
    let supervisor = Arc::clone(supervisor);
    tokio::spawn(async move {
        let worked = work::work(&supervisor, id).await;
        supervisor.tasks.remove(id);
        match worked.and(tasks::by_id(&supervisor.ports, id).await) {
            Ok(placed) => {
                after_work(&supervisor, &placed);
                supervisor.dispatch.task_ended();
            }
            // The store cannot be written, so the record of the task is as it was.
            Err(error) if is_disk_full(&error) => parking::park_until_room(&supervisor, id),
            // The record of the task is as it was. The next daemon continues the task.
            Err(error) => tracing::error!(task = %id, %error, "a task stops until the next daemon"),
        }
        start_ready(&supervisor);
    });
}

/// Adds tasks of a plan that were released to the queue.
pub(super) async fn queue_released(supervisor: &Arc<Supervisor>, released: &[TaskId]) {
    for id in released {
        match tasks::by_id(&supervisor.ports, *id).await {
            Ok(placed) => supervisor.tasks.queue(&placed),
            // The next daemon reads all queued tasks.
            Err(error) => tracing::error!(task = %id, %error, "a task waits for the next daemon"),
        }
    }
}

/// Queues or parks a task after the work on it has stopped, unless it has ended.
fn after_work(supervisor: &Arc<Supervisor>, placed: &PlacedTask) {
    match placed.task.state {
        // A person has retried the task before its slot was free.
        TaskState::Queued => supervisor.tasks.queue(placed),
        TaskState::Waiting(_) => parking::park(supervisor, &placed.task),
        TaskState::Running | TaskState::Done | TaskState::Failed { .. } | TaskState::Cancelled => {}
    }
}

fn scheduled(PlacedTask { place, task }: &PlacedTask) -> ScheduledTask {
    let order = &task.order;
    let agent = AgentKey { fleet: order.fleet.clone(), agent: order.agent.clone() };
    ScheduledTask {
        id: task.id,
        place: *place,
        priority: order.priority,
        agent,
        account: order.account.clone(),
        plan: order.plan.as_ref().map(|member| member.plan),
        exclusive: conversation(task).into_iter().chain(worktree(task)).collect(),
    }
}

/// Returns what identifies the conversation that a task continues.
fn conversation(task: &Task) -> Option<TaskExclusive> {
    let session = task.session.or(task.order.continues).map(|session| session.to_string());
    let issue = task.order.issue_key();
    let issue = issue.map(|key| format!("{} {} {}", key.agent, key.repository, key.issue.as_str()));
    issue.or(session).map(TaskExclusive::Conversation)
}

/// Returns what identifies the worktree in which a task works.
fn worktree(task: &Task) -> Option<TaskExclusive> {
    let (repository, worktree) = (task.order.repository.as_ref()?, task.order.worktree.as_ref()?);
    let name = format!("{repository} {} {}", worktree.agent, worktree.order.branch);
    Some(TaskExclusive::Worktree(name))
}
