//! The store: one atomic write operation and several reads.

use std::fmt::Debug;
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use jiff::Timestamp;

use crate::error::Result;
use crate::model::{
    AgentName, AgentReport, AgentWorktree, Binding, BranchName, ChildReport, Counts, DailyUsage,
    Delivery, DeliveryId, DeliveryStateKind, DeliverySummary, DiskLevel, DurationHistogram, Event,
    ExchangedMessage, Fleet, FleetName, ForgeReply, Handoff, HousekeepingState, IssueKey, IssueRef,
    Launch, LaunchEnd, LaunchId, LaunchIndexEntry, ListenSettings, MachineId, Message, MessageId,
    MessageState, NewEvent, Plan, PlanControl, PlanId, PlanName, PlanTask, PlanTaskName,
    PlanTaskState, PolledRepository, ProcessRef, Repetition, RepositoryId, RequestKey,
    RequestRecord, RequestStep, Session, SessionId, SessionName, SessionNames, SessionSettings,
    SourceName, Status, StatusKind, StoredDeliveryState, StoredToken, StoredUsageCursor, Task,
    TaskId, TaskKey, TaskStateKind, Timer, TokenId, TrackedIssue, TrackedIssueKey, Trust, Usage,
    UsageIncrement, VendorId, VendorSessionId, WorkRef, WorktreeCommands, WorktreeId,
    WorktreeRemoval,
};
use crate::ports::Place;

/// Everything that Segue stores. A commit is atomic and is on disk when it returns.
#[async_trait]
pub trait Store: Debug + Send + Sync {
    /// Applies changes and appends events. Returns the sequence number of the last event in the
    /// log.
    async fn commit(&self, commit: Commit) -> Result<i64>;

    async fn session(&self, id: SessionId) -> Result<Option<Session>>;

    /// Returns the sessions that match a query, oldest first.
    async fn sessions(&self, query: &SessionQuery) -> Result<Vec<SessionSummary>>;

    /// Returns the number of sessions that match a query.
    async fn count_sessions(&self, query: &SessionQuery) -> Result<u32>;

    /// Returns the number of sessions with each status. A status without sessions may be missing.
    async fn count_statuses(&self) -> Result<Vec<(StatusKind, u64)>>;

    /// Returns how long commits took since this store was opened.
    fn commit_times(&self) -> DurationHistogram {
        DurationHistogram::default()
    }

    /// Returns the places of the sessions without an open launch, each once, the most recently used
    /// first. Returns at most `limit` places.
    async fn resting_places(&self, limit: u32) -> Result<Vec<VendorPlace>>;

    /// Returns the vendors of the sessions, each once.
    async fn vendor_ids(&self) -> Result<Vec<VendorId>>;

    /// Returns the config dirs of the sessions of a vendor.
    async fn config_dirs(&self, vendor: &VendorId) -> Result<Vec<PathBuf>>;

    /// Returns the models that sessions of a vendor have, the newest session's first. Sessions with
    /// the vendor's default have none.
    async fn models(&self, vendor: &VendorId, limit: u32) -> Result<Vec<String>>;

    /// Returns a session's launches, oldest first.
    async fn launches(&self, session: SessionId) -> Result<Vec<Launch>>;

    /// Returns every launch of these machines that has no recorded end. Includes launches without a
    /// recorded machine.
    async fn open_launches(&self, machines: &[MachineId]) -> Result<Vec<Launch>>;

    /// Returns a session's bindings, oldest first.
    async fn bindings(&self, session: SessionId) -> Result<Vec<Binding>>;

    async fn events(&self, query: &EventQuery) -> Result<Vec<Event>>;

    /// Returns the sequence number of the newest event as soon as that is greater than `after`. May
    /// be cancelled.
    async fn wait_for_events(&self, after: i64) -> Result<i64>;

    async fn fleet(&self, name: &FleetName) -> Result<Option<Fleet>>;

    /// Returns the names of all fleets, in alphabetical order.
    async fn fleet_names(&self) -> Result<Vec<FleetName>>;

    /// Returns the fleets of this project folder, oldest first.
    async fn fleets_of(&self, folder: &Path) -> Result<Vec<Fleet>>;

