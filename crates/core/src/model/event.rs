//! The event log: facts that happened. Events are only appended.

mod rendering;

use std::collections::BTreeMap;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{
    CommandPhase, DeliveryId, DiskLevel, EnvironmentSource, Evidence, Exit, FailureClass,
    HandoffForm, InterruptMethod, LaunchId, LaunchMode, MessageId, PlanId, PlanName, PlanState,
    PlanTaskName, RefName, RepetitionKind, ReplyState, SessionId, Source, SourceName, Status,
    TaskId, TaskStateKind, VendorId, VendorSessionId, WaitingFor,
};
use crate::word_enum::word_enum;

/// An event with its position in the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Event {
    pub seq: i64,
    #[serde(flatten)]
    pub fact: NewEvent,
}

/// An event that is not in the log yet. In JSON it has `kind`, `text` and `data` instead of the
/// payload.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(into = "WrittenEvent", from = "WrittenEvent")]
pub struct NewEvent {
    pub at: Timestamp,
    pub session: Option<SessionId>,
    pub launch: Option<LaunchId>,
    pub payload: EventPayload,
}

/// What happened, as data. `Display` renders it as one sentence for the user.
///
/// Each kind of event has one variant. Paths are text, because they are only shown. `address` is the
/// address that the session had at that time, and is serialized as `address_then`: the JSON of an
/// event also has the current address of its session, as `address`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "data", rename_all = "snake_case")]
pub enum EventPayload {
    SessionCreated {
        #[serde(rename = "address_then")]
        address: String,
    },
    SessionRemoved {
        #[serde(rename = "address_then")]
        address: String,
    },
    LaunchPlanned {
        number: u32,
        mode: LaunchMode,
    },
    LaunchStarted {
        pid: Option<u32>,
        /// The process was started by an earlier daemon, and this daemon found it alive.
        found_alive: bool,
    },
    LaunchEnded {
        exit: Exit,
        /// `segue stop` requested the end.
        #[serde(rename = "asked", alias = "is_requested")]
        is_requested: bool,
        /// The agent's last output, if it may explain the end.
        cause: Option<String>,
        /// The error of a start that failed.
        start_error: Option<String>,
    },
    Bound {
        vendor_session: VendorSessionId,
        evidence: Evidence,
    },
    BindingRefused {
        wanted: Option<VendorSessionId>,
        found: VendorSessionId,
    },
    StatusChanged {
        status: Status,
        /// The source of the signal that changed the status.
        source: Option<Source>,
        /// An explanation that is not part of the status.
        note: Option<String>,
    },
    LeftoversEnded {
        /// The launch that left the processes behind. `None` for several launches.
        of: Option<LaunchId>,
        processes: Vec<LeftoverProcess>,
    },
    TranscriptRestored {
        /// The path of the transcript, or the conversation if it has no file.
        what: String,
        from: RestoreSource,
        /// Why the transcript could not be restored. `None` if it was restored.
        error: Option<String>,
    },
    TranscriptUnguarded {
        path: String,
    },
    ArchiveDropped {
        vendor: VendorId,
        conversation: VendorSessionId,
        bytes: u64,
    },
    RestartPlanned {
        after_ms: u64,
    },
    /// A restart that was due found its environment.
    EnvironmentFound {
        source: EnvironmentSource,
    },
    GaveUp {
        reason: String,
        /// The address of the session, if `segue resume` may bring it back.
        resumable: Option<String>,
    },
    Trusted {
        folder: String,
    },
    StoreRebuilt {
        #[serde(rename = "address_then")]
        address: String,
        launch_folders: usize,
    },
    TurnFailed {
        class: FailureClass,
        message: String,
    },
    MessageQueued {
        message: MessageId,
        /// Why a message that was being typed is queued again. `None` for a new message.
        again: Option<String>,
    },
    MessageTyped {
        message: MessageId,
    },
    MessageDelivered {
        message: MessageId,
    },
    MessageUncertain {
        message: MessageId,
        reason: String,
    },
    MessageCancelled {
        message: MessageId,
    },
    /// The question that the agent asks a person is on its screen, and can be answered.
    Asked {
        kind: WaitingFor,
        /// The question, without its secrets.
        question: Option<String>,
    },
    Answered {
        given: String,
        /// The question, without its secrets.
        question: Option<String>,
    },
    /// A person or an agent has interrupted the turn.
    TurnInterrupted {
        method: InterruptMethod,
    },
    /// The work of a session repeats itself, so a person is needed.
    RepetitionFound {
        #[serde(rename = "repeats")]
        kind: RepetitionKind,
        what: String,
        times: u32,
    },
    /// The work of a session no longer repeats itself, or a person lets it go on.
    RepetitionOver {
        #[serde(rename = "repeats")]
        kind: RepetitionKind,
        by_person: bool,
    },
    HandedOver {
        from: String,
        to: String,
        form: HandoffForm,
    },
    Renamed {
        from: String,
        to: String,
    },
    SettingsChanged {
        keys: Vec<String>,
    },
    /// The folder of a session's worktree was made or made again.
    WorktreeMade(MadeWorktreeFacts),
    WorktreeRemoved(RemovedWorktreeFacts),
    /// A command of a worktree was started, or has ended.
    WorktreeCommand(WorktreeCommandFacts),
    /// A task was added, or its state has changed.
    TaskChanged {
        task: TaskId,
        state: TaskStateKind,
        /// Why the task waits, has failed, or is started again.
        reason: Option<String>,
    },
    /// The report of a task or an agent was dropped, because the session of its parent was removed.
    ReportDropped {
        /// The task or the session that has reported, with its id.
        child: String,
        parent: SessionId,
    },
    /// A file was applied: a plan was added or changed.
    PlanApplied {
        plan: PlanId,
        name: PlanName,
        /// How many tasks the file has added, changed and removed.
        added: usize,
        changed: usize,
        removed: usize,
    },
    /// The state of a plan has changed.
    PlanChanged {
        plan: PlanId,
        name: PlanName,
        state: PlanState,
    },
    /// A task of a plan waits for the approval of a person.
    PlanGateReached {
        plan: PlanId,
        name: PlanName,
        gate: PlanTaskName,
    },
    PlanGateApproved {
        plan: PlanId,
        name: PlanName,
        gate: PlanTaskName,
    },
    /// The daemon accepts requests over a network from now on, or no longer.
    ListenerChanged {
        /// `None` if it was switched off.
        address: Option<String>,
    },
    TokenCreated {
        name: String,
    },
    TokenRevoked {
        name: String,
    },
    /// The events of a delivery were compared with the rules.
    DeliveryProcessed {
        delivery: DeliveryId,
        source: SourceName,
        /// What the delivery did, as a text for people.
        what: String,
    },
    /// The result of a task was written as a comment, or cannot be written.
    ReplyChanged {
        task: TaskId,
        state: ReplyState,
        reason: Option<String>,
    },
    /// The forge of a source cannot be asked, or can be asked again.
    SourceChanged {
        source: SourceName,
        /// `None` if it works again.
        failure: Option<String>,
    },
    /// The work on an issue is over: its worktrees are removed.
    IssueCleanedUp {
        source: SourceName,
        issue: String,
        worktrees: usize,
    },
    /// Old things were removed.
    Swept(SweptFacts),
    /// The disk use has reached another level of the user's budget.
    DiskLevelChanged {
        level: DiskLevel,
        used: u64,
        budget: u64,
    },
    /// The conversation about an issue was dropped. The next task about it begins a new one.
    IssueReset {
        agent: String,
        repository: String,
        issue: String,
    },
    /// An event whose data are missing or cannot be parsed, because another version recorded it.
    /// Only its kind and its text are known.
    #[serde(skip)]
    Recorded {
        kind: EventKind,
        text: String,
    },
}

