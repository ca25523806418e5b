//! The messages to an actor: requests, observations and timeouts.

use std::path::PathBuf;

use segue_core::Result;
use segue_core::api::{
    AgentOutcome, AnswerReport, InterruptReport, PlannedOutcome, SendReport, SessionView,
    TurnReport,
};
use segue_core::flows::launch::LaunchRequest;
use segue_core::flows::look::SelectionMode;
use segue_core::flows::messages::NewMessage;
use segue_core::flows::settings::NewSettings;
use segue_core::flows::usage::UsageScan;
use segue_core::model::{Environment, LaunchId, MessageId, RequestKey, SessionName, Timer};
use segue_core::ports::{self, Change, Commit, HolderEvent};
use segue_core::rules::repetition::RepeatedCalls;
use tokio::sync::oneshot;

use super::super::accounts::StartTrigger;
use super::{ConversationRenewal, Outgoing, Reply, SessionRemoval, Start, Waiter};

/// A message to an actor.
#[derive(Debug)]
pub(crate) enum ActorMessage {
    Request(SessionRequest),
    Observation(SessionObservation),
    Timeout(SessionTimeout),
}

impl From<SessionRequest> for ActorMessage {
    fn from(request: SessionRequest) -> Self {
        Self::Request(request)
    }
}

impl From<SessionObservation> for ActorMessage {
    fn from(observation: SessionObservation) -> Self {
        Self::Observation(observation)
    }
}

impl From<SessionTimeout> for ActorMessage {
    fn from(timeout: SessionTimeout) -> Self {
        Self::Timeout(timeout)
    }
}

/// A request of a client or of the supervisor.
#[derive(Debug)]
pub(crate) enum SessionRequest {
    /// Starts a new session.
    Start {
        start: Box<Start>,
        reply: Reply<SessionView>,
    },
    /// Starts a new session, and replies when it has proven its conversation.
    StartVerified {
        start: Box<Start>,
        reply: Reply<AgentOutcome>,
    },
    Resume {
        environment: Environment,
        selection: SelectionMode,
        /// `Some` starts a new conversation.
        fresh: Option<ConversationRenewal>,
        trigger: StartTrigger,
        reply: Reply<AgentOutcome>,
    },
    /// Starts the session with a conversation that a handoff brought to it.
    StartHandedOver {
        launch: Box<LaunchRequest>,
        trigger: StartTrigger,
        reply: Reply<AgentOutcome>,
    },
    Rename {
        name: SessionName,
        by: SessionRenamer,
        reply: Reply<()>,
    },
    /// Interrupts the turn of the agent.
    Interrupt {
        request: Option<RequestKey>,
        reply: Reply<InterruptReport>,
    },
    Plan {
        selection: SelectionMode,
        reply: Reply<PlannedOutcome>,
    },
    Stop {
        reply: Reply<bool>,
    },
    Remove(Box<SessionRemoval>),
    /// Removes the session after its usage was counted. Only the actor itself sends this.
    CompleteRemoval(Box<SessionRemoval>),
    /// Fails if a start of the session waits.
    CheckNoStart {
        reply: Reply<()>,
    },
    WaitTurn {
        reply: Reply<TurnReport>,
    },
    /// Finds out what happened to the launch that was open when the daemon started.
    Reconcile {
        reply: oneshot::Sender<()>,
    },
    SetTimers {
        timers: Vec<Timer>,
        reply: Reply<()>,
    },
    /// Records settings. Returns the keys that change the next launch.
    Configure {
        settings: NewSettings,
        reply: Reply<Vec<&'static str>>,
    },
    /// Copies the conversation into the archive, because it has grown while no actor watched it.
    Archive,
    /// Counts what the session has used until now.
    CountUsage {
        reply: Reply<()>,
    },
    /// Ends the actor unless it has work to do, because too many idle sessions are in memory.
    Retire,
    /// Queues a message to the agent.
    Send {
        outgoing: Outgoing,
        reply: Reply<MessageId>,
    },
    /// Queues a message that begins no turn by itself: a headless session gets it with its next turn.
    Queue {
        message: NewMessage,
        /// Recorded in the same commit.
        same_commit: Commit,
        reply: Reply<MessageId>,
    },
    Cancel {
        message: MessageId,
        /// Recorded in the same commit.
        same_commit: Vec<Change>,
        reply: Reply<()>,
    },
    /// Returns the current state of a message.
    Report {
        message: MessageId,
        reply: Reply<SendReport>,
    },
    Answer {
        answer: ports::Answer,
        /// The id of the question to answer. `None` accepts any question.
        question: Option<String>,
        request: Option<RequestKey>,
        reply: Reply<AnswerReport>,
    },
    Wait(Waiter),
}

impl SessionRequest {
    /// Returns a request to remove the session, and with `purge` also its conversations.
    /// `same_commit` is recorded in the same commit.
    pub(crate) fn remove(purge: bool, same_commit: Vec<Change>, reply: Reply<()>) -> Self {
        Self::Remove(Box::new(SessionRemoval { purge, same_commit, reply }))
    }
}

/// Who renames a session.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SessionRenamer {
    /// A person, with this request.
    Person(Option<RequestKey>),
    /// `segue up`, which gives the name of an agent to its current session.
    Up,
}

/// An event of the processes and files of a session.
#[derive(Debug)]
pub(crate) enum SessionObservation {
    Holder {
        launch: LaunchId,
        event: HolderEvent,
    },
    /// The daemon receives the events of this launch's holder from now on.
    Subscribed {
        launch: LaunchId,
    },
    HolderGone {
        launch: LaunchId,
    },
    FileChanged {
        path: PathBuf,
    },
    /// Events about file changes were lost, so the actor has to read all files again.
    ChangesLost,
    /// A copy into the archive is finished.
    Archived {
        round: u64,
    },
    /// The transcripts were read for the tokens that the session has used.
    UsageRead {
        scan: Result<UsageScan>,
    },
    /// The end of the transcript was read for tool calls that repeat.
    CallsRead {
        found: Result<Option<RepeatedCalls>>,
    },
    /// The login shell was read for a restart after this launch.
    EnvironmentRead {
        after: LaunchId,
        read: Result<Environment>,
    },
}

/// A time that the actor chose has passed.
#[derive(Debug)]
pub(crate) enum SessionTimeout {
    /// The pause before the next attempt to record events is over.
    RetryRecording,
    /// The pause before the restart after this launch is over.
    RestartDue {
        after: LaunchId,
    },
    /// The silence timeout of a headless launch has passed. `output_lines` is the number of output
    /// lines that had been read when the timeout started.
    Silent {
        launch: LaunchId,
        output_lines: u64,
    },
    /// The time limit of the vendor for the evidence of a launch is over.
    EvidenceOverdue {
        launch: LaunchId,
    },
    /// A launch should have shown its conversation by now.
    NoEvidence {
        launch: LaunchId,
    },
    /// The time for which a launch may block other starts is over.
    StopBlocking {
        launch: LaunchId,
    },
    TimerDue {
        launch: LaunchId,
        round: u64,
    },
    /// The time for which other sessions wait for the scout of their account is over.
    ScoutTimeout {
        launch: LaunchId,
    },
    /// Typing paused because the screen was changing, and may be tried again now.
    RetryTyping,
    /// The question on the screen may have changed.
    ReadDialog,
    /// A message was typed and should have been accepted by now.
    CheckMessage {
        message: MessageId,
    },
    /// A message was typed and is overdue now.
    Overdue {
        message: MessageId,
    },
}