    /// Returns the numbers of agents that were set with `segue scale` for a fleet.
    async fn counts(&self, fleet: &FleetName) -> Result<Counts>;

    /// Returns a session's timers in their configured order.
    async fn timers(&self, session: SessionId) -> Result<Vec<Timer>>;

    async fn trust(&self, folder: &Path) -> Result<Option<Trust>>;

    /// Returns messages, oldest first.
    async fn messages(&self, query: &MessageQuery) -> Result<Vec<Message>>;

    /// Returns who sent the newest messages to one of two sessions, the newest first, at most this many.
    async fn exchanged_messages(
        &self,
        sessions: (SessionId, SessionId),
        limit: u32,
    ) -> Result<Vec<ExchangedMessage>>;

    /// Returns the handoffs to and from a session, oldest first.
    async fn handoffs(&self, session: SessionId) -> Result<Vec<Handoff>>;

    /// Returns the handoffs to and from any of these sessions, oldest first.
    async fn handoffs_of(&self, sessions: &[SessionId]) -> Result<Vec<Handoff>>;

    /// Returns the worktrees that match a query, oldest first.
    async fn worktrees(&self, query: &WorktreeQuery) -> Result<Vec<AgentWorktree>>;

    async fn message(&self, id: MessageId) -> Result<Option<Message>>;

    /// Returns the tasks that a query describes, in the order of the queue.
    async fn tasks(&self, query: &TaskQuery) -> Result<Vec<PlacedTask>>;

    /// Returns the tasks that a query describes, in the order of the queue, without the parts that
    /// can be long.
    async fn task_summaries(&self, query: &TaskQuery) -> Result<Vec<TaskSummary>>;

    /// Returns the number of tasks that a query describes.
    async fn count_tasks(&self, query: &TaskQuery) -> Result<u32>;

    /// Returns the reports to this task or session that are not sent yet, oldest first. `None` for
    /// all of them.
    async fn child_reports(&self, parent: Option<WorkRef>) -> Result<Vec<ChildReport>>;

    /// Returns the newest reports that agents wrote, oldest first.
    async fn agent_reports(&self, query: &AgentReportQuery) -> Result<Vec<AgentReport>>;

    /// Returns the plans that a query describes, oldest first.
    async fn plans(&self, query: &PlanQuery) -> Result<Vec<Plan>>;

    /// Returns the tasks of a plan that a query describes, in the order of their ranks.
    async fn plan_tasks(&self, query: &PlanTaskQuery) -> Result<Vec<PlanTask>>;

    /// Returns the session in which an agent works on an issue.
    async fn issue_session(&self, key: &IssueKey) -> Result<Option<SessionId>>;

    /// Returns all sessions in which agents work on issues, in the order of their keys.
    async fn issue_sessions(&self) -> Result<Vec<(IssueKey, SessionId)>>;

    /// Returns all launches, each session's in the order of their numbers.
    async fn launch_index(&self) -> Result<Vec<LaunchIndexEntry>>;

    /// Returns what a new daemon has to know about housekeeping.
    async fn housekeeping(&self) -> Result<HousekeepingState>;

    /// Returns how far the sources of these sessions' usage are counted.
    async fn usage_cursors(&self, sessions: &[SessionId]) -> Result<Vec<StoredUsageCursor>>;

    /// Returns what sessions have used, for each session and day.
    async fn usage(&self, query: &UsageQuery) -> Result<Vec<DailyUsage>>;

    /// Returns all tokens, oldest first.
    async fn tokens(&self) -> Result<Vec<StoredToken>>;

    /// Returns where the daemon listens. `None` if it does not.
    async fn listener(&self) -> Result<Option<ListenSettings>>;

    /// Returns deliveries without their content, oldest first.
    async fn deliveries(&self, query: &DeliveryQuery) -> Result<Vec<DeliverySummary>>;

    /// Returns a delivery with its content.
    async fn delivery(&self, id: DeliveryId) -> Result<Option<Delivery>>;

    /// Returns a stored delivery of a source that has this id of the forge or this digest.
    async fn known_delivery(
        &self,
        source: &SourceName,
        forge_id: Option<&str>,
        digest: &str,
    ) -> Result<Option<DeliveryId>>;

    /// Returns the issues of forges on which agents work or have worked. `None` for those of all
    /// sources.
    async fn tracked_issues(&self, source: Option<&SourceName>) -> Result<Vec<TrackedIssue>>;

