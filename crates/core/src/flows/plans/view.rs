//! Converts plans into the form that users and scripts see.

use std::collections::BTreeMap;

use crate::api::{PlanList, PlanSummaryView, PlanTaskStatus, PlanTaskView, PlanView};
use crate::error::Result;
use crate::model::{
    Plan, PlanControl, PlanState, PlanTask, PlanTaskEnd, PlanTaskState, Task, TaskId, TaskState,
    TaskStateKind,
};
use crate::ports::{PlanQuery, PlanTaskQuery, Ports, TaskQuery};
use crate::rules::plans::plan_state;

/// Returns the plans, without those that are done or cancelled unless `all` is set.
pub async fn list(ports: &Ports, all: bool) -> Result<PlanList> {
    let plans = ports.store.plans(&PlanQuery::default()).await?;
    let is_shown =
        |plan: &Plan| all || !matches!(plan_state(plan), PlanState::Done | PlanState::Cancelled);
    Ok(PlanList { plans: plans.iter().filter(|it| is_shown(it)).map(summary).collect() })
}

/// Returns a plan with its tasks. `obstacle` returns why a queued task does not start now.
pub async fn show(
    ports: &Ports,
    plan: &Plan,
    obstacle: impl Fn(TaskId) -> Option<String>,
) -> Result<PlanView> {
    let nodes = ports.store.plan_tasks(&PlanTaskQuery::of(plan.id)).await?;
    let ids: Vec<TaskId> = nodes.iter().filter_map(|it| it.task).collect();
    let tasks = match ids.is_empty() {
        true => Vec::new(),
        false => ports.store.tasks(&TaskQuery { ids: Some(ids), ..TaskQuery::default() }).await?,
    };
    let tasks: BTreeMap<TaskId, Task> = tasks.into_iter().map(|it| (it.task.id, it.task)).collect();
    let view = |node: PlanTask| {
        let task = node.task.and_then(|id| tasks.get(&id));
        task_view(plan, node, task, &obstacle)
    };
    Ok(PlanView { plan: summary(plan), tasks: nodes.into_iter().map(view).collect() })
}

pub(super) fn summary(plan: &Plan) -> PlanSummaryView {
    PlanSummaryView {
        id: plan.id,
        name: plan.name.clone(),
        fleet: plan.fleet.clone(),
        folder: plan.folder.clone(),
        state: plan_state(plan).into(),
        max_parallel: plan.max_parallel,
        counts: plan.counts,
        created_at: plan.created_at,
        updated_at: plan.updated_at,
    }
}

fn task_view(
    plan: &Plan,
    node: PlanTask,
    task: Option<&Task>,
    obstacle: impl Fn(TaskId) -> Option<String>,
) -> PlanTaskView {
    let status = status(plan, &node, task);
    let of_task = task.filter(|_| !node.state.is_pending());
    let reason = match status {
        PlanTaskStatus::Queued => of_task.and_then(|task| obstacle(task.id)),
        _ => of_task.and_then(|task| task.state.reason()).or(node.failure),
    };
    let order = node.definition.order.as_ref();
    PlanTaskView {
        name: node.name,
        status: status.into(),
        reason,
        needs: node.definition.needs,
        agent: order.map(|order| order.agent.to_string()),
        has_gate: node.definition.gate.is_some(),
        is_removed: node.is_removed,
        task: node.task,
        attempts: task.map_or(0, |task| task.attempts),
        started_at: of_task.and_then(|task| task.started_at),
        ended_at: of_task.and_then(|task| task.ended_at),
    }
}

fn status(plan: &Plan, node: &PlanTask, task: Option<&Task>) -> PlanTaskStatus {
    let never_starts = plan.control == PlanControl::Cancelled || plan.counts.stopping > 0;
    match node.state {
        PlanTaskState::Blocked | PlanTaskState::Gated | PlanTaskState::Ready if never_starts => {
            PlanTaskStatus::Skipped
        }
        PlanTaskState::Blocked => PlanTaskStatus::Blocked,
        PlanTaskState::Gated => PlanTaskStatus::Approval,
        PlanTaskState::Ready => PlanTaskStatus::Ready,
        PlanTaskState::Released => match task.map(|task| task.state.kind()) {
            Some(TaskStateKind::Running) => PlanTaskStatus::Running,
            Some(TaskStateKind::Waiting) => PlanTaskStatus::Waiting,
            _ if task.is_some_and(|it| it.state == TaskState::Done) => PlanTaskStatus::Done,
            _ => PlanTaskStatus::Queued,
        },
        PlanTaskState::Ended(PlanTaskEnd::Done) => PlanTaskStatus::Done,
        PlanTaskState::Ended(PlanTaskEnd::Failed) => PlanTaskStatus::Failed,
        PlanTaskState::Ended(PlanTaskEnd::Cancelled) => PlanTaskStatus::Cancelled,
    }
}