/// A worktree whose folder was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MadeWorktreeFacts {
    pub path: String,
    pub branch: String,
    /// Where the content comes from.
    pub origin: String,
    /// Unusual things that were handled, one sentence each.
    pub notices: Vec<String>,
}

/// A worktree whose folder was removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemovedWorktreeFacts {
    pub path: String,
    pub branch: String,
    /// The ref that holds what the branch does not have. `None` if the branch has everything.
    pub salvage: Option<RefName>,
}

/// A setup or teardown command of a worktree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorktreeCommandFacts {
    pub branch: String,
    pub phase: CommandPhase,
    pub command: String,
    /// How the command ended. `None` if it was started.
    pub ending: Option<String>,
}

/// What a sweep has removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SweptFacts {
    /// How many things of each kind were removed.
    pub removed: BTreeMap<String, usize>,
    /// How many things were not removed because of an error.
    pub failed: usize,
    /// The reason of the removal: they were old, or the disk budget was used up.
    pub reason: String,
}

/// A process that a dead launch left behind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftoverProcess {
    pub pid: u32,
    pub command: String,
}

/// What a transcript was restored from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RestoreSource {
    /// The guard of an earlier launch of the same session.
    Guard(LaunchId),
    Archive,
    /// The guard of the launch whose start deleted the transcript of another session.
    OwnGuard,
}

