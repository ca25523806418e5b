//! What the end of a task means for its plan, and which tasks of the plan are released.

use std::collections::BTreeSet;

use crate::error::Result;
use crate::flows::tasks;
use crate::model::{
    EventPayload, FailurePolicy, NewEvent, Plan, PlanControl, PlanMembership, PlanTask,
    PlanTaskEnd, PlanTaskName, PlanTaskState, Task, TaskId, TaskKey, TaskOrder, TaskProgress,
    TaskState,
};
use crate::ports::{Change, PlanQuery, PlanTaskQuery, Ports};
use crate::rules::plans::PlanProgress;

use super::change::{event, state_event};
use super::results::prompt;

/// The part of a commit that concerns a plan.
#[derive(Debug, Default)]
pub(crate) struct PlanCommit {
    pub(crate) changes: Vec<Change>,
    pub(crate) events: Vec<NewEvent>,
    /// Tasks that are in the queue after the commit.
    pub(crate) released: Vec<TaskId>,
}

/// Returns what the end of a task changes about its plan. It belongs into the commit of the end.
/// Reads only the tasks that need the ended one, and the tasks that are ready.
pub(crate) async fn after_end(ports: &Ports, ended: &Task) -> Result<PlanCommit> {
    let end = match ended.state {
        TaskState::Done => PlanTaskEnd::Done,
        TaskState::Failed { .. } => PlanTaskEnd::Failed,
        TaskState::Cancelled => PlanTaskEnd::Cancelled,
        TaskState::Queued | TaskState::Running | TaskState::Waiting(_) => {
            return Ok(PlanCommit::default());
        }
    };
    let Some(member) = &ended.order.plan else { return Ok(PlanCommit::default()) };
    let query = PlanQuery { id: Some(member.plan), ..PlanQuery::default() };
    let Some(plan) = ports.store.plans(&query).await?.pop() else {
        return Ok(PlanCommit::default());
    };
    let query = PlanTaskQuery::named(plan.id, vec![member.name.clone()]);
    let task = ports.store.plan_tasks(&query).await?.pop();
    let is_own = |it: &PlanTask| it.task == Some(ended.id) && it.state == PlanTaskState::Released;
    let Some(task) = task.filter(is_own) else { return Ok(PlanCommit::default()) };
    let mut progress = PlanProgress::new(plan.clone());
    if progress.end(task, end) {
        needs_met(ports, &mut progress, &member.name).await?;
    }
    finish(ports, progress, (Some(&plan), Some(ended)), &BTreeSet::new()).await
}

/// Returns whether a task that failed is started again, because its plan wants that.
pub(crate) async fn is_retried(ports: &Ports, task: &Task) -> Result<bool> {
    let Some(member) = &task.order.plan else { return Ok(false) };
    if task.progress.plan_retries >= member.retries {
        return Ok(false);
    }
    let query = PlanQuery { id: Some(member.plan), ..PlanQuery::default() };
    let plan = ports.store.plans(&query).await?.pop();
    Ok(plan.is_some_and(|plan| plan.control != PlanControl::Cancelled))
}

/// Records for all tasks that need this one that it has ended as required.
pub(super) async fn needs_met(
    ports: &Ports,
    progress: &mut PlanProgress,
    name: &PlanTaskName,
) -> Result<()> {
    let query = PlanTaskQuery::needing(progress.plan().id, name);
    for dependant in ports.store.plan_tasks(&query).await? {
        progress.need_met(dependant);
    }
    Ok(())
}

/// Releases the tasks that may be released, and returns all changes of the plan. `before` is the
/// stored plan, `ended` the task whose end is in the same commit, and `deleted` are tasks that the
/// commit deletes.
pub(super) async fn finish(
    ports: &Ports,
    mut progress: PlanProgress,
    (before, ended): (Option<&Plan>, Option<&Task>),
    deleted: &BTreeSet<PlanTaskName>,
) -> Result<PlanCommit> {
    let mut commit = PlanCommit::default();
    while release_once(ports, &mut progress, ended, deleted, &mut commit).await? {}
    let (mut plan, changed, gates) = progress.into_parts();
    let from = before.map(|before| before.revision);
    plan.revision = from.unwrap_or_default() + 1;
    plan.updated_at = ports.clock.now();
    commit.events.extend(state_event(ports, before, &plan));
    for gate in gates {
        let (id, name) = (plan.id, plan.name.clone());
        let payload = EventPayload::PlanGateReached { plan: id, name, gate };
        commit.events.push(event(ports, payload));
    }
    let mut changes = vec![Change::PutPlan { plan: Box::new(plan), from }];
    changes.extend(changed.into_iter().map(|task| Change::PutPlanTask(Box::new(task))));
    changes.append(&mut commit.changes);
    Ok(PlanCommit { changes, ..commit })
}

