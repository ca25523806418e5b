//! Pauses, resumes and cancels a plan, approves a gate, and starts a task of a plan again.

use std::collections::BTreeSet;

use crate::api::{PlanSelector, PlanTaskSelector};
use crate::error::{Error, Result};
use crate::failpoint;
use crate::flows::requests::step;
use crate::flows::tasks;
use crate::model::{
    EventPayload, Plan, PlanControl, PlanId, PlanTask, PlanTaskEnd, PlanTaskName, PlanTaskState,
    Principal, RequestKey, RequestStep, Task, TaskId, TaskResult, TaskState, TaskStateKind,
};
use crate::ports::{Change, Commit, PlanTaskQuery, Ports, TaskQuery};
use crate::rules::plans::PlanProgress;
use crate::rules::scope::RestrictedAction;

use super::advance::{PlanCommit, finish, needs_met};
use super::change::{ChangedPlan, by_id, event, is_plan_moved};
use super::find;

/// Records what a person has decided about a plan. A plan that is cancelled loses its queued tasks in
/// the same commit; the caller ends those that run.
pub async fn set_control(
    ports: &Ports,
    principal: &Principal,
    selector: &PlanSelector,
    control: PlanControl,
) -> Result<ChangedPlan> {
    principal.allow(RestrictedAction::Tasks)?;
    let id = find(ports, selector).await?.id;
    loop {
        let plan = by_id(ports, id).await?;
        let mut progress = PlanProgress::new(plan.clone());
        progress.set_control(control);
        let mut cancelled = (Vec::new(), PlanCommit::default());
        if control == PlanControl::Cancelled {
            cancelled = cancel_queued(ports, &mut progress).await?;
        }
        if plan.control == control && cancelled.0.is_empty() {
            return Ok(ChangedPlan { plan, released: Vec::new(), cancelled: Vec::new() });
        }
        let mut commit = finish(ports, progress, (Some(&plan), None), &BTreeSet::new()).await?;
        commit.changes.append(&mut cancelled.1.changes);
        commit.events.append(&mut cancelled.1.events);
        if let Some(changed) = store(ports, id, commit, cancelled.0).await? {
            return Ok(changed);
        }
    }
}

/// Cancels the tasks of a plan that no agent works on.
async fn cancel_queued(
    ports: &Ports,
    progress: &mut PlanProgress,
) -> Result<(Vec<TaskId>, PlanCommit)> {
    let plan = progress.plan().id;
    let state = Some(PlanTaskState::Released);
    let released =
        ports.store.plan_tasks(&PlanTaskQuery { state, ..PlanTaskQuery::of(plan) }).await?;
    let ids = released.iter().filter_map(|it| it.task).collect();
    let states = Some(vec![TaskStateKind::Queued]);
    let query = TaskQuery { ids: Some(ids), states, ..TaskQuery::default() };
    let (mut ids, mut commit) = (Vec::new(), PlanCommit::default());
    for queued in ports.store.tasks(&query).await?.into_iter().map(|it| it.task) {
        let member = queued.order.plan.as_ref().map(|member| member.name.clone());
        let own = released.iter().find(|it| Some(&it.name) == member.as_ref());
        let Some(own) = own else { continue };
        progress.end(own.clone(), PlanTaskEnd::Cancelled);
        ids.push(queued.id);
        cancel_task(ports, queued, "its plan was cancelled", &mut commit);
    }
    Ok((ids, commit))
}

/// Adds the end of a queued task to a commit.
pub(super) fn cancel_task(ports: &Ports, queued: Task, reason: &str, commit: &mut PlanCommit) {
    let ended = Task {
        state: TaskState::Cancelled,
        result: Some(TaskResult::default()),
        ended_at: Some(ports.clock.now()),
        ..queued
    };
    commit.events.push(tasks::event(ports, &ended, Some(reason.to_owned())));
    let from = TaskStateKind::Queued;
    commit.changes.push(Change::SetTask { task: Box::new(ended), from });
}

/// Records that a person approves a task that waits for it.
pub async fn approve(
    ports: &Ports,
    principal: &Principal,
    selector: &PlanTaskSelector,
) -> Result<ChangedPlan> {
    principal.allow(RestrictedAction::Tasks)?;
    let id = find(ports, &selector.plan).await?.id;
    loop {
        let plan = by_id(ports, id).await?;
        let task = named(ports, &plan, &selector.task).await?;
        if task.is_approved {
            return Ok(ChangedPlan { plan, released: Vec::new(), cancelled: Vec::new() });
        }
        check_gated(&task)?;
        let mut progress = PlanProgress::new(plan.clone());
        if progress.approve(task.clone()) {
            needs_met(ports, &mut progress, &task.name).await?;
        }
        let mut commit = finish(ports, progress, (Some(&plan), None), &BTreeSet::new()).await?;
        let (name, gate) = (plan.name.clone(), task.name);
        let payload = EventPayload::PlanGateApproved { plan: plan.id, name, gate };
        commit.events.insert(0, event(ports, payload));
        if let Some(changed) = store(ports, id, commit, Vec::new()).await? {
            return Ok(changed);
        }
    }
}

