//! What a task or a session reports to its parent.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{MessageId, Permission, SessionId, TaskId};
use crate::word_enum::word_enum;

/// A task, or a session without a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WorkRef {
    Task(TaskId),
    Session(SessionId),
}

/// A report of a task or a session to its parent. It is stored until it is queued as a message to the
/// session of the parent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChildReport {
    /// The id of the message.
    pub message: MessageId,
    pub child: WorkRef,
    /// A task gets it in its session.
    pub parent: WorkRef,
    pub text: String,
    pub created_at: Timestamp,
}

/// The agent that added a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskSpawner {
    pub session: SessionId,
    /// The permission of that session. The task never gets a looser one.
    pub permission: Permission,
}

word_enum! {
    /// What an agent reports about its work.
    pub enum ReportedState {
        Done = "done",
        Failed = "failed",
        Progress = "progress",
    }
}

/// A report that an agent wrote with `segue task report`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentReport {
    /// The session of the agent.
    pub session: SessionId,
    /// The task on which the session worked.
    pub task: Option<TaskId>,
    pub state: ReportedState,
    pub text: String,
    pub at: Timestamp,
}