word_enum! {
    /// The category of an event.
    pub enum EventKind {
        SessionCreated = "session_created",
        SessionRemoved = "session_removed",
        LaunchPlanned = "launch_planned",
        LaunchStarted = "launch_started",
        LaunchEnded = "launch_ended",
        Bound = "bound",
        BindingRefused = "binding_refused",
        StatusChanged = "status_changed",
        LeftoversEnded = "leftovers_ended",
        TranscriptRestored = "transcript_restored",
        TranscriptUnguarded = "transcript_unguarded",
        ArchiveDropped = "archive_dropped",
        RestartPlanned = "restart_planned",
        EnvironmentFound = "environment_found",
        GaveUp = "gave_up",
        Trusted = "trusted",
        StoreRebuilt = "store_rebuilt",
        TurnFailed = "turn_failed",
        MessageQueued = "message_queued",
        MessageTyped = "message_typed",
        MessageDelivered = "message_delivered",
        MessageUncertain = "message_uncertain",
        MessageCancelled = "message_cancelled",
        Asked = "asked",
        Answered = "answered",
        TurnInterrupted = "turn_interrupted",
        RepetitionFound = "repetition_found",
        RepetitionOver = "repetition_over",
        HandedOver = "handed_over",
        Renamed = "renamed",
        SettingsChanged = "settings_changed",
        WorktreeMade = "worktree_made",
        WorktreeRemoved = "worktree_removed",
        WorktreeCommand = "worktree_command",
        TaskChanged = "task_changed",
        ReportDropped = "report_dropped",
        PlanApplied = "plan_applied",
        PlanChanged = "plan_changed",
        PlanGateReached = "plan_gate_reached",
        PlanGateApproved = "plan_gate_approved",
        ListenerChanged = "listener_changed",
        TokenCreated = "token_created",
        TokenRevoked = "token_revoked",
        DeliveryProcessed = "delivery_processed",
        ReplyChanged = "reply_changed",
        SourceChanged = "source_changed",
        IssueCleanedUp = "issue_cleaned_up",
        Swept = "swept",
        DiskLevelChanged = "disk_level_changed",
        IssueReset = "issue_reset",
    }
}