/// Releases the tasks that may be released now. Returns whether further tasks may be ready, because
/// a task has failed before it was released.
async fn release_once(
    ports: &Ports,
    progress: &mut PlanProgress,
    ended: Option<&Task>,
    deleted: &BTreeSet<PlanTaskName>,
    commit: &mut PlanCommit,
) -> Result<bool> {
    let slots = progress.free_slots();
    if slots == 0 {
        return Ok(false);
    }
    let state = Some(PlanTaskState::Ready);
    // Tasks that were changed before may be among the stored ones.
    let most = slots.saturating_add(progress.changed()).saturating_add(deleted.len());
    let first = u32::try_from(most).ok();
    let query = PlanTaskQuery { state, first, ..PlanTaskQuery::of(progress.plan().id) };
    let mut stored = ports.store.plan_tasks(&query).await?;
    stored.retain(|task| !deleted.contains(&task.name));
    let mut has_failed = false;
    for task in progress.releasable(stored) {
        match prompt(ports, progress, &task, ended).await?.and_then(checked) {
            Ok(prompt) => {
                let (queued, change) = queued(ports, progress.plan(), &task, prompt).await?;
                commit.events.push(tasks::event(ports, &queued, None));
                commit.changes.push(change);
                commit.released.push(queued.id);
                progress.release(task, queued.id);
            }
            Err(error) => {
                has_failed = true;
                let name = task.name.clone();
                if progress.fail(task, error.in_one_line()) {
                    needs_met(ports, progress, &name).await?;
                }
            }
        }
    }
    Ok(has_failed)
}

/// Checks a rendered prompt: the answers of other agents may have made it unusable.
fn checked(prompt: String) -> Result<String> {
    tasks::check_prompt(&prompt).map(|()| prompt)
}

/// Returns the task in the queue for a task of a plan, and the change that queues it. A task that was
/// in the queue before keeps its id and its conversation.
async fn queued(
    ports: &Ports,
    plan: &Plan,
    task: &PlanTask,
    prompt: String,
) -> Result<(Task, Change)> {
    let order = order(plan, task, prompt)?;
    let Some(id) = task.task else {
        let new = new_task(ports, plan, task, order)?;
        return Ok((new.clone(), Change::AddTask(Box::new(new))));
    };
    let known = tasks::by_id(ports, id).await?.task;
    let from = known.state.kind();
    let begins_anew = known.order.agent != order.agent || known.order.worktree != order.worktree;
    let progress = TaskProgress {
        message: None,
        is_fresh_retry: begins_anew,
        lost_conversation: None,
        plan_retries: 0,
        ..known.progress
    };
    let queued = Task {
        state: TaskState::Queued,
        session: known.session.filter(|_| !begins_anew),
        order,
        progress,
        result: None,
        started_at: None,
        ended_at: None,
        ..known
    };
    Ok((queued.clone(), Change::SetTask { task: Box::new(queued), from }))
}

fn new_task(ports: &Ports, plan: &Plan, task: &PlanTask, order: TaskOrder) -> Result<Task> {
    let key = Some(task_key(plan, task)?);
    let id = TaskId::new(ports.clock.new_id());
    Ok(Task { key, ..Task::queued(id, order, ports.clock.now()) })
}

fn task_key(plan: &Plan, task: &PlanTask) -> Result<TaskKey> {
    let prefix = tasks::PLAN_KEY_PREFIX;
    TaskKey::parse(&format!("{prefix}{}/{}/{}", plan.fleet, plan.name, task.name))
}

/// Returns the order of a task of a plan with its rendered prompt.
pub(super) fn order(plan: &Plan, task: &PlanTask, prompt: String) -> Result<TaskOrder> {
    let no_work = || crate::error::Error::internal("a gate without work cannot be queued");
    let order = task.definition.order.as_deref().cloned().ok_or_else(no_work)?;
    let retries = match task.definition.on_failure {
        FailurePolicy::Retry { times } => times,
        FailurePolicy::Stop | FailurePolicy::Continue => 0,
    };
    let member = PlanMembership {
        plan: plan.id,
        plan_name: plan.name.clone(),
        name: task.name.clone(),
        retries,
    };
    Ok(TaskOrder { prompt, plan: Some(member), ..order })
}
