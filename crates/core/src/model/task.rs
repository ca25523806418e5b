//! A task: work that an agent is asked to do.

use std::fmt;
use std::path::PathBuf;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    AgentName, BranchName, CommitId, FleetName, MessageId, PlanMembership, ReplyTarget,
    RepositoryId, Session, SessionId, TaskId, TaskKey, TaskSpawner, Usage, VendorId, WorktreeOrder,
};
use crate::error::{Error, Result};
use crate::word_enum::word_enum;

/// Work that an agent is asked to do, with its state and its result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    pub id: TaskId,
    /// Adding a task with the key of a known task adds nothing.
    pub key: Option<TaskKey>,
    pub order: TaskOrder,
    pub state: TaskState,
    /// How often the task was started.
    pub attempts: u32,
    pub progress: TaskProgress,
    /// The session that works on the task. `None` until the first start.
    pub session: Option<SessionId>,
    pub result: Option<TaskResult>,
    pub created_at: Timestamp,
    pub started_at: Option<Timestamp>,
    pub ended_at: Option<Timestamp>,
}

impl Task {
    /// Returns a new task without a key, which waits in the queue.
    pub fn queued(id: TaskId, order: TaskOrder, created_at: Timestamp) -> Self {
        Self {
            id,
            key: None,
            order,
            state: TaskState::Queued,
            attempts: 0,
            progress: TaskProgress::default(),
            session: None,
            result: None,
            created_at,
            started_at: None,
            ended_at: None,
        }
    }
}

/// The request of a task. It never changes, except that a retry can name another agent, that a queued
/// task can get another priority, and that a plan can replace it before the next start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskOrder {
    pub fleet: FleetName,
    pub agent: AgentName,
    /// The account that the agent uses.
    pub account: AccountKey,
    /// The folder in which the agent works. The project file around it defines the agent.
    pub folder: PathBuf,
    /// The repository to work in. `None` means the folder itself.
    pub repository: Option<RepositoryId>,
    pub issue: Option<IssueRef>,
    /// The branch that the request named.
    pub branch: Option<BranchName>,
    /// The worktree to work in. `None` works in the folder itself.
    #[serde(default)]
    pub worktree: Option<TaskWorktree>,
    pub prompt: String,
    pub parent: Option<TaskId>,
    pub priority: TaskPriority,
    /// A shell command that must succeed in the task's folder.
    pub verify: Option<String>,
    pub mode: TaskMode,
    /// The session whose conversation the task continues, if the request names one.
    pub continues: Option<SessionId>,
    /// Where the result is written as a comment.
    #[serde(default)]
    pub reply: Option<ReplyTarget>,
    /// The vendor, if the task has no agent of the project file. `agent` is its name then.
    #[serde(default)]
    pub vendor: Option<VendorId>,
    /// The agent that added the task. `None` if a person added it.
    #[serde(default)]
    pub spawner: Option<TaskSpawner>,
    /// The task of a plan that this task is.
    #[serde(default)]
    pub plan: Option<PlanMembership>,
}

/// The worktree in which a new session of a task works.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskWorktree {
    /// The agent whose worktree it is. It stays the same if another agent retries the task.
    pub agent: AgentName,
    pub order: WorktreeOrder,
}

/// An account at a vendor: the vendor and its configuration folder.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct AccountKey {
    pub vendor: VendorId,
    pub config_dir: PathBuf,
}

/// Facts about the work on a task that a new daemon needs to continue it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskProgress {
    /// The message that began the current turn of the session. `None` if the command line of the
    /// session's first launch had the prompt.
    pub message: Option<MessageId>,
    /// All sessions that have worked on the task, oldest first.
    pub sessions: Vec<SessionId>,
    /// Whether the current attempt began the conversation of its session.
    pub has_new_conversation: bool,
    /// Whether the task was retried in a new conversation.
    pub is_fresh_retry: bool,
    /// How often the verify command has failed.
    pub failed_verifies: u32,
    /// What was checked out when the task was first started. `None` if its folder is in no
    /// repository.
    #[serde(default)]
    pub base: Option<TaskBase>,
    /// How the task lost its conversation, if it was begun anew because of that. Part of the result.
    #[serde(default)]
    pub lost_conversation: Option<String>,
    /// How often the plan of the task has started it again after a failure.
    #[serde(default)]
    pub plan_retries: u32,
}

