//! Applies a file: adds a plan, or changes what differs.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;

use crate::api::{Caller, PlanApplyReport};
use crate::error::{Error, Result};
use crate::failpoint;
use crate::flows::{tasks, trust};
use crate::model::{
    EventPayload, PROJECT_FILE, Plan, PlanControl, PlanCounts, PlanFile, PlanId, PlanName,
    PlanTask, PlanTaskName, PlanTaskState, Principal, Task, TaskId, TaskOrder, TaskStateKind,
};
use crate::ports::{Change, Commit, PlanQuery, PlanTaskQuery, Ports, TaskQuery};
use crate::rules::plans::{
    PlanDifference, PlanProblem, PlanProgress, TaskDifference, check_plan, compare_plans,
};
use crate::rules::scope::RestrictedAction;

use super::advance::{PlanCommit, finish, order};
use super::change::{ChangedPlan, by_id, event, is_plan_moved};
use super::control::cancel_task;
use super::order::{DefinedTask, PlanOrders};
use super::results::prompt;
use super::view::summary;

/// A plan's file that is applied.
#[derive(Debug)]
pub struct PlanInput {
    pub file: PlanFile,
    /// The names of the tasks in the order of the file.
    pub names: Vec<String>,
}

/// A plan to which a file was applied.
#[derive(Clone, Debug)]
pub struct AppliedPlan {
    pub report: PlanApplyReport,
    pub changed: ChangedPlan,
}

/// Applies a file. `locate` makes an error of a mistake in the file, and `same_commit` returns changes
/// that are recorded together with the plan. A file with a mistake changes nothing, and so does a file
/// that was applied before.
pub async fn apply(
    ports: &Ports,
    principal: &Principal,
    (caller, input): (&Caller, &PlanInput),
    locate: impl Fn(&PlanProblem) -> Error,
    same_commit: impl Fn(&PlanApplyReport) -> Result<Vec<Change>>,
) -> Result<AppliedPlan> {
    principal.allow(RestrictedAction::Tasks)?;
    let PlanInput { file, names } = input;
    check_plan(file).map_err(|problem| locate(&problem))?;
    let cwd = ports.machine.folder(&caller.cwd)?.real_path;
    let project = ports.projects.around(&cwd)?.ok_or_else(|| {
        let folder = cwd.display();
        Error::config(format!("no `{PROJECT_FILE}` is in `{folder}` or above it"))
            .hint("run `segue init` to write one")
    })?;
    trust::require(ports, &project).await?;
    let orders = PlanOrders::new((ports, principal), (caller, &project.folder), file);
    let (fleet, defined) = orders.all(names).await?.map_err(|problem| locate(&problem))?;
    check_project_templates(ports, &defined).await?;
    let new = Plan {
        id: PlanId::new(ports.clock.new_id()),
        name: PlanName::parse(&file.name)?,
        fleet,
        folder: project.folder.clone(),
        control: PlanControl::Active,
        max_parallel: file.max_parallel.map(NonZeroU32::get),
        counts: PlanCounts::default(),
        revision: 0,
        created_at: ports.clock.now(),
        updated_at: ports.clock.now(),
    };
    loop {
        match attempt(ports, &new, defined.clone(), &same_commit).await {
            Err(error) if is_plan_moved(&error) => {}
            result => return result,
        }
    }
}

/// Fails if a template of the project cannot be rendered for the tasks.
async fn check_project_templates(ports: &Ports, defined: &[DefinedTask]) -> Result<()> {
    let order = defined.iter().find_map(|(_, _, definition)| definition.order.as_deref());
    let Some(order) = order else { return Ok(()) };
    let order = TaskOrder { prompt: "prompt".to_owned(), ..order.clone() };
    let sample = Task::queued(TaskId::new(ports.clock.new_id()), order, ports.clock.now());
    tasks::check_templates(ports, &sample).await
}

