//! Which queued task starts next.
//!
//! Every task has a rank: its place in the queue, minus a head start for its priority. Ranks never
//! change, so the order does not depend on when the daemon was restarted, and a task is overtaken
//! by a limited number of later tasks only.
//!
//! An agent starts its tasks in the order of their ranks. If the first task of an agent has to wait,
//! the later tasks of that agent wait, too. So one decision looks at one task of each agent, however
//! long the queue is.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt;

use crate::model::{AccountKey, AgentName, FleetName, PlanId, TaskId, TaskPriority};

/// The number of places in the queue by which one level of priority moves a task ahead.
pub const PLACES_PER_PRIORITY: i64 = 100;

/// How many tasks may run at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskLimits {
    pub per_agent: usize,
    pub per_account: usize,
    pub total: usize,
}

impl Default for TaskLimits {
    fn default() -> Self {
        Self { per_agent: 1, per_account: 4, total: 8 }
    }
}

/// An agent of a fleet.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AgentKey {
    pub fleet: FleetName,
    pub agent: AgentName,
}

/// The facts about a task that the schedule needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduledTask {
    pub id: TaskId,
    /// The place in the queue: a later task has a greater number.
    pub place: i64,
    pub priority: TaskPriority,
    pub agent: AgentKey,
    pub account: AccountKey,
    /// The plan of the task.
    pub plan: Option<PlanId>,
    /// Everything that the task uses and that only one running task may use.
    pub exclusive: Vec<TaskExclusive>,
}

/// Something that only one running task may use.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TaskExclusive {
    /// The conversation that a task continues, by its session or its issue.
    Conversation(String),
    /// The worktree in which a task works, by its repository, agent and branch.
    Worktree(String),
}

impl ScheduledTask {
    fn rank(&self) -> Rank {
        let head_start = i64::from(self.priority.level()) * PLACES_PER_PRIORITY;
        (self.place - head_start, self.place)
    }
}

/// Orders tasks. The place decides between tasks that are equal otherwise.
type Rank = (i64, i64);

/// Why a queued task does not start now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TaskObstacle {
    /// Earlier tasks of the same agent start first.
    BehindOthers {
        earlier: usize,
    },
    AgentIsBusy,
    AccountIsBusy,
    /// The vendor refuses the account for now.
    AccountIsHeld,
    /// Another task of the same conversation runs.
    ConversationIsBusy,
    /// Another task in the same worktree runs.
    WorktreeIsBusy,
    /// As many tasks run as may run on this machine.
    MachineIsBusy,
    PlanIsPaused,
}

impl fmt::Display for TaskObstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BehindOthers { earlier: 1 } => f.write_str("1 earlier task of the agent"),
            Self::BehindOthers { earlier } => write!(f, "{earlier} earlier tasks of the agent"),
            Self::AgentIsBusy => f.write_str("the agent works on another task"),
            Self::AccountIsBusy => f.write_str("as many tasks of the account run as may"),
            Self::AccountIsHeld => f.write_str("the vendor refuses the account for now"),
            Self::ConversationIsBusy => f.write_str("another task continues the conversation"),
            Self::WorktreeIsBusy => f.write_str("another task works in the worktree"),
            Self::MachineIsBusy => f.write_str("as many tasks run on this machine as may"),
            Self::PlanIsPaused => f.write_str("its plan is paused"),
        }
    }
}

/// The queued and the running tasks of a machine.
#[derive(Clone, Debug, Default)]
pub struct TaskSchedule {
    limits: TaskLimits,
    tasks: HashMap<TaskId, ScheduledTask>,
    queues: BTreeMap<AgentKey, BTreeSet<(Rank, TaskId)>>,
    running: HashSet<TaskId>,
    held: HashSet<AccountKey>,
    per_agent: HashMap<AgentKey, usize>,
    per_account: HashMap<AccountKey, usize>,
    in_use: HashMap<TaskExclusive, usize>,
    /// The queued tasks of paused plans. They are in no queue, so that no other task waits for them.
    paused: HashMap<PlanId, BTreeMap<TaskId, ScheduledTask>>,
}

impl TaskSchedule {
    pub fn new(limits: TaskLimits) -> Self {
        Self { limits, ..Self::default() }
    }

    /// Replaces the limits. Running tasks go on, also if there are more of them than the new limits
    /// allow.
    pub fn set_limits(&mut self, limits: TaskLimits) {
        self.limits = limits;
    }

    /// Adds a task to the queue. A task that is known already stays as it is.
    pub fn queue(&mut self, task: ScheduledTask) {
        if self.tasks.contains_key(&task.id) {
            return;
        }
        if let Some(set_aside) = task.plan.and_then(|plan| self.paused.get_mut(&plan)) {
            set_aside.insert(task.id, task);
            return;
        }
        self.queues.entry(task.agent.clone()).or_default().insert((task.rank(), task.id));
        self.tasks.insert(task.id, task);
    }