    /// Returns what polled forges have answered about the repositories of a source.
    async fn polled_repositories(&self, source: &SourceName) -> Result<Vec<PolledRepository>>;

    /// Returns the replies that are still to be written, oldest first.
    async fn waiting_replies(&self) -> Result<Vec<ForgeReply>>;

    /// Returns the conversations about an issue, of all agents.
    async fn sessions_of_issue(
        &self,
        repository: &RepositoryId,
        issue: &IssueRef,
    ) -> Result<Vec<(IssueKey, SessionId)>>;

    /// Returns the recorded steps of a request, oldest first. Steps of old requests are deleted.
    async fn request(&self, key: RequestKey) -> Result<Vec<RequestStep>>;
}

/// Changes and the events that describe them. All of them are written, or none.
#[derive(Clone, Debug, Default)]
pub struct Commit {
    pub changes: Vec<Change>,
    pub events: Vec<NewEvent>,
}

/// One change. A change that contradicts the stored data is a conflict, and nothing is written.
#[derive(Clone, Debug)]
pub enum Change {
    /// Adds a fleet. A second folder for the same fleet name is a conflict. One folder can have
    /// several fleets.
    PutFleet(Fleet),
    /// A name that another session of the fleet has is a conflict.
    CreateSession(Box<Session>),
    SetStatus {
        session: SessionId,
        status: Status,
        at: Timestamp,
    },
    /// Sets `Session::has_content`. It stays set until the session is bound to another conversation.
    MarkHasContent {
        session: SessionId,
    },
    /// Records work of a session that repeats itself. `None` if none does.
    SetRepetition {
        session: SessionId,
        repetition: Option<Box<Repetition>>,
    },
    /// Replaces the settings of a session. `changed_at` is recorded if a person has changed
    /// them.
    Configure {
        session: SessionId,
        settings: Box<SessionSettings>,
        changed_at: Option<Timestamp>,
    },
    /// A name that another session of the fleet has is a conflict.
    RenameSession {
        session: SessionId,
        names: SessionNames,
    },
    /// A second open launch of a session is a conflict.
    CreateLaunch(Box<Launch>),
    /// Records the processes of an open launch.
    SetProcesses {
        launch: LaunchId,
        holder: Option<ProcessRef>,
        agent: Option<ProcessRef>,
    },
    /// Closes a launch. A launch that is closed already keeps its first end; this is no conflict.
    EndLaunch {
        launch: LaunchId,
        end: LaunchEnd,
    },
    /// Appends a binding. An id that belongs to another session is a conflict. If the id differs
    /// from the newest binding, the conversation is new and `Session::has_content` is reset.
    AddBinding(Binding),
    /// Deletes a session with its launches and bindings. Its events stay. An open launch is a
    /// conflict.
    RemoveSession(SessionId),
    /// Records that a conversation continues in another session.
    AddHandoff(Box<Handoff>),
    PutTrust(Trust),
    /// Records the number of agents that was set with `segue scale`.
    SetCount {
        fleet: FleetName,
        agent: AgentName,
        count: u32,
    },
    /// Replaces the timers of a session.
    SetTimers {
        session: SessionId,
        timers: Vec<Timer>,
    },
    /// Adds a message to an agent.
    AddMessage(Box<Message>),
    /// Sets the state of a message. A message whose state is final is a conflict.
    SetMessage {
        message: MessageId,
        state: MessageState,
        at: Timestamp,
    },
    /// Adds a worktree. A path or a port that another worktree has is a conflict.
    AddWorktree(Box<AgentWorktree>),
    /// Reserves a worktree for a session. A worktree that another session has is a conflict.
    LeaseWorktree {
        worktree: WorktreeId,
        session: SessionId,
    },
    /// Ends the reservation of a worktree. Removing a session does the same.
    ReleaseWorktree {
        worktree: WorktreeId,
    },
    /// Records that a worktree's folder was removed or, with `None`, that it exists.
    SetWorktreeRemoval {
        worktree: WorktreeId,
        removal: Option<WorktreeRemoval>,
    },
    /// Records the branch of a worktree.
    SetWorktreeBranch {
        worktree: WorktreeId,
        branch: BranchName,
    },
    /// Records the commands of a worktree.
    SetWorktreeCommands {
        worktree: WorktreeId,
        commands: WorktreeCommands,
    },
    /// Records whether all setup commands have succeeded in the present folder of a worktree.
    SetWorktreeSetUp {
        worktree: WorktreeId,
        is_set_up: bool,
    },
    /// Deletes the record of a worktree.
    ForgetWorktree(WorktreeId),
    /// Adds a task at the end of the queue. A key that another task has is a conflict.
    AddTask(Box<Task>),
    /// Checks the number of a session's children. If, without `child`, at least `limit` tasks and
    /// sessions that its agent started are queued or run, that is a conflict.
    CheckChildren {
        parent: SessionId,
        child: WorkRef,
        limit: u32,
    },
    /// Replaces a task. A task whose state is not `from` any more is a conflict. So is the start of a
    /// queued task whose plan is paused or cancelled.
    SetTask {
        task: Box<Task>,
        from: TaskStateKind,
    },
    /// Adds a plan, or replaces it. A plan whose revision is not `from` any more is a conflict; `None`
    /// if there must be no plan with this folder and name.
    PutPlan {
        plan: Box<Plan>,
        from: Option<i64>,
    },
    /// Adds a task of a plan, or replaces it.
    PutPlanTask(Box<PlanTask>),
    /// Deletes a task of a plan.
    RemovePlanTask {
        plan: PlanId,
        name: PlanTaskName,
    },
    /// Records that a task has to report its end to its parent.
    AddChildReport(Box<ChildReport>),
    /// Records a report that an agent wrote. Of each session, the newest [`MAX_AGENT_REPORTS`] are
    /// kept.
    AddAgentReport(Box<AgentReport>),
    /// Records that a report is sent. A report that was sent before is a conflict.
    SendChildReport(MessageId),
    /// Records in which session an agent works on an issue. `None` forgets it; the next task about
    /// the issue begins a new conversation.
    SetIssueSession {
        key: IssueKey,
        session: Option<SessionId>,
    },
    /// Adds to what a session has used, and moves the cursor of the source. A source whose cursor is
    /// not the expected one is a conflict: its reports are counted already.
    AddUsage(Box<UsageIncrement>),
    /// Adds a token. A name that another token has is a conflict.
    AddToken(Box<StoredToken>),
    /// Deletes a token, and the tokens that were made from it.
    RemoveToken(TokenId),
    /// Records when a token was used last.
    UseToken {
        token: TokenId,
        at: Timestamp,
    },
    /// Records where the daemon listens. `None` if it does not.
    SetListener(Option<Box<ListenSettings>>),
    /// Adds a delivery. A delivery of the same source with the same id of the forge or the same
    /// digest is a conflict.
    AddDelivery(Box<Delivery>),
    /// Records what became of a delivery.
    SetDelivery {
        delivery: DeliveryId,
        state: StoredDeliveryState,
    },
    /// Deletes a delivery.
    RemoveDelivery(DeliveryId),
    /// Deletes headers and body of a delivery. Its ids and its digest stay. Does nothing if the
    /// delivery is neither processed nor ignored.
    RemoveDeliveryContent(DeliveryId),
    /// Records an issue of a forge, or replaces its record.
    PutTrackedIssue(Box<TrackedIssue>),
    /// Deletes the record of an issue of a forge.
    RemoveTrackedIssue(TrackedIssueKey),
    /// Records what a polled forge has answered about a repository, or replaces the record.
    PutPolledRepository(Box<PolledRepository>),
    /// Adds a reply that is to be written.
    AddReply(Box<ForgeReply>),
    /// Replaces the record of a reply.
    SetReply(Box<ForgeReply>),
    /// Records when the next sweep is due.
    SetNextSweep(Timestamp),
    /// Records the level of disk use that was reported.
    SetDiskLevel(DiskLevel),
    /// Records a step of a request. A step that the request has already is a conflict.
    RecordRequest(Box<RequestRecord>),
}