fn check_gated(task: &PlanTask) -> Result<()> {
    let name = &task.name;
    match task.state {
        PlanTaskState::Gated => Ok(()),
        _ if task.definition.gate.is_none() => {
            Err(Error::usage(format!("`{name}` needs no approval"))
                .hint("`segue plan show` lists the tasks that wait for one"))
        }
        PlanTaskState::Blocked => {
            let unmet = task.unmet;
            Err(Error::conflict(format!("`{name}` does not wait for an approval yet"))
                .caused_by(format!("{unmet} of the tasks that it needs have not ended")))
        }
        _ => Err(Error::conflict(format!("`{name}` does not wait for an approval"))),
    }
}

/// Starts a task of a plan again that has failed or was cancelled, with the newest definition. The step
/// of the request is recorded in the same commit. A repeated request changes nothing: the task may run
/// or have ended since.
pub async fn retry(
    ports: &Ports,
    principal: &Principal,
    selector: &PlanTaskSelector,
    request: Option<RequestKey>,
) -> Result<ChangedPlan> {
    principal.allow(RestrictedAction::Tasks)?;
    let id = find(ports, &selector.plan).await?.id;
    loop {
        let plan = by_id(ports, id).await?;
        if is_retried(ports, request, id).await? {
            return Ok(ChangedPlan { plan, released: Vec::new(), cancelled: Vec::new() });
        }
        let task = named(ports, &plan, &selector.task).await?;
        let name = task.name.clone();
        match task.state {
            _ if task.is_removed => {
                return Err(Error::conflict(format!("`{name}` is not in the plan any more"))
                    .hint("add it to the file, and run `segue plan apply`"));
            }
            PlanTaskState::Ended(PlanTaskEnd::Failed | PlanTaskEnd::Cancelled) => {}
            state => {
                let state = state.word();
                return Err(Error::conflict(format!("`{name}` is {state}: nothing to retry")));
            }
        }
        let mut progress = PlanProgress::new(plan.clone());
        if progress.reopen(task) {
            let query = PlanTaskQuery::needing(plan.id, &name);
            let dependants = ports.store.plan_tasks(&query).await?;
            dependants.into_iter().for_each(|it| progress.need_reopened(it));
        }
        let mut commit = finish(ports, progress, (Some(&plan), None), &BTreeSet::new()).await?;
        commit.changes.extend(step(ports, request, RequestStep::PlanRetried { plan: id }));
        if let Some(changed) = store(ports, id, commit, Vec::new()).await? {
            return Ok(changed);
        }
    }
}

/// Returns whether an earlier attempt of the same request has started the task again.
async fn is_retried(ports: &Ports, request: Option<RequestKey>, plan: PlanId) -> Result<bool> {
    let Some(request) = request else { return Ok(false) };
    Ok(ports.store.request(request).await?.contains(&RequestStep::PlanRetried { plan }))
}

async fn named(ports: &Ports, plan: &Plan, name: &str) -> Result<PlanTask> {
    let unknown = || {
        let shown: String = name.chars().take(64).collect();
        let (plan, shown) = (&plan.name, shown.escape_debug());
        Error::not_found(format!("plan `{plan}` has no task `{shown}`"))
            .hint(format!("run `segue plan show {plan}` to see its tasks"))
    };
    let parsed = PlanTaskName::parse(name).map_err(|_| unknown())?;
    let query = PlanTaskQuery::named(plan.id, vec![parsed]);
    ports.store.plan_tasks(&query).await?.pop().ok_or_else(unknown)
}

/// Commits a change of a plan. `None` if another request has changed the plan first.
async fn store(
    ports: &Ports,
    id: PlanId,
    PlanCommit { changes, events, released }: PlanCommit,
    cancelled: Vec<TaskId>,
) -> Result<Option<ChangedPlan>> {
    failpoint::hit("plan.change.before");
    match ports.store.commit(Commit { changes, events }).await {
        Err(error) if is_plan_moved(&error) => return Ok(None),
        result => result?,
    };
    failpoint::hit("plan.change.after");
    Ok(Some(ChangedPlan { plan: by_id(ports, id).await?, released, cancelled }))
}
