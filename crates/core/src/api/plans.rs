//! Plans of tasks.

use std::collections::BTreeMap;
use std::path::PathBuf;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Caller, MaybeKnown};
use crate::model::{
    FleetName, PlanCounts, PlanFile, PlanId, PlanName, PlanState, PlanTaskName, TaskId,
};
use crate::rules::plans::TaskDifference;
use crate::word_enum::word_enum;

/// `POST /v1/plans/apply`
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PlanApplyRequest {
    #[schemars(default)]
    pub caller: Caller,
    /// The content of the file: TOML or JSON.
    pub text: String,
    /// The name of the file, for errors. A name that ends with `.json` or `.toml` decides the
    /// format; otherwise the content does.
    pub file: Option<String>,
}

/// What applying a file has changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlanApplyReport {
    pub plan: PlanSummaryView,
    /// Every task that the file changes. Empty if the plan is as the file defines it.
    pub changes: BTreeMap<PlanTaskName, MaybeKnown<TaskDifference>>,
    /// How many tasks the file does not change.
    pub unchanged: u32,
}

/// `POST /v1/plans/show`, `pause`, `resume` and `cancel`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlanSelector {
    /// A name, `FLEET/NAME`, or the beginning of an id.
    pub plan: String,
    /// A name means the plan of the project around this folder, if that project has one.
    pub folder: Option<PathBuf>,
}

/// `POST /v1/plans/retry` and `approve`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlanTaskSelector {
    #[serde(flatten)]
    pub plan: PlanSelector,
    /// The name of the task in the plan.
    pub task: String,
}

/// `POST /v1/plans/list`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlanListRequest {
    /// Includes plans that are done or cancelled.
    pub all: bool,
}

/// Plans, oldest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlanList {
    pub plans: Vec<PlanSummaryView>,
}

/// A plan without its tasks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlanSummaryView {
    pub id: PlanId,
    pub name: PlanName,
    pub fleet: FleetName,
    pub folder: PathBuf,
    pub state: MaybeKnown<PlanState>,
    pub max_parallel: Option<u32>,
    pub counts: PlanCounts,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// A plan as `segue plan show --json` prints it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlanView {
    pub plan: PlanSummaryView,
    /// In the order in which they start if nothing else decides.
    pub tasks: Vec<PlanTaskView>,
}

/// A task of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlanTaskView {
    pub name: PlanTaskName,
    pub status: MaybeKnown<PlanTaskStatus>,
    /// Why the task waits or has failed, as a text for people.
    pub reason: Option<String>,
    pub needs: Vec<PlanTaskName>,
    /// The agent, or the vendor. `None` for a gate without work.
    pub agent: Option<String>,
    /// Whether a person has to approve the task.
    pub has_gate: bool,
    /// Whether the newest file does not have the task any more.
    pub is_removed: bool,
    /// The task in the queue, for `segue task show`. `None` before its needs are met.
    pub task: Option<TaskId>,
    pub attempts: u32,
    pub started_at: Option<Timestamp>,
    pub ended_at: Option<Timestamp>,
}

word_enum! {
    /// How far a task of a plan is.
    pub enum PlanTaskStatus {
        /// It needs tasks that have not ended.
        Blocked = "blocked",
        /// A person has to approve it.
        Approval = "approval",
        /// It starts as soon as the plan may start another task.
        Ready = "ready",
        /// It is in the queue of tasks.
        Queued = "queued",
        Running = "running",
        /// It has started, and cannot go on now.
        Waiting = "waiting",
        Done = "done",
        Failed = "failed",
        Cancelled = "cancelled",
        /// It never started, because the plan was cancelled or stopped by a failure.
        Skipped = "skipped",
    }
}

/// Returns the JSON Schema of a plan's file.
pub fn plan_schema() -> serde_json::Value {
    schemars::schema_for!(PlanFile).to_value()
}