/// The conditions that a session must meet to be returned. The default has no condition and matches
/// all sessions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionQuery {
    pub ids: Option<Vec<SessionId>>,
    pub fleet: Option<FleetName>,
    pub name: Option<SessionName>,
    pub vendor: Option<VendorId>,
    pub config_dir: Option<PathBuf>,
    pub cwd: Option<PathBuf>,
    /// This session, and the sessions that its agent started.
    pub reachable_from: Option<SessionId>,
    /// Bound to one of these ids, now or earlier.
    pub vendor_sessions: Option<Vec<VendorSessionId>>,
    pub activity: Option<SessionActivity>,
    /// Belongs to an agent of a project.
    pub has_agent: bool,
    pub page: Option<SessionPage>,
}

/// A part of a list of sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionPage {
    /// The last session of the previous page: its creation time and its id. `None` for the first
    /// page.
    pub after: Option<(Timestamp, SessionId)>,
    /// At most this many sessions.
    pub size: u32,
}

/// Whether something happens or may happen in a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionActivity {
    /// The session has a launch without a recorded end.
    Open,
    /// The session is open, has messages without a final state, or is not [`Session::is_at_rest`].
    Unsettled,
    /// The session is unsettled, or was changed at this time or later.
    UnsettledOrChangedSince(Timestamp),
}

