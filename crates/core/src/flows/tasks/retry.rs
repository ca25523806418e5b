//! Queues a task again that has ended or waits.

use crate::api::{RunRequest, TaskRetryRequest};
use crate::error::{Error, Result};
use crate::failpoint;
use crate::flows::run;
use crate::model::{Principal, Task, TaskOrder, TaskProgress, TaskState, TaskWait};
use crate::ports::{PlacedTask, Ports};
use crate::rules::scope::RestrictedAction;

use super::place::{of_worktree, worktree_request};
use super::record::change;
use super::start::agent_request;
use super::{by_id, find};

/// Queues a task again, at its old place. It continues its conversation, unless the request wants a
/// new one or names another agent.
pub async fn retry(
    ports: &Ports,
    principal: &Principal,
    request: &TaskRetryRequest,
) -> Result<PlacedTask> {
    principal.allow(RestrictedAction::Tasks)?;
    let PlacedTask { task, .. } = find(ports, &request.task).await?;
    check_state(&task)?;
    if let Some(member) = task.order.plan.as_ref().filter(|_| task.state.has_ended()) {
        let (plan, name) = (&member.plan_name, &member.name);
        return Err(Error::conflict(format!("the task is `{name}` of plan `{plan}`"))
            .hint(format!("run `segue plan retry {plan} {name}`")));
    }
    let order = match &request.agent {
        Some(agent) => order_for(ports, principal, (&task.order, agent), request).await?,
        None => task.order.clone(),
    };
    let begins_anew = request.fresh || order.agent != task.order.agent;
    let progress = TaskProgress {
        message: None,
        is_fresh_retry: begins_anew,
        lost_conversation: None,
        ..task.progress.clone()
    };
    let queued = Task {
        state: TaskState::Queued,
        session: task.session.filter(|_| !begins_anew),
        order,
        progress,
        result: None,
        started_at: None,
        ended_at: None,
        ..task.clone()
    };
    failpoint::hit("task.retry.before");
    let reason = Some("retried".to_owned());
    ports.store.commit(change(ports, &queued, task.state.kind(), reason)).await?;
    failpoint::hit("task.retry.after");
    by_id(ports, task.id).await
}

fn check_state(task: &Task) -> Result<()> {
    let is_asking = matches!(task.state, TaskState::Waiting(TaskWait::Question { .. }));
    let is_waiting = matches!(task.state, TaskState::Waiting(_)) && !is_asking;
    if task.state.has_ended() || is_waiting {
        return Ok(());
    }
    let (id, state) = (task.id, task.state.word());
    Err(Error::conflict(format!("task `{id}` is {state}: there is nothing to retry"))
        .hint(format!("run `segue task cancel {id}` first")))
}

/// Returns the order for another agent.
async fn order_for(
    ports: &Ports,
    principal: &Principal,
    (order, agent): (&TaskOrder, &str),
    request: &TaskRetryRequest,
) -> Result<TaskOrder> {
    let work = (order.folder.as_path(), order.prompt.as_str());
    let environment = &request.caller.environment;
    // The other agent goes on in the same worktree.
    let worktree = order.worktree.as_ref().map(worktree_request);
    let wanted = RunRequest { worktree, ..agent_request(agent, work, order.mode, environment) };
    let plan = run::plan_unattended(ports, principal, &wanted).await?;
    let allows_fork = order.worktree.as_ref().is_some_and(|it| it.order.allows_commands_of_fork);
    let worktree = plan.worktree.as_ref().map(|plan| of_worktree(&plan.worktree, allows_fork));
    Ok(TaskOrder {
        fleet: plan.fleet().clone(),
        agent: plan.agent_name()?.clone(),
        account: plan.account(),
        continues: None,
        worktree,
        ..order.clone()
    })
}
