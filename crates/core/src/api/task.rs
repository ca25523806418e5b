//! Tasks.

use std::path::PathBuf;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Caller, MaybeKnown};
use crate::model::{
    AgentName, AgentReport, ReplyTarget, ReportedState, SessionId, TaskId, TaskKey, TaskMode,
    TaskResult, TaskStateKind,
};

/// `POST /v1/tasks`
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct TaskAddRequest {
    #[schemars(default)]
    pub caller: Caller,
    pub prompt: String,
    pub agent: String,
    pub repo: Option<String>,
    /// A number, or a URL that ends with one.
    pub issue: Option<String>,
    pub branch: Option<String>,
    /// The pull request of a fork at which a new branch starts: a ref of the remote, such as
    /// `refs/pull/17/head`. Needs `branch`.
    pub from_fork: Option<String>,
    /// Whether the commands of the project may run even if the branch is from a fork.
    #[serde(default)]
    pub setup_fork: bool,
    /// A request with a known key adds nothing.
    pub key: Option<String>,
    #[serde(default)]
    pub priority: i8,
    /// A shell command.
    pub verify: Option<String>,
    /// The task that this task is a part of: an id, its beginning, or a key.
    pub parent: Option<String>,
    #[serde(default)]
    pub mode: TaskMode,
    /// The session whose conversation the task continues.
    pub session: Option<String>,
    /// Where the result is written as a comment. Only for tasks that Segue itself adds.
    #[serde(skip)]
    pub reply: Option<ReplyTarget>,
}

/// A task as `segue task show --json` prints it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskReport {
    pub task: TaskView,
    /// What its agent has reported, oldest first. Only in the answer about one task.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reports: Vec<AgentReport>,
}

/// `POST /v1/tasks/report`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentReportRequest {
    pub state: ReportedState,
    pub text: String,
}

/// What an agent has reported, as `segue task report --json` prints it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentReportAnswer {
    pub report: AgentReport,
}

/// The record of a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskView {
    pub id: TaskId,
    pub key: Option<TaskKey>,
    pub state: MaybeKnown<TaskStateKind>,
    /// Why the task is queued, waits or has failed, as a text for people.
    pub reason: Option<String>,
    pub agent: AgentName,
    /// The session that works on the task. `None` before the first start.
    pub session: Option<SessionId>,
    /// The address of that session. `None` if the session does not exist any more.
    pub address: Option<String>,
    pub repository: Option<String>,
    pub issue: Option<String>,
    pub worktree: Option<PathBuf>,
    pub branch: Option<String>,
    pub prompt: String,
    pub parent: Option<TaskId>,
    pub plan: Option<String>,
    pub priority: i8,
    pub attempts: u32,
    pub result: Option<TaskResult>,
    pub created_at: Timestamp,
    pub started_at: Option<Timestamp>,
    pub ended_at: Option<Timestamp>,
}

/// `POST /v1/tasks/list` and `POST /v1/tasks/summaries`
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskListRequest {
    /// Includes tasks that have ended.
    pub all: bool,
    pub agent: Option<String>,
    pub state: Option<TaskStateKind>,
}

/// Tasks in the order of the queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskList {
    pub tasks: Vec<TaskView>,
    /// The cursor of the next page. Missing in the last page, and in a list without pages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// The parts of tasks that the table of `segue task ls` shows, in the order of the queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskSummaryList {
    pub tasks: Vec<TaskSummaryView>,
}

/// One line of a table of tasks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskSummaryView {
    pub id: TaskId,
    pub agent: AgentName,
    pub state: MaybeKnown<TaskStateKind>,
    /// The address of the session that works on the task.
    pub address: Option<String>,
    pub created_at: Timestamp,
    /// The beginning of the prompt.
    pub beginning: String,
}

/// `POST /v1/tasks/show` and `POST /v1/tasks/cancel`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskSelector {
    /// An id, its beginning, or a key.
    pub task: String,
}

/// `POST /v1/tasks/wait`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskWaitRequest {
    /// An id, its beginning, or a key.
    pub task: String,
    /// `None` waits without a timeout.
    pub timeout_ms: Option<u64>,
}

/// `POST /v1/tasks/retry`
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct TaskRetryRequest {
    #[schemars(default)]
    pub caller: Caller,
    /// An id, its beginning, or a key.
    pub task: String,
    /// Another agent of the project.
    pub agent: Option<String>,
    /// Begin a new conversation.
    pub fresh: bool,
}

/// The body of `POST /v1/tasks/{id}/priority`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskPriorityBody {
    /// From -9 to 9. A task with a higher number starts earlier.
    pub priority: i8,
}

/// The body of `POST /v1/tasks/{id}/retry`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct TaskRetryBody {
    #[schemars(default)]
    pub caller: Caller,
    /// Another agent of the project.
    pub agent: Option<String>,
    /// Begin a new conversation.
    #[serde(default)]
    pub fresh: bool,
}