/// What was checked out when a task was first started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskBase {
    /// `None` before the first commit of the repository.
    pub commit: Option<CommitId>,
}

/// An issue of a repository: its number, as text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct IssueRef(String);

/// The most characters that an issue's number has.
const LONGEST_ISSUE: usize = 40;

impl IssueRef {
    /// Parses a number, such as `17`, `#17` or `PROJ-17`, or a URL that ends with a number.
    pub fn parse(text: &str) -> Result<Self> {
        let end = if text.contains("://") { text.rsplit('/').next() } else { None };
        let number = end.unwrap_or_else(|| text.strip_prefix('#').unwrap_or(text));
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if (1..=LONGEST_ISSUE).contains(&number.len()) && number.chars().all(is_plain) {
            return Ok(Self(number.to_owned()));
        }
        let shown: String = text.chars().take(LONGEST_ISSUE).collect();
        Err(Error::usage(format!("`{}` is not the number of an issue", shown.escape_debug()))
            .hint("write it as in `--issue 17`"))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Identifies the conversation about an issue. An agent has one conversation for each issue of a
/// repository, and no other agent shares it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct IssueKey {
    pub fleet: FleetName,
    pub agent: AgentName,
    pub repository: RepositoryId,
    pub issue: IssueRef,
}

impl TaskOrder {
    /// Returns the key of the conversation that the task continues. `None` if the task has a
    /// conversation of its own, or continues one that it names.
    pub fn issue_key(&self) -> Option<IssueKey> {
        let (repository, issue) = self.repository.as_ref().zip(self.issue.as_ref())?;
        self.continues.is_none().then(|| IssueKey {
            fleet: self.fleet.clone(),
            agent: self.agent.clone(),
            repository: repository.clone(),
            issue: issue.clone(),
        })
    }
}

/// How urgent a task is: -9 to 9. Zero is the default.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct TaskPriority(i8);

/// The lowest and the highest priority are this far from zero.
const HIGHEST_PRIORITY: i8 = 9;

impl TaskPriority {
    pub fn new(level: i8) -> Result<Self> {
        if (-HIGHEST_PRIORITY..=HIGHEST_PRIORITY).contains(&level) {
            return Ok(Self(level));
        }
        let range = format!("between -{HIGHEST_PRIORITY} and {HIGHEST_PRIORITY}");
        Err(Error::usage(format!("`--priority` must be {range}, got {level}")))
    }

    pub fn level(self) -> i8 {
        self.0
    }
}

word_enum! {
    /// How an agent works on a task.
    #[derive(Default)]
    pub enum TaskMode {
        /// The vendor's program runs without a terminal.
        #[default]
        Headless = "headless",
        /// The vendor's program runs in a terminal to which a person can attach.
        Interactive = "interactive",
    }
}

impl TaskMode {
    /// Returns the mode of a task that continues a session.
    pub fn of(session: &Session) -> Self {
        if session.headless { Self::Headless } else { Self::Interactive }
    }
}

/// The state of a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "state", content = "of")]
pub enum TaskState {
    Queued,
    Running,
    /// The task cannot go on now.
    Waiting(TaskWait),
    Done,
    Failed {
        reason: String,
    },
    Cancelled,
}

word_enum! {
    /// A [`TaskState`] without its details. Its words are the tags of a serialized [`TaskState`].
    pub enum TaskStateKind {
        Queued = "queued",
        Running = "running",
        Waiting = "waiting",
        Done = "done",
        Failed = "failed",
        Cancelled = "cancelled",
    }
}

/// The reason why a task waits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "what", content = "of")]
pub enum TaskWait {
    /// A person has to answer the agent's question.
    Question { question: String },
    /// The account's usage limit was reached. `until` is the time that the vendor gave.
    UsageLimit { until: Option<Timestamp> },
    /// The vendor refuses the account.
    Account { reason: String },
    /// The login shell lacks variables of the session's last launch, or cannot be read.
    Environment { missing: Vec<String>, reason: String },
    /// The disk is full, or the disk budget is used up and the task needs a new worktree.
    Disk { reason: String },
}

impl TaskWait {
    /// Returns whether the task goes on only after a person acts.
    pub fn needs_person(&self) -> bool {
        !matches!(self, Self::UsageLimit { until: Some(_) })
    }
}

impl fmt::Display for TaskWait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Question { question } => f.write_str(question),
            Self::UsageLimit { until: Some(until) } => write!(f, "usage limit until {until:.0}"),
            Self::UsageLimit { until: None } => f.write_str("usage limit"),
            Self::Account { reason } | Self::Environment { reason, .. } | Self::Disk { reason } => {
                f.write_str(reason)
            }
        }
    }
}