impl SessionQuery {
    pub fn id(id: SessionId) -> Self {
        Self::ids(vec![id])
    }

    pub fn ids(ids: Vec<SessionId>) -> Self {
        Self { ids: Some(ids), ..Self::default() }
    }

    pub fn fleet(fleet: &FleetName) -> Self {
        Self { fleet: Some(fleet.clone()), ..Self::default() }
    }

    /// Matches the session with this name, if it exists.
    pub fn address(fleet: &FleetName, name: &SessionName) -> Self {
        Self { name: Some(name.clone()), ..Self::fleet(fleet) }
    }

    pub fn vendor_session(vendor: &VendorId, id: &VendorSessionId) -> Self {
        Self {
            vendor: Some(vendor.clone()),
            vendor_sessions: Some(vec![id.clone()]),
            ..Self::default()
        }
    }

    pub fn activity(activity: SessionActivity) -> Self {
        Self { activity: Some(activity), ..Self::default() }
    }
}

/// The place of a vendor's conversations that were started in one folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VendorPlace {
    pub vendor: VendorId,
    pub place: Place,
}

/// A session with the data that lists show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionSummary {
    pub session: Session,
    /// The newest binding of the session.
    pub binding: Option<Binding>,
    pub open: Option<OpenLaunch>,
    pub launches: u32,
    /// Number of messages whose state is not final.
    pub queued_messages: u32,
    /// The worktree that is reserved for the session.
    pub worktree: Option<LeasedWorktree>,
    /// What the session has used. `None` if nothing was reported.
    pub usage: Option<Usage>,
}

/// The worktree of a session, in a list of sessions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeasedWorktree {
    pub path: PathBuf,
    pub branch: BranchName,
}

/// Selects worktrees. The default matches all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorktreeQuery {
    pub session: Option<SessionId>,
    pub path: Option<PathBuf>,
}

/// The launch of a session that has no recorded end. Its processes are probably alive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenLaunch {
    pub id: LaunchId,
    /// The machine that started the launch: see [`Launch::machine`].
    pub machine: Option<MachineId>,
    pub created_at: Timestamp,
    pub holder: Option<ProcessRef>,
    pub agent: Option<ProcessRef>,
}

/// Selects events after a sequence number, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventQuery {
    pub after: i64,
    /// Only events of these sessions. If empty, events of all sessions.
    pub sessions: Vec<SessionId>,
    pub limit: u32,
    /// If there are more than `limit` events, return the newest ones instead of the oldest ones.
    pub newest: bool,
}

/// Selects messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MessageQuery {
    pub session: Option<SessionId>,
    /// Only messages whose state is not final.
    pub open: bool,
}

/// Selects deliveries. The default matches all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeliveryQuery {
    /// The beginning of the id, in lower case.
    pub id_prefix: Option<String>,
    pub source: Option<SourceName>,
    pub states: Option<Vec<DeliveryStateKind>>,
    /// Received before this time.
    pub before: Option<Timestamp>,
    /// Stored before this delivery.
    pub older_than: Option<DeliveryId>,
    /// Whether headers and body are stored.
    pub has_content: Option<bool>,
    /// At most this many deliveries, the newest ones.
    pub newest: Option<u32>,
    /// At most this many deliveries, the oldest ones.
    pub oldest: Option<u32>,
}