/// Compares the file with the stored plan, and commits what differs.
async fn attempt(
    ports: &Ports,
    new: &Plan,
    defined: Vec<DefinedTask>,
    same_commit: &impl Fn(&PlanApplyReport) -> Result<Vec<Change>>,
) -> Result<AppliedPlan> {
    let (name, folder) = (Some(new.name.clone()), Some(new.folder.clone()));
    let query = PlanQuery { name, folder, ..PlanQuery::default() };
    let before = ports.store.plans(&query).await?.pop();
    let id = before.as_ref().map_or(new.id, |plan| plan.id);
    let stored = match &before {
        Some(plan) => ports.store.plan_tasks(&PlanTaskQuery::of(plan.id)).await?,
        None => Vec::new(),
    };
    let queued = queued_tasks(ports, &stored).await?;
    let count = defined.len();
    let names = queued.keys().cloned().collect();
    let difference = compare_plans(id, &stored, &names, defined);
    let plan = Plan {
        fleet: new.fleet.clone(),
        max_parallel: new.max_parallel,
        counts: difference.counts,
        ..before.clone().unwrap_or_else(|| new.clone())
    };
    let is_same = difference.records.is_empty() && difference.deleted.is_empty();
    if before.as_ref().is_some_and(|before| is_same && before.max_parallel == plan.max_parallel) {
        let report = report(&plan, &difference, count);
        let changed = ChangedPlan { plan, released: Vec::new(), cancelled: Vec::new() };
        return Ok(AppliedPlan { report, changed });
    }
    let (commit, cancelled) = changes(ports, (before, plan), difference.clone(), queued).await?;
    let PlanCommit { mut changes, events, released } = commit;
    let after = changes.iter().find_map(|change| match change {
        Change::PutPlan { plan, .. } => Some(plan.as_ref().clone()),
        _ => None,
    });
    let after = after.ok_or_else(|| Error::internal("a plan was not changed"))?;
    let report = report(&after, &difference, count);
    changes.extend(same_commit(&report)?);
    failpoint::hit("plan.apply.before");
    ports.store.commit(Commit { changes, events }).await?;
    failpoint::hit("plan.apply.after");
    let plan = by_id(ports, id).await?;
    Ok(AppliedPlan { report, changed: ChangedPlan { plan, released, cancelled } })
}

/// Returns the released tasks that no agent works on.
async fn queued_tasks(ports: &Ports, stored: &[PlanTask]) -> Result<BTreeMap<PlanTaskName, Task>> {
    let released = stored.iter().filter(|it| it.state == PlanTaskState::Released);
    let ids: Vec<TaskId> = released.filter_map(|it| it.task).collect();
    if ids.is_empty() {
        return Ok(BTreeMap::new());
    }
    let states = Some(vec![TaskStateKind::Queued]);
    let query = TaskQuery { ids: Some(ids), states, ..TaskQuery::default() };
    let found = ports.store.tasks(&query).await?.into_iter().map(|it| it.task);
    let named = |task: Task| Some((task.order.plan.as_ref()?.name.clone(), task));
    Ok(found.filter_map(named).collect())
}

/// Returns all changes of a plan, and the queued tasks that are cancelled.
async fn changes(
    ports: &Ports,
    (before, plan): (Option<Plan>, Plan),
    difference: PlanDifference,
    mut queued: BTreeMap<PlanTaskName, Task>,
) -> Result<(PlanCommit, Vec<TaskId>)> {
    let PlanDifference { tasks: differences, records, deleted, .. } = difference;
    let (mut more, mut cancelled) = (PlanCommit::default(), Vec::new());
    let progress = PlanProgress::with_changed(plan.clone(), records.clone());
    for task in &records {
        let Some(known) = queued.remove(&task.name) else { continue };
        match differences.get(&task.name) {
            Some(TaskDifference::Cancelled) => {
                cancelled.push(known.id);
                cancel_task(ports, known, "its plan does not have it any more", &mut more);
            }
            Some(TaskDifference::Requeued) => {
                let rendered = prompt(ports, &progress, task, None).await??;
                let order = order(&plan, task, rendered)?;
                let changed = Task { order, ..known };
                let from = TaskStateKind::Queued;
                more.changes.push(Change::SetTask { task: Box::new(changed), from });
            }
            _ => {}
        }
    }
    let deleted_names: BTreeSet<PlanTaskName> = deleted.iter().cloned().collect();
    let payload = applied(&plan, &differences);
    let mut commit = finish(ports, progress, (before.as_ref(), None), &deleted_names).await?;
    commit.events.insert(0, event(ports, payload));
    let plan = plan.id;
    let remove = |name: PlanTaskName| Change::RemovePlanTask { plan, name };
    commit.changes.extend(deleted.into_iter().map(remove));
    commit.changes.append(&mut more.changes);
    commit.events.append(&mut more.events);
    Ok((commit, cancelled))
}

fn applied(plan: &Plan, differences: &BTreeMap<PlanTaskName, TaskDifference>) -> EventPayload {
    use TaskDifference::{Added, Cancelled, Deferred, Kept, Replaced, Requeued};
    let count =
        |kinds: &[TaskDifference]| differences.values().filter(|kind| kinds.contains(kind)).count();
    EventPayload::PlanApplied {
        plan: plan.id,
        name: plan.name.clone(),
        added: count(&[Added]),
        changed: count(&[Replaced, Requeued, Deferred]),
        removed: count(&[Cancelled, Kept]),
    }
}

fn report(plan: &Plan, difference: &PlanDifference, count: usize) -> PlanApplyReport {
    use TaskDifference::{Cancelled, Kept};
    let in_file = difference.tasks.values().filter(|kind| !matches!(kind, Cancelled | Kept));
    let unchanged = count.saturating_sub(in_file.count());
    let tasks = difference.tasks.iter();
    PlanApplyReport {
        plan: summary(plan),
        changes: tasks.map(|(name, kind)| (name.clone(), (*kind).into())).collect(),
        unchanged: u32::try_from(unchanged).unwrap_or(u32::MAX),
    }
}