impl EventPayload {
    pub fn kind(&self) -> EventKind {
        match self {
            Self::SessionCreated { .. } => EventKind::SessionCreated,
            Self::SessionRemoved { .. } => EventKind::SessionRemoved,
            Self::LaunchPlanned { .. } => EventKind::LaunchPlanned,
            Self::LaunchStarted { .. } => EventKind::LaunchStarted,
            Self::LaunchEnded { .. } => EventKind::LaunchEnded,
            Self::Bound { .. } => EventKind::Bound,
            Self::BindingRefused { .. } => EventKind::BindingRefused,
            Self::StatusChanged { .. } => EventKind::StatusChanged,
            Self::LeftoversEnded { .. } => EventKind::LeftoversEnded,
            Self::TranscriptRestored { .. } => EventKind::TranscriptRestored,
            Self::TranscriptUnguarded { .. } => EventKind::TranscriptUnguarded,
            Self::ArchiveDropped { .. } => EventKind::ArchiveDropped,
            Self::RestartPlanned { .. } => EventKind::RestartPlanned,
            Self::EnvironmentFound { .. } => EventKind::EnvironmentFound,
            Self::GaveUp { .. } => EventKind::GaveUp,
            Self::Trusted { .. } => EventKind::Trusted,
            Self::StoreRebuilt { .. } => EventKind::StoreRebuilt,
            Self::TurnFailed { .. } => EventKind::TurnFailed,
            Self::MessageQueued { .. } => EventKind::MessageQueued,
            Self::MessageTyped { .. } => EventKind::MessageTyped,
            Self::MessageDelivered { .. } => EventKind::MessageDelivered,
            Self::MessageUncertain { .. } => EventKind::MessageUncertain,
            Self::MessageCancelled { .. } => EventKind::MessageCancelled,
            Self::Asked { .. } => EventKind::Asked,
            Self::Answered { .. } => EventKind::Answered,
            Self::TurnInterrupted { .. } => EventKind::TurnInterrupted,
            Self::RepetitionFound { .. } => EventKind::RepetitionFound,
            Self::RepetitionOver { .. } => EventKind::RepetitionOver,
            Self::HandedOver { .. } => EventKind::HandedOver,
            Self::Renamed { .. } => EventKind::Renamed,
            Self::SettingsChanged { .. } => EventKind::SettingsChanged,
            Self::WorktreeMade(_) => EventKind::WorktreeMade,
            Self::WorktreeRemoved(_) => EventKind::WorktreeRemoved,
            Self::WorktreeCommand(_) => EventKind::WorktreeCommand,
            Self::TaskChanged { .. } => EventKind::TaskChanged,
            Self::ReportDropped { .. } => EventKind::ReportDropped,
            Self::PlanApplied { .. } => EventKind::PlanApplied,
            Self::PlanChanged { .. } => EventKind::PlanChanged,
            Self::PlanGateReached { .. } => EventKind::PlanGateReached,
            Self::PlanGateApproved { .. } => EventKind::PlanGateApproved,
            Self::ListenerChanged { .. } => EventKind::ListenerChanged,
            Self::TokenCreated { .. } => EventKind::TokenCreated,
            Self::TokenRevoked { .. } => EventKind::TokenRevoked,
            Self::DeliveryProcessed { .. } => EventKind::DeliveryProcessed,
            Self::ReplyChanged { .. } => EventKind::ReplyChanged,
            Self::SourceChanged { .. } => EventKind::SourceChanged,
            Self::IssueCleanedUp { .. } => EventKind::IssueCleanedUp,
            Self::Swept(_) => EventKind::Swept,
            Self::DiskLevelChanged { .. } => EventKind::DiskLevelChanged,
            Self::IssueReset { .. } => EventKind::IssueReset,
            Self::Recorded { kind, .. } => *kind,
        }
    }

    /// Returns the payload without its kind, as JSON. `None` if only the text is known.
    pub fn data(&self) -> Option<Value> {
        let mut written = serde_json::to_value(self).ok()?;
        written.get_mut("data").map(Value::take)
    }

    /// Parses the payload of a recorded event. Returns [`Self::Recorded`] if the data are missing or
    /// were written by another version.
    pub fn parse(kind: EventKind, text: String, data: Option<Value>) -> Self {
        let parse = |data| serde_json::from_value(json!({"kind": kind, "data": data})).ok();
        data.and_then(parse).unwrap_or(Self::Recorded { kind, text })
    }
}

/// A [`NewEvent`] in JSON.
#[derive(Serialize, Deserialize, JsonSchema)]
struct WrittenEvent {
    at: Timestamp,
    session: Option<SessionId>,
    launch: Option<LaunchId>,
    kind: EventKind,
    text: String,
    #[serde(default)]
    data: Option<Value>,
}

impl From<NewEvent> for WrittenEvent {
    fn from(NewEvent { at, session, launch, payload }: NewEvent) -> Self {
        let (kind, text, data) = (payload.kind(), payload.to_string(), payload.data());
        Self { at, session, launch, kind, text, data }
    }
}

impl From<WrittenEvent> for NewEvent {
    fn from(WrittenEvent { at, session, launch, kind, text, data }: WrittenEvent) -> Self {
        Self { at, session, launch, payload: EventPayload::parse(kind, text, data) }
    }
}

#[cfg(test)]
mod tests;