impl TaskState {
    /// Returns the state without its details.
    pub fn kind(&self) -> TaskStateKind {
        match self {
            Self::Queued => TaskStateKind::Queued,
            Self::Running => TaskStateKind::Running,
            Self::Waiting(_) => TaskStateKind::Waiting,
            Self::Done => TaskStateKind::Done,
            Self::Failed { .. } => TaskStateKind::Failed,
            Self::Cancelled => TaskStateKind::Cancelled,
        }
    }

    /// Returns the word used in tables, JSON and the store.
    pub fn word(&self) -> &'static str {
        self.kind().word()
    }

    /// Returns why the task waits or has failed. `None` in the other states.
    pub fn reason(&self) -> Option<String> {
        match self {
            Self::Waiting(wait) => Some(wait.to_string()),
            Self::Failed { reason } => Some(reason.clone()),
            Self::Queued | Self::Running | Self::Done | Self::Cancelled => None,
        }
    }

    /// Returns whether the task has ended. Only a retry starts it again.
    pub fn has_ended(&self) -> bool {
        matches!(self, Self::Done | Self::Failed { .. } | Self::Cancelled)
    }
}

/// The result of a task.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskResult {
    /// The agent's last answer.
    pub answer: Option<String>,
    /// The commits since the task was first started, oldest first.
    pub commits: Vec<TaskCommit>,
    /// The changes since the task was first started, uncommitted and untracked files included.
    /// `None` if the folder of the task is in no repository.
    pub diff: Option<DiffStat>,
    /// The tokens that the task used. `None` if the vendor does not report them.
    pub usage: Option<Usage>,
    pub duration_ms: u64,
    pub verify: Option<VerifyReport>,
    /// Why a part of the result is unknown.
    #[serde(default)]
    pub note: Option<String>,
}

/// One commit of a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskCommit {
    pub id: String,
    pub subject: String,
}

/// How much a task changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DiffStat {
    pub files: u32,
    pub insertions: u64,
    pub deletions: u64,
}

/// The last run of a task's verify command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VerifyReport {
    pub command: String,
    pub passed: bool,
    /// The end of the command's output.
    pub output: String,
    /// How often the command ran.
    pub runs: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tag_of_a_serialized_task_state_is_the_word_of_its_kind() {
        let all = [
            TaskState::Queued,
            TaskState::Running,
            TaskState::Waiting(TaskWait::UsageLimit { until: None }),
            TaskState::Done,
            TaskState::Failed { reason: "it failed".to_owned() },
            TaskState::Cancelled,
        ];
        assert_eq!(all.each_ref().map(TaskState::kind).as_slice(), TaskStateKind::ALL);
        for state in all {
            assert_eq!(serde_json::to_value(&state).unwrap()["state"], state.word());
        }
    }

    #[test]
    fn issue_numbers_are_plain_and_short() {
        for (text, number) in [
            ("17", "17"),
            ("#17", "17"),
            ("PROJ-17", "PROJ-17"),
            ("https://forge.example.org/shop/app/issues/17", "17"),
        ] {
            assert_eq!(IssueRef::parse(text).unwrap().as_str(), number);
        }
        for bad in ["", "#", "a b", "1/2", "-\n", "https://x/issues/", &"1".repeat(41)] {
            assert!(IssueRef::parse(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn priorities_are_between_minus_nine_and_nine() {
        for level in [-9, 0, 9] {
            assert_eq!(TaskPriority::new(level).unwrap().level(), level);
        }
        for level in [-10, 10, i8::MAX] {
            let message = TaskPriority::new(level).unwrap_err().message;
            assert!(message.contains("between -9 and 9"), "{message}");
        }
    }
}
