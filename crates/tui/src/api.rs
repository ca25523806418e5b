//! The port through which the UI talks to the daemon and to the machine.

use std::fmt::Debug;
use std::path::PathBuf;

use async_trait::async_trait;
use jiff::tz::TimeZone;
use segue_core::Result;
use segue_core::api::{
    AdoptReport, AgentKindList, HandoffReport, InterruptReport, MessageList, PlanGateView,
    PlanReport, RenameReport, RestoreReport, ScaleReport, SessionList, StopReport, TaskReport,
    TaskSummaryList, WorktreeAction, WorktreeActionReport, WorktreeDiffReport, WorktreeList,
};
use segue_core::model::{Event, PlanId, PlanTaskName, SessionId, Turn, Usage};
use segue_core::ports::TerminalStream;
use segue_core::rules::handoff::HandoffMode;

/// Everything that the UI asks the daemon and the machine for. Calls may run at the same time.
#[async_trait]
pub trait DaemonApi: Debug + Send + Sync {
    /// Returns all sessions, except those that ended long ago.
    async fn sessions(&self) -> Result<SessionList>;
    /// Begins to follow events of all sessions.
    async fn events(&self) -> Result<Box<dyn DaemonEvents>>;
    /// Waits until a daemon runs. Starts none: the user may have stopped it on purpose.
    async fn daemon_runs(&self) -> Result<()>;

    /// Opens a session's terminal to watch it.
    async fn terminal(&self, session: SessionId) -> Result<Box<dyn TerminalStream>>;
    /// Returns turns of a conversation: those before a cursor, or the last ones.
    async fn talk(&self, session: SessionId, before: Option<String>) -> Result<TalkPage>;
    async fn messages(&self, session: SessionId) -> Result<MessageList>;
    /// Returns the newest events of a session, oldest first.
    async fn log(&self, session: SessionId) -> Result<Vec<Event>>;
    async fn diff(&self, question: DiffQuestion) -> Result<WorktreeDiffReport>;
    /// Returns the tasks in the order of the queue, also those that have ended if they are wanted.
    async fn tasks(&self, with_ended: bool) -> Result<TaskSummaryList>;
    async fn task(&self, task: String) -> Result<TaskReport>;
    async fn worktrees(&self) -> Result<WorktreeList>;
    /// Returns the gates of plans that a person has to approve, the one that waits longest first.
    async fn gates(&self) -> Result<Vec<PlanGateView>>;
    /// Returns the agents of the project file around the current folder.
    async fn agents(&self) -> Result<AgentKindList>;
    /// Returns the tokens that were used since the beginning of this day.
    async fn usage_today(&self) -> Result<Usage>;
    /// Returns the vendors that can be started on this machine.
    async fn vendors(&self) -> Result<Vec<VendorChoice>>;

    /// Records a message for a session. `interrupts` ends its current turn first.
    async fn send(&self, session: SessionId, text: String, interrupts: bool) -> Result<()>;
    /// Answers a question. Fails if the session asks another question by now.
    async fn answer(&self, session: SessionId, question: String, answer: String) -> Result<()>;
    /// Interrupts the turn of a session. Fails if its agent does not work.
    async fn interrupt(&self, session: SessionId) -> Result<InterruptReport>;
    /// Gives a session another name.
    async fn rename(&self, session: SessionId, name: String) -> Result<RenameReport>;
    async fn stop(&self, sessions: Vec<SessionId>) -> Result<StopReport>;
    /// Waits for the end of the session's turn, then stops the session.
    async fn stop_after_turn(&self, session: SessionId) -> Result<StopReport>;
    /// Reports what a resume would do. `None` stands for all sessions.
    async fn plan(&self, sessions: Option<Vec<SessionId>>) -> Result<PlanReport>;
    async fn resume(&self, sessions: Option<Vec<SessionId>>) -> Result<RestoreReport>;
    /// Starts a session. Returns its id.
    async fn start(&self, new: NewSession) -> Result<SessionId>;
    /// Starts a few sessions of the built-in vendor.
    async fn start_demo(&self) -> Result<SessionId>;
    /// Lets a task of a plan start that waits for a person.
    async fn approve_gate(&self, plan: PlanId, task: PlanTaskName) -> Result<()>;
    async fn add_task(&self, new: NewTask) -> Result<TaskReport>;
    async fn cancel_task(&self, task: String) -> Result<TaskReport>;
    async fn retry_task(&self, task: String) -> Result<TaskReport>;
    /// Hands a conversation over. With `is_dry_run`, only reports what would be carried.
    async fn hand_over(&self, order: HandoverOrder, is_dry_run: bool) -> Result<HandoffReport>;
    async fn scale(&self, session: SessionId, agent: String, count: u32) -> Result<ScaleReport>;
    /// Lists the conversations that belong to no session.
    async fn adoptable(&self) -> Result<AdoptReport>;
    /// Makes a conversation a session.
    async fn adopt(&self, vendor: String, id: String) -> Result<AdoptReport>;
    async fn change_worktree(
        &self,
        action: WorktreeAction,
        worktree: String,
    ) -> Result<WorktreeActionReport>;

    /// Connects this terminal to the session's terminal until the user detaches. The UI has left
    /// the terminal before.
    async fn attach(&self, session: SessionId) -> Result<AttachResult>;
    /// Opens the user's editor with a text. Returns the text after the editor was closed. The UI has
    /// left the terminal before.
    async fn edit(&self, text: String) -> Result<String>;
    /// Stops this process as Ctrl-Z does, until it is continued.
    fn suspend(&self) -> Result<()>;
    fn now(&self) -> jiff::Timestamp;
}

/// A stream of events.
#[async_trait]
pub trait DaemonEvents: Debug + Send {
    /// Returns the next event. `None` if the daemon has ended. The future may be dropped while it
    /// waits without losing an event.
    async fn next(&mut self) -> Option<Result<Event>>;
}

/// What the UI knows about its user and its terminal.
#[derive(Clone, Debug)]
pub struct Surroundings {
    pub home: Option<PathBuf>,
    pub cwd: PathBuf,
    pub zone: TimeZone,
    /// Whether the terminal shows colours. They are never the only sign.
    pub has_colours: bool,
}

/// A part of a conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TalkPage {
    /// Oldest first.
    pub turns: Vec<Turn>,
    /// The cursor of the turns before these. `None` if there are none.
    pub before: Option<String>,
}

/// Whose diff is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiffQuestion {
    /// A session, or the path of a worktree.
    pub name: String,
}

/// A vendor that can be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VendorChoice {
    pub name: String,
    pub title: String,
    pub is_built_in: bool,
}

/// A session to start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewSession {
    pub vendor: Option<String>,
    pub name: Option<String>,
    pub folder: Option<PathBuf>,
    /// The branch of the worktree that the session works in.
    pub branch: Option<String>,
    pub prompt: Option<String>,
}

/// A task to add.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewTask {
    pub agent: String,
    pub prompt: String,
    pub branch: Option<String>,
}

/// A conversation to hand over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandoverOrder {
    pub session: SessionId,
    pub name: String,
    pub to: String,
    pub mode: HandoffMode,
    /// At most this many characters are carried. `None` uses the default of the target.
    pub budget: Option<usize>,
}

/// Why the UI has its terminal back after an attach.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttachResult {
    /// A sentence for the user.
    pub text: String,
    pub is_failure: bool,
}
