//! The requests of users about tasks.

use std::sync::Arc;
use std::time::Duration;

use segue_core::api::{
    AgentReportAnswer, AgentReportRequest, TaskAddRequest, TaskList, TaskListQuery,
    TaskListRequest, TaskReport, TaskRetryRequest, TaskSummaryList, TaskView, TaskWaitRequest,
};
use segue_core::flows::caller_environment;
use segue_core::flows::requests::step;
use segue_core::flows::tasks::{self, TaskEnd};
use segue_core::model::{
    AgentReport, MessageId, Principal, RequestKey, RequestStep, SessionId, Task, TaskId, TaskState,
    TaskWait,
};
use segue_core::ports::{AgentReportQuery, Change, Commit, PlacedTask};
use segue_core::rules::scope::RestrictedAction;
use segue_core::rules::task_tree::TreeLimits;
use segue_core::{Error, Kind, Result};
use tokio::time::timeout;

use super::super::{SessionRequest, Supervisor};
use super::{queue_released, reports, start_ready};
use crate::project;

/// Adds a task, and starts it if it may start now. A repeated request returns the same task.
pub(crate) async fn add(
    supervisor: &Arc<Supervisor>,
    principal: &Principal,
    key: Option<RequestKey>,
    mut request: TaskAddRequest,
) -> Result<TaskReport> {
    let ports = &supervisor.ports;
    if let Principal::Agent(_) = principal {
        let sent = request.caller.environment;
        request.caller.environment =
            caller_environment::environment(ports, principal, sent).await?;
    }
    let limits = project::tree_limits(supervisor.config_file());
    // The daemon that gets this request again shows the current state of the task.
    let same_commit = |task: &Task| {
        let answer = serde_json::to_string(&TaskReport {
            task: tasks::new_view(task.clone()),
            reports: Vec::new(),
        });
        let answer = answer
            .map_err(|error| Error::internal("an answer cannot be written").caused_by(error))?;
        Ok(step(ports, key, RequestStep::Done { answer }))
    };
    let placed = tasks::add(ports, principal, request, &limits, same_commit).await?;
    if placed.task.state == TaskState::Queued {
        supervisor.tasks.queue(&placed);
        start_ready(supervisor);
    }
    report(supervisor, placed).await
}

/// Adds a task that comes from a forge, together with further changes, and starts it if it may start
/// now. Returns whether it is new: a task with the same key is not added again.
pub(crate) async fn add_from_forge(
    supervisor: &Arc<Supervisor>,
    principal: &Principal,
    request: TaskAddRequest,
    changes: Vec<Change>,
) -> Result<(TaskId, bool)> {
    let mut is_new = false;
    let same_commit = |_: &Task| {
        is_new = true;
        Ok(changes)
    };
    let limits = TreeLimits::default();
    let placed = tasks::add(&supervisor.ports, principal, request, &limits, same_commit).await?;
    if placed.task.state == TaskState::Queued && is_new {
        supervisor.tasks.queue(&placed);
        start_ready(supervisor);
    }
    Ok((placed.task.id, is_new))
}

/// Removes a queued task that was cancelled from the schedule.
pub(crate) fn leave_queue(supervisor: &Arc<Supervisor>, task: TaskId) {
    supervisor.tasks.leave_queue(task);
    start_ready(supervisor);
}

/// Returns the tasks that the request describes.
pub(crate) async fn list(
    supervisor: &Supervisor,
    principal: &Principal,
    request: &TaskListRequest,
) -> Result<TaskList> {
    principal.allow(RestrictedAction::ReadTasks)?;
    let found = tasks::list(&supervisor.ports, request).await?;
    Ok(TaskList { tasks: views(supervisor, found).await?, next: None })
}

/// Returns a page of the tasks that the query describes.
pub(crate) async fn page(
    supervisor: &Supervisor,
    principal: &Principal,
    query: &TaskListQuery,
) -> Result<TaskList> {
    principal.allow(RestrictedAction::ReadTasks)?;
    let (found, next) = tasks::page(&supervisor.ports, query).await?;
    let next = next.map(|cursor| cursor.to_string());
    Ok(TaskList { tasks: views(supervisor, found).await?, next })
}

/// Returns the parts of the tasks that a table shows.
pub(crate) async fn summaries(
    supervisor: &Supervisor,
    principal: &Principal,
    request: &TaskListRequest,
) -> Result<TaskSummaryList> {
    principal.allow(RestrictedAction::ReadTasks)?;
    Ok(TaskSummaryList { tasks: tasks::summaries(&supervisor.ports, request).await? })
}

pub(crate) async fn show(
    supervisor: &Supervisor,
    principal: &Principal,
    task: &str,
) -> Result<TaskReport> {
    let placed = tasks::find_for(&supervisor.ports, principal, task).await?;
    let query = AgentReportQuery { task: Some(placed.task.id), session: None };
    let reports = supervisor.ports.store.agent_reports(&query).await?;
    Ok(TaskReport { reports, ..report(supervisor, placed).await? })
}

/// Records what an agent reports about its work, and sends it to its parent.
pub(crate) async fn report_work(
    supervisor: &Arc<Supervisor>,
    principal: &Principal,
    key: Option<RequestKey>,
    request: &AgentReportRequest,
) -> Result<AgentReportAnswer> {
    let ports = &supervisor.ports;
    let AgentReportRequest { state, text } = request;
    // The answer is in the commit of the report, so that a repeated request reports once.
    let same_commit = |report: &AgentReport| {
        let answer = AgentReportAnswer { report: report.clone() };
        let answer = serde_json::to_string(&answer)
            .map_err(|error| Error::internal("an answer cannot be written").caused_by(error))?;
        Ok(step(ports, key, RequestStep::Done { answer }))
    };
    let (report, parent) = tasks::report(ports, principal, (*state, text), same_commit).await?;
    reports::send_due(supervisor, Some(parent)).await;
    Ok(AgentReportAnswer { report })
}