/// Selects usage. The default matches all of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UsageQuery {
    pub sessions: Option<Vec<SessionId>>,
    /// Only usage from this time on.
    pub since: Option<Timestamp>,
    /// Only usage until this time.
    pub until: Option<Timestamp>,
}

/// Which tasks to return: those that meet every condition. The default describes all tasks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskQuery {
    pub ids: Option<Vec<TaskId>>,
    /// The beginning of the id, in lower case.
    pub id_prefix: Option<String>,
    pub key: Option<TaskKey>,
    pub states: Option<Vec<TaskStateKind>>,
    pub agent: Option<AgentName>,
    pub session: Option<SessionId>,
    pub parent: Option<TaskId>,
    /// Added by the agent of this session.
    pub spawner: Option<SessionId>,
    pub issue: Option<IssueKey>,
    /// About an issue, whichever agent works on it.
    pub about: Option<IssueFilter>,
    /// At most this many tasks, the newest ones.
    pub newest: Option<u32>,
    pub page: Option<TaskPage>,
}

/// Selects tasks about an issue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IssueFilter {
    pub issue: IssueRef,
    /// The id of the repository. `None` for all repositories.
    pub repository: Option<String>,
}

/// A part of a list of tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskPage {
    /// The place of the last task of the previous page. `None` for the first page.
    pub after: Option<i64>,
    /// At most this many tasks.
    pub size: u32,
}

impl TaskQuery {
    pub fn id(id: TaskId) -> Self {
        Self { ids: Some(vec![id]), ..Self::default() }
    }

    pub fn key(key: &TaskKey) -> Self {
        Self { key: Some(key.clone()), ..Self::default() }
    }

    /// Describes the tasks that have not ended.
    pub fn open() -> Self {
        use TaskStateKind::{Queued, Running, Waiting};
        Self { states: Some(vec![Queued, Running, Waiting]), ..Self::default() }
    }
}

/// How many reports of a session's agent are kept.
pub const MAX_AGENT_REPORTS: u32 = 100;

/// Selects reports that agents wrote. The default matches all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AgentReportQuery {
    pub task: Option<TaskId>,
    pub session: Option<SessionId>,
}

/// Selects plans. The default matches all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlanQuery {
    pub id: Option<PlanId>,
    /// The beginning of the id, in lower case.
    pub id_prefix: Option<String>,
    pub name: Option<PlanName>,
    pub folder: Option<PathBuf>,
    pub control: Option<PlanControl>,
}

/// Selects tasks of a plan: those that meet every condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanTaskQuery {
    pub plan: PlanId,
    pub names: Option<Vec<PlanTaskName>>,
    /// Needs this task.
    pub needing: Option<PlanTaskName>,
    pub state: Option<PlanTaskState>,
    /// At most this many tasks, those with the smallest ranks.
    pub first: Option<u32>,
}

impl PlanTaskQuery {
    /// Describes all tasks of a plan.
    pub fn of(plan: PlanId) -> Self {
        Self { plan, names: None, needing: None, state: None, first: None }
    }

    pub fn named(plan: PlanId, names: Vec<PlanTaskName>) -> Self {
        Self { names: Some(names), ..Self::of(plan) }
    }

    pub fn needing(plan: PlanId, task: &PlanTaskName) -> Self {
        Self { needing: Some(task.clone()), ..Self::of(plan) }
    }
}

/// A task with its place in the queue. A later task has a greater place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedTask {
    pub place: i64,
    pub task: Task,
}

/// The parts of a task that a list for people shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskSummary {
    pub id: TaskId,
    pub agent: AgentName,
    pub state: TaskStateKind,
    /// The fleet and the name of the session that works on the task. `None` if the task has no
    /// session.
    pub session: Option<(FleetName, SessionName)>,
    pub created_at: Timestamp,
    /// The first [`TASK_BEGINNING_CHARACTERS`] characters of the prompt, and an ellipsis if the
    /// prompt has more.
    pub beginning: String,
}

/// How many characters of a prompt a [`TaskSummary`] has.
pub const TASK_BEGINNING_CHARACTERS: usize = 200;