    /// Adds a task that runs already, or moves it from the queue to the running tasks.
    pub fn start(&mut self, task: ScheduledTask) {
        self.leave_queue(task.id);
        if !self.running.insert(task.id) {
            return;
        }
        *self.per_agent.entry(task.agent.clone()).or_default() += 1;
        *self.per_account.entry(task.account.clone()).or_default() += 1;
        for exclusive in &task.exclusive {
            *self.in_use.entry(exclusive.clone()).or_default() += 1;
        }
        self.tasks.insert(task.id, task);
    }

    /// Takes the queued tasks of a plan out of the queues until the plan is resumed.
    pub fn pause(&mut self, plan: PlanId) {
        let is_queued =
            |task: &&ScheduledTask| task.plan == Some(plan) && !self.running.contains(&task.id);
        let own: Vec<ScheduledTask> = self.tasks.values().filter(is_queued).cloned().collect();
        for task in &own {
            self.leave_queue(task.id);
            self.tasks.remove(&task.id);
        }
        self.paused.entry(plan).or_default().extend(own.into_iter().map(|it| (it.id, it)));
    }

    /// Puts the queued tasks of a plan back to their places.
    pub fn resume(&mut self, plan: PlanId) {
        let own = self.paused.remove(&plan).unwrap_or_default();
        own.into_values().for_each(|task| self.queue(task));
    }

    /// Removes a task that has ended or was cancelled. An unknown task is ignored.
    pub fn remove(&mut self, id: TaskId) {
        self.leave_queue(id);
        self.paused.values_mut().for_each(|tasks| drop(tasks.remove(&id)));
        let Some(task) = self.tasks.remove(&id) else { return };
        if !self.running.remove(&id) {
            return;
        }
        release(&mut self.per_agent, &task.agent);
        release(&mut self.per_account, &task.account);
        for exclusive in &task.exclusive {
            release(&mut self.in_use, exclusive);
        }
    }

    /// Stops starting tasks of an account, or allows them again.
    pub fn set_held(&mut self, account: AccountKey, is_held: bool) {
        if is_held {
            self.held.insert(account);
        } else {
            self.held.remove(&account);
        }
    }

    /// Returns the task that starts next. `None` if every queued task has to wait.
    pub fn next(&self) -> Option<&ScheduledTask> {
        if self.running.len() >= self.limits.total {
            return None;
        }
        let first_of_each = self.queues.values().filter_map(BTreeSet::first);
        let startable = first_of_each
            .filter(|(_, id)| self.tasks.get(id).is_some_and(|task| self.limit_of(task).is_none()));
        let (_, id) = startable.min()?;
        self.tasks.get(id)
    }

    /// Returns why a queued task does not start now. `None` if it is the next one, or not queued.
    pub fn obstacle(&self, id: TaskId) -> Option<TaskObstacle> {
        if self.paused.values().any(|tasks| tasks.contains_key(&id)) {
            return Some(TaskObstacle::PlanIsPaused);
        }
        let task = self.tasks.get(&id)?;
        let queue = self.queues.get(&task.agent)?;
        let key = (task.rank(), id);
        if !queue.contains(&key) {
            return None;
        }
        let earlier = queue.range(..key).count();
        if let Some(limit) = self.limit_of(task) {
            return Some(limit);
        }
        if earlier > 0 {
            return Some(TaskObstacle::BehindOthers { earlier });
        }
        (self.running.len() >= self.limits.total).then_some(TaskObstacle::MachineIsBusy)
    }

    pub fn is_running(&self, id: TaskId) -> bool {
        self.running.contains(&id)
    }

    /// Returns the number of queued tasks.
    pub fn queued(&self) -> usize {
        self.tasks.len() - self.running.len()
    }

    fn limit_of(&self, task: &ScheduledTask) -> Option<TaskObstacle> {
        let count = |counts: Option<&usize>| counts.copied().unwrap_or_default();
        if self.held.contains(&task.account) {
            return Some(TaskObstacle::AccountIsHeld);
        }
        if count(self.per_agent.get(&task.agent)) >= self.limits.per_agent {
            return Some(TaskObstacle::AgentIsBusy);
        }
        if count(self.per_account.get(&task.account)) >= self.limits.per_account {
            return Some(TaskObstacle::AccountIsBusy);
        }
        let busy = task.exclusive.iter().find(|it| self.in_use.contains_key(it));
        busy.map(|busy| match busy {
            TaskExclusive::Conversation(_) => TaskObstacle::ConversationIsBusy,
            TaskExclusive::Worktree(_) => TaskObstacle::WorktreeIsBusy,
        })
    }

    fn leave_queue(&mut self, id: TaskId) {
        let Some(task) = self.tasks.get(&id) else { return };
        let Some(queue) = self.queues.get_mut(&task.agent) else { return };
        queue.remove(&(task.rank(), id));
        if queue.is_empty() {
            self.queues.remove(&task.agent);
        }
    }
}

/// Subtracts one from a count, and forgets a count that is zero.
fn release<K: std::hash::Hash + Eq>(counts: &mut HashMap<K, usize>, key: &K) {
    let Some(count) = counts.get_mut(key) else { return };
    *count -= 1;
    if *count == 0 {
        counts.remove(key);
    }
}
