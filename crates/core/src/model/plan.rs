//! A plan: tasks, and the order in which they may start.

use std::path::PathBuf;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{FleetName, PlanId, PlanName, PlanTaskName, TaskId, TaskOrder};
use crate::word_enum::word_enum;

/// Tasks, and the order in which they may start. Its tasks are [`PlanTask`]s.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    pub id: PlanId,
    /// Unique in the folder.
    pub name: PlanName,
    pub fleet: FleetName,
    /// The folder of the project.
    pub folder: PathBuf,
    pub control: PlanControl,
    /// At most this many tasks of the plan are released at the same time. `None` for no limit.
    pub max_parallel: Option<u32>,
    pub counts: PlanCounts,
    /// Increases with each change of the plan or of one of its tasks.
    pub revision: i64,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

word_enum! {
    /// What a person has decided about a plan.
    #[derive(Default)]
    pub enum PlanControl {
        #[default]
        Active = "active",
        /// Nothing starts until the plan is resumed.
        Paused = "paused",
        /// Nothing starts any more.
        Cancelled = "cancelled",
    }
}

/// How many tasks of a plan are in a state. Kept with the plan, so that no decision reads all tasks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlanCounts {
    pub tasks: u32,
    /// Have not ended.
    pub open: u32,
    /// Are in the queue of tasks, or run.
    pub released: u32,
    /// Have failed or were cancelled.
    pub failed: u32,
    /// Have failed or were cancelled, and stop the plan.
    pub stopping: u32,
}

word_enum! {
    /// The state of a plan.
    pub enum PlanState {
        Running = "running",
        /// Only a person can make it go on: it needs an approval.
        Waiting = "waiting",
        Paused = "paused",
        /// All tasks have ended, and none of them stops the plan.
        Done = "done",
        /// A failed task stops the plan, and no task runs.
        Failed = "failed",
        Cancelled = "cancelled",
    }
}

/// A task of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanTask {
    pub plan: PlanId,
    pub name: PlanTaskName,
    /// Orders the tasks that could be released: the position in the file, minus a head start for
    /// the priority.
    pub rank: i64,
    pub definition: PlanTaskDefinition,
    pub state: PlanTaskState,
    /// How many needed tasks have not ended as required.
    pub unmet: u32,
    /// Whether a person has approved the gate.
    pub is_approved: bool,
    /// Whether the newest file does not have the task any more.
    pub is_removed: bool,
    /// The task in the queue. `None` until the task is released, and for a gate without work.
    pub task: Option<TaskId>,
    /// Why the task failed before it was in the queue.
    pub failure: Option<String>,
}

/// What the file defines about a task of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanTaskDefinition {
    /// The tasks that must have ended first.
    pub needs: Vec<PlanTaskName>,
    pub gate: Option<PlanGate>,
    pub on_failure: FailurePolicy,
    /// The work. Its prompt is a template. `None` for a gate without work.
    pub order: Option<Box<TaskOrder>>,
}

word_enum! {
    /// What a task of a plan waits for before it starts.
    pub enum PlanGate {
        /// The approval of a person: `segue plan approve`.
        Person = "person",
    }
}

/// What the failure of a task means for its plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "then", content = "of")]
pub enum FailurePolicy {
    /// No further task of the plan starts.
    #[default]
    Stop,
    /// The plan goes on. The tasks that need this one start.
    Continue,
    /// The task is started again, at most this often. Then it is like `Stop`.
    Retry { times: u32 },
}

/// The state of a task of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum PlanTaskState {
    /// It needs tasks that have not ended.
    Blocked,
    /// A person has to approve it.
    Gated,
    /// It may be released.
    Ready,
    /// It is in the queue of tasks.
    Released,
    Ended(PlanTaskEnd),
}

word_enum! {
    /// How a task of a plan has ended.
    pub enum PlanTaskEnd {
        Done = "done",
        Failed = "failed",
        Cancelled = "cancelled",
    }
}

/// The task of a plan that a task in the queue belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanMembership {
    pub plan: PlanId,
    pub plan_name: PlanName,
    pub name: PlanTaskName,
    /// How often the task is started again after a failure.
    #[serde(default)]
    pub retries: u32,
}

impl From<PlanTaskState> for String {
    fn from(state: PlanTaskState) -> Self {
        state.word().to_owned()
    }
}

impl TryFrom<String> for PlanTaskState {
    type Error = String;

    fn try_from(word: String) -> Result<Self, Self::Error> {
        Self::from_word(&word).ok_or_else(|| format!("`{word}` is not a state of a plan's task"))
    }
}

impl PlanTaskState {
    /// Returns the word used in the store.
    pub fn word(self) -> &'static str {
        match self {
            Self::Blocked => "blocked",
            Self::Gated => "gated",
            Self::Ready => "ready",
            Self::Released => "released",
            Self::Ended(end) => end.word(),
        }
    }

    /// Returns the state that a word stands for. `None` if no state has this word.
    pub fn from_word(word: &str) -> Option<Self> {
        match word {
            "blocked" => Some(Self::Blocked),
            "gated" => Some(Self::Gated),
            "ready" => Some(Self::Ready),
            "released" => Some(Self::Released),
            _ => PlanTaskEnd::from_word(word).map(Self::Ended),
        }
    }

    /// Returns whether the task is not in the queue and has not ended.
    pub fn is_pending(self) -> bool {
        matches!(self, Self::Blocked | Self::Gated | Self::Ready)
    }

    pub fn has_ended(self) -> bool {
        matches!(self, Self::Ended(_))
    }
}

impl PlanTask {
    /// Returns whether the task has ended in a way in which the tasks that need it may start.
    pub fn is_met(&self) -> bool {
        match self.state {
            PlanTaskState::Ended(PlanTaskEnd::Done) => true,
            PlanTaskState::Ended(PlanTaskEnd::Failed | PlanTaskEnd::Cancelled) => {
                self.definition.on_failure == FailurePolicy::Continue
            }
            _ => false,
        }
    }

    /// Returns whether the task has ended in a way that stops the plan.
    pub fn is_stopping(&self) -> bool {
        self.state.has_ended() && !self.is_met() && !self.is_removed
    }

    /// Returns whether the task is a gate without work.
    pub fn is_pure_gate(&self) -> bool {
        self.definition.order.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_of_a_plan_task_is_read_back_from_its_word() {
        let ends = PlanTaskEnd::ALL.iter().copied().map(PlanTaskState::Ended);
        let others = [
            PlanTaskState::Blocked,
            PlanTaskState::Gated,
            PlanTaskState::Ready,
            PlanTaskState::Released,
        ];
        for state in ends.chain(others) {
            assert_eq!(PlanTaskState::from_word(state.word()), Some(state));
        }
        assert_eq!(PlanTaskState::from_word("running"), None);
    }
}
