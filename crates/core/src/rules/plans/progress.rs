//! What changes in a plan after an event: a task has ended, a gate is approved, a task is retried.

use std::collections::BTreeMap;

use crate::model::{
    Plan, PlanControl, PlanState, PlanTask, PlanTaskEnd, PlanTaskName, PlanTaskState, TaskId,
};

/// Returns the state of a plan.
pub fn plan_state(Plan { control, counts, .. }: &Plan) -> PlanState {
    match control {
        PlanControl::Cancelled => PlanState::Cancelled,
        _ if counts.open == 0 && counts.stopping == 0 => PlanState::Done,
        _ if counts.released == 0 && counts.stopping > 0 => PlanState::Failed,
        PlanControl::Paused => PlanState::Paused,
        PlanControl::Active if counts.released == 0 => PlanState::Waiting,
        PlanControl::Active => PlanState::Running,
    }
}

/// The changes of a plan that belong into one commit. The caller reads the tasks that a change
/// concerns; a task that was changed before is taken from here.
#[derive(Clone, Debug)]
pub struct PlanProgress {
    plan: Plan,
    changed: BTreeMap<PlanTaskName, PlanTask>,
    gates: Vec<PlanTaskName>,
}

impl PlanProgress {
    pub fn new(plan: Plan) -> Self {
        Self { plan, changed: BTreeMap::new(), gates: Vec::new() }
    }

    /// Begins with tasks that are changed already, such as those of a new file.
    pub fn with_changed(plan: Plan, changed: Vec<PlanTask>) -> Self {
        let gates = changed.iter().filter(|it| it.state == PlanTaskState::Gated);
        let gates = gates.map(|it| it.name.clone()).collect();
        let changed = changed.into_iter().map(|it| (it.name.clone(), it)).collect();
        Self { plan, changed, gates }
    }

    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Returns the number of tasks that were changed here.
    pub fn changed(&self) -> usize {
        self.changed.len()
    }

    /// Returns a task with the changes that were made here.
    pub fn current(&self, stored: PlanTask) -> PlanTask {
        self.changed.get(&stored.name).cloned().unwrap_or(stored)
    }

    /// Records what a person has decided about the plan.
    pub fn set_control(&mut self, control: PlanControl) {
        self.plan.control = control;
    }

    /// Records the end of a task. Returns whether the tasks that need it may go on; then
    /// [`Self::need_met`] has to be called for each of them.
    pub fn end(&mut self, task: PlanTask, end: PlanTaskEnd) -> bool {
        let mut task = self.current(task);
        if task.state.has_ended() {
            return false;
        }
        if task.state == PlanTaskState::Released {
            self.plan.counts.released -= 1;
        }
        task.state = PlanTaskState::Ended(end);
        self.plan.counts.open -= 1;
        self.plan.counts.failed += u32::from(end != PlanTaskEnd::Done && !task.is_removed);
        self.plan.counts.stopping += u32::from(task.is_stopping());
        let is_met = task.is_met();
        self.put(task);
        is_met
    }

    /// Records that a task that this one needs has ended as required.
    pub fn need_met(&mut self, dependant: PlanTask) {
        let mut task = self.current(dependant);
        task.unmet = task.unmet.saturating_sub(1);
        self.settle(task);
    }

    /// Records that a task that this one needs is started again.
    pub fn need_reopened(&mut self, dependant: PlanTask) {
        let mut task = self.current(dependant);
        task.unmet += 1;
        self.settle(task);
    }

    /// Records that a person approves a task. Returns whether the tasks that need it may go on,
    /// because it is a gate without work and has ended.
    pub fn approve(&mut self, task: PlanTask) -> bool {
        let mut task = self.current(task);
        task.is_approved = true;
        if task.is_pure_gate() && task.unmet == 0 {
            return self.end(task, PlanTaskEnd::Done);
        }
        self.settle(task);
        false
    }

    /// Opens a task that has ended, so that it starts again. Returns whether the tasks that need it
    /// have to wait again; then [`Self::need_reopened`] has to be called for each of them.
    pub fn reopen(&mut self, task: PlanTask) -> bool {
        let mut task = self.current(task);
        let PlanTaskState::Ended(end) = task.state else { return false };
        let was_met = task.is_met();
        self.plan.counts.open += 1;
        self.plan.counts.failed -= u32::from(end != PlanTaskEnd::Done);
        self.plan.counts.stopping -= u32::from(task.is_stopping());
        (task.failure, task.state) = (None, PlanTaskState::Blocked);
        self.settle(task);
        was_met
    }

    /// Returns how many tasks may be released now.
    pub fn free_slots(&self) -> usize {
        let Plan { control, counts, max_parallel, .. } = &self.plan;
        if *control != PlanControl::Active || counts.stopping > 0 {
            return 0;
        }
        match max_parallel {
            None => usize::MAX,
            Some(most) => most.saturating_sub(counts.released) as usize,
        }
    }

    /// Returns the tasks that may be released now, the first one first. `stored` are the ready tasks
    /// of the store.
    pub fn releasable(&self, stored: Vec<PlanTask>) -> Vec<PlanTask> {
        let mut ready: BTreeMap<PlanTaskName, PlanTask> =
            stored.into_iter().map(|it| (it.name.clone(), self.current(it))).collect();
        ready.extend(self.changed.clone());
        let mut ready: Vec<PlanTask> =
            ready.into_values().filter(|it| it.state == PlanTaskState::Ready).collect();
        ready.sort_by(|a, b| (a.rank, &a.name).cmp(&(b.rank, &b.name)));
        ready.truncate(self.free_slots());
        ready
    }

    /// Records that a ready task is in the queue now.
    pub fn release(&mut self, task: PlanTask, id: TaskId) {
        let mut task = self.current(task);
        (task.state, task.task) = (PlanTaskState::Released, Some(id));
        self.plan.counts.released += 1;
        self.put(task);
    }

    /// Records that a task failed before it was in the queue. Returns the same as [`Self::end`].
    pub fn fail(&mut self, task: PlanTask, reason: String) -> bool {
        let mut task = self.current(task);
        task.failure = Some(reason);
        self.put(task.clone());
        self.end(task, PlanTaskEnd::Failed)
    }

    /// Returns the plan, its changed tasks, and the gates that a person has to approve now.
    pub fn into_parts(self) -> (Plan, Vec<PlanTask>, Vec<PlanTaskName>) {
        let Self { plan, changed, gates } = self;
        let is_gated = |name: &PlanTaskName| {
            changed.get(name).is_some_and(|it| it.state == PlanTaskState::Gated)
        };
        let gates = gates.into_iter().filter(is_gated).collect();
        (plan, changed.into_values().collect(), gates)
    }

    /// Sets the state of a task that is not in the queue.
    fn settle(&mut self, mut task: PlanTask) {
        if task.state.is_pending() {
            let before = task.state;
            task.state = pending_state(&task);
            if task.state == PlanTaskState::Gated && before != PlanTaskState::Gated {
                self.gates.push(task.name.clone());
            }
        }
        self.put(task);
    }

    fn put(&mut self, task: PlanTask) {
        self.changed.insert(task.name.clone(), task);
    }
}

/// Returns the state of a task that is not in the queue and has not ended.
pub(super) fn pending_state(task: &PlanTask) -> PlanTaskState {
    match task.definition.gate {
        _ if task.unmet > 0 => PlanTaskState::Blocked,
        Some(_) if !task.is_approved => PlanTaskState::Gated,
        _ => PlanTaskState::Ready,
    }
}
