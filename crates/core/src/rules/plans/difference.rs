//! What a new version of a plan's file changes.

use std::collections::{BTreeMap, BTreeSet};

use super::progress::pending_state;
use crate::model::{
    PlanCounts, PlanId, PlanTask, PlanTaskDefinition, PlanTaskEnd, PlanTaskName, PlanTaskState,
};
use crate::word_enum::word_enum;

word_enum! {
    /// What a new file changes about a task.
    pub enum TaskDifference {
        /// The task is new.
        Added = "added",
        /// The task has not started, and has the new definition.
        Replaced = "replaced",
        /// The task is in the queue, and has the new definition.
        Requeued = "requeued",
        /// The task has started or ended. The new definition takes effect if it is retried.
        Deferred = "deferred",
        /// The file does not have the task any more. It has not started, and never will.
        Cancelled = "cancelled",
        /// The file does not have the task any more. It has started or ended, and stays.
        Kept = "kept",
    }
}

/// What a new file changes about a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlanDifference {
    /// Every task that the file changes.
    pub tasks: BTreeMap<PlanTaskName, TaskDifference>,
    /// The new records of tasks. Includes tasks whose state changes because others have changed.
    pub records: Vec<PlanTask>,
    /// The tasks whose records are deleted.
    pub deleted: Vec<PlanTaskName>,
    pub counts: PlanCounts,
}

/// Compares the stored tasks of a plan with the tasks of a file. `queued` has the released tasks that
/// no agent works on yet.
pub fn compare_plans(
    plan: PlanId,
    stored: &[PlanTask],
    queued: &BTreeSet<PlanTaskName>,
    file: Vec<(PlanTaskName, i64, PlanTaskDefinition)>,
) -> PlanDifference {
    let known: BTreeMap<&PlanTaskName, &PlanTask> =
        stored.iter().map(|it| (&it.name, it)).collect();
    let mut difference = PlanDifference::default();
    let mut next: BTreeMap<PlanTaskName, PlanTask> = BTreeMap::new();
    for (name, rank, definition) in file {
        let (task, change) = match known.get(&name) {
            None => (new_task(plan, name.clone(), rank, definition), Some(TaskDifference::Added)),
            Some(known) => redefined(known, queued.contains(&name), rank, definition),
        };
        difference.tasks.extend(change.map(|change| (name.clone(), change)));
        next.insert(name, task);
    }
    for task in stored.iter().filter(|it| !next.contains_key(&it.name)).collect::<Vec<_>>() {
        match removed(task, queued.contains(&task.name)) {
            None => difference.deleted.push(task.name.clone()),
            Some(kept) => drop(next.insert(task.name.clone(), kept)),
        }
        if !task.is_removed {
            let is_cancelled = task.state.is_pending() || queued.contains(&task.name);
            let change =
                if is_cancelled { TaskDifference::Cancelled } else { TaskDifference::Kept };
            difference.tasks.insert(task.name.clone(), change);
        }
    }
    count_needs(&mut next, &mut difference.tasks);
    difference.counts = counts(next.values());
    let is_changed = |task: &PlanTask| known.get(&task.name).is_none_or(|known| *known != task);
    difference.records = next.into_values().filter(is_changed).collect();
    difference
}

fn new_task(
    plan: PlanId,
    name: PlanTaskName,
    rank: i64,
    definition: PlanTaskDefinition,
) -> PlanTask {
    PlanTask {
        plan,
        name,
        rank,
        definition,
        state: PlanTaskState::Blocked,
        unmet: 0,
        is_approved: false,
        is_removed: false,
        task: None,
        failure: None,
    }
}

/// Returns a known task with the definition of the file.
fn redefined(
    known: &PlanTask,
    is_queued: bool,
    rank: i64,
    definition: PlanTaskDefinition,
) -> (PlanTask, Option<TaskDifference>) {
    let is_same = known.definition == definition;
    let mut task = PlanTask { rank, definition, is_removed: false, ..known.clone() };
    if known.is_removed && known.state == PlanTaskState::Ended(PlanTaskEnd::Cancelled) {
        // It was cancelled because an earlier file did not have it.
        (task.state, task.is_approved) = (PlanTaskState::Blocked, false);
        return (task, Some(TaskDifference::Added));
    }
    if is_same {
        return (task, None);
    }
    let change = match known.state {
        state if state.is_pending() => TaskDifference::Replaced,
        PlanTaskState::Released if is_queued => TaskDifference::Requeued,
        _ => TaskDifference::Deferred,
    };
    // What was approved is not what would run.
    task.is_approved &= change != TaskDifference::Replaced;
    (task, Some(change))
}

/// Returns the record of a task that the file does not have. `None` if it is deleted.
fn removed(task: &PlanTask, is_queued: bool) -> Option<PlanTask> {
    if task.state.is_pending() && task.task.is_none() {
        return None;
    }
    let ends = is_queued || task.state.is_pending();
    let state = if ends { PlanTaskState::Ended(PlanTaskEnd::Cancelled) } else { task.state };
    Some(PlanTask { is_removed: true, state, ..task.clone() })
}

/// Counts the needs of each task that have not ended as required, and sets the states that depend on
/// it. A queued task with such a need keeps its old definition until it is retried.
fn count_needs(
    tasks: &mut BTreeMap<PlanTaskName, PlanTask>,
    changes: &mut BTreeMap<PlanTaskName, TaskDifference>,
) {
    let met: BTreeSet<PlanTaskName> =
        tasks.values().filter(|it| it.is_met()).map(|it| it.name.clone()).collect();
    for task in tasks.values_mut() {
        let unmet = task.definition.needs.iter().filter(|need| !met.contains(*need)).count();
        task.unmet = u32::try_from(unmet).unwrap_or(u32::MAX);
        if task.state.is_pending() {
            task.state = pending_state(task);
        }
        if task.unmet > 0
            && let Some(change) = changes.get_mut(&task.name)
            && *change == TaskDifference::Requeued
        {
            *change = TaskDifference::Deferred;
        }
    }
}

fn counts<'a>(tasks: impl Iterator<Item = &'a PlanTask>) -> PlanCounts {
    let mut counts = PlanCounts::default();
    for task in tasks {
        counts.tasks += u32::from(!task.is_removed);
        counts.open += u32::from(!task.state.has_ended());
        counts.released += u32::from(task.state == PlanTaskState::Released);
        let has_failed = matches!(
            task.state,
            PlanTaskState::Ended(PlanTaskEnd::Failed | PlanTaskEnd::Cancelled)
        );
        counts.failed += u32::from(has_failed && !task.is_removed);
        counts.stopping += u32::from(task.is_stopping());
    }
    counts
}
