//! A plan as a person writes it, in TOML or JSON.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::PlanGate;
use crate::word_enum::word_enum;

/// A plan: tasks, and the order in which they may start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlanFile {
    /// The name of the plan. Applying another file with the same name in the same project changes
    /// the plan.
    pub name: String,
    /// At most this many tasks of the plan are in the queue or run at the same time.
    #[serde(default)]
    pub max_parallel: Option<NonZeroU32>,
    /// The priority of the tasks that have none of their own: -9 to 9.
    #[serde(default)]
    pub priority: i8,
    /// The tasks by their names.
    pub tasks: BTreeMap<String, PlanFileTask>,
}

/// A task of a plan. Without `prompt`, `agent` and `vendor` it is a gate without work.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PlanFileTask {
    /// The tasks that must have ended before this one starts.
    pub needs: Vec<String>,
    /// An agent of the project file.
    pub agent: Option<String>,
    /// A vendor, instead of an agent.
    pub vendor: Option<String>,
    /// The prompt. `{{ tasks.NAME.answer }}` is the answer of a task that this one needs.
    pub prompt: Option<String>,
    /// `own` makes a worktree for this task.
    pub worktree: Option<PlanWorktree>,
    /// The task whose worktree this task works in. The two never run at the same time.
    pub worktree_of: Option<String>,
    /// The branch of the task's own worktree. By default it is named after the plan and the task.
    pub branch: Option<String>,
    /// A shell command that must succeed after the work.
    pub verify: Option<String>,
    /// `person`: the task starts only after `segue plan approve`.
    pub gate: Option<PlanGate>,
    pub on_failure: PlanFailureWord,
    /// How often `on_failure = "retry"` starts the task again: 1 to 10.
    pub retries: Option<u32>,
    /// -9 to 9.
    pub priority: Option<i8>,
}

word_enum! {
    /// Where a task of a plan works.
    pub enum PlanWorktree {
        /// In a worktree of its own.
        Own = "own",
    }
}

word_enum! {
    /// What happens if a task of a plan fails.
    #[derive(Default)]
    pub enum PlanFailureWord {
        /// No further task of the plan starts.
        #[default]
        Stop = "stop",
        /// The plan goes on, and the tasks that need this one start.
        Continue = "continue",
        /// The task is started again, at most `retries` times. Then it is like `stop`.
        Retry = "retry",
    }
}

impl PlanFileTask {
    /// Returns whether the task is a gate without work.
    pub fn is_pure_gate(&self) -> bool {
        self.agent.is_none() && self.vendor.is_none() && self.prompt.is_none()
    }
}