/// Waits until a task has ended, or until only a person can make it go on. After the timeout,
/// returns the task as it is.
pub(crate) async fn wait(
    supervisor: &Supervisor,
    principal: &Principal,
    request: TaskWaitRequest,
) -> Result<TaskReport> {
    let id = tasks::find_for(&supervisor.ports, principal, &request.task).await?.task.id;
    let rest = async {
        let store = &supervisor.ports.store;
        // An empty commit returns the sequence number of the last event.
        let mut seen = store.commit(Commit::default()).await?;
        while goes_on(&tasks::by_id(&supervisor.ports, id).await?.task.state) {
            seen = store.wait_for_events(seen).await?;
        }
        Ok::<(), Error>(())
    };
    match request.timeout_ms.map(Duration::from_millis) {
        None => rest.await?,
        Some(limit) => timeout(limit, rest).await.unwrap_or(Ok(()))?,
    }
    report(supervisor, tasks::by_id(&supervisor.ports, id).await?).await
}

/// Returns whether a task goes on without a person.
fn goes_on(state: &TaskState) -> bool {
    match state {
        TaskState::Queued | TaskState::Running => true,
        TaskState::Waiting(wait) => !wait.needs_person(),
        TaskState::Done | TaskState::Failed { .. } | TaskState::Cancelled => false,
    }
}

/// Changes the priority of a queued task.
pub(crate) async fn set_priority(
    supervisor: &Arc<Supervisor>,
    principal: &Principal,
    id: TaskId,
    level: i8,
) -> Result<TaskReport> {
    let placed = tasks::set_priority(&supervisor.ports, principal, id, level).await?;
    supervisor.tasks.requeue(&placed);
    start_ready(supervisor);
    report(supervisor, placed).await
}

/// Cancels a task. The process of its session is ended; the conversation stays.
pub(crate) async fn cancel(
    supervisor: &Arc<Supervisor>,
    principal: &Principal,
    task: &str,
) -> Result<TaskReport> {
    let PlacedTask { task, .. } = tasks::find_to_change(&supervisor.ports, principal, task).await?;
    let id = task.id;
    if let Some(session) = task.session.filter(|_| task.state == TaskState::Running || asks(&task))
    {
        end_turn(supervisor, session, task.progress.message).await?;
    }
    if let Err(error) = record_cancelled(supervisor, &task).await {
        let now = tasks::by_id(&supervisor.ports, id).await?.task.state;
        // The work on the task has noticed the end of the process, and has recorded it.
        if now != TaskState::Cancelled {
            return Err(error);
        }
    }
    supervisor.tasks.leave_queue(id);
    start_ready(supervisor);
    report(supervisor, tasks::by_id(&supervisor.ports, id).await?).await
}

fn asks(task: &Task) -> bool {
    matches!(task.state, TaskState::Waiting(TaskWait::Question { .. }))
}

async fn record_cancelled(supervisor: &Arc<Supervisor>, task: &Task) -> Result<()> {
    if task.state.has_ended() && task.state != TaskState::Cancelled {
        let (id, state) = (task.id, task.state.word());
        return Err(Error::conflict(format!("task `{id}` is {state} already")));
    }
    if task.state != TaskState::Cancelled {
        supervisor.count_usage(task.session).await;
        let end = TaskEnd::new(TaskState::Cancelled, None);
        let ended = tasks::end(&supervisor.ports, task, end).await?;
        queue_released(supervisor, &ended.released).await;
    }
    reports::send_of(supervisor, task).await;
    Ok(())
}

/// Ends the turn of a task: cancels the message that would begin it, or ends the process.
async fn end_turn(
    supervisor: &Arc<Supervisor>,
    session: SessionId,
    message: Option<MessageId>,
) -> Result<()> {
    if let Some(message) = message {
        let same_commit = Vec::new();
        let cancel = |reply| SessionRequest::Cancel { message, same_commit, reply };
        match supervisor.ask(session, cancel).await {
            Ok(()) => return Ok(()),
            // The agent has the message already.
            Err(error) if error.kind == Kind::Conflict => {}
            Err(error) => return Err(error),
        }
    }
    supervisor.end(session).await.map(drop)
}

/// Queues a task again that has ended or waits.
pub(crate) async fn retry(
    supervisor: &Arc<Supervisor>,
    principal: &Principal,
    request: &TaskRetryRequest,
) -> Result<TaskReport> {
    let placed = tasks::retry(&supervisor.ports, principal, request).await?;
    // A person retries a task after having signed in again.
    supervisor.tasks.schedule().set_held(placed.task.order.account.clone(), false);
    supervisor.tasks.queue(&placed);
    start_ready(supervisor);
    report(supervisor, placed).await
}

async fn report(supervisor: &Supervisor, placed: PlacedTask) -> Result<TaskReport> {
    let task = views(supervisor, vec![placed]).await?.pop();
    let task = task.ok_or_else(|| Error::internal("a task cannot be shown"))?;
    Ok(TaskReport { task, reports: Vec::new() })
}

async fn views(supervisor: &Supervisor, found: Vec<PlacedTask>) -> Result<Vec<TaskView>> {
    tasks::views(&supervisor.ports, found, |id| supervisor.tasks.obstacle(id)).await
}
