//! Memory: one atomic write, a few reads.

use std::fmt::Debug;
use std::path::Path;

use async_trait::async_trait;
use jiff::Timestamp;

use crate::error::Result;
use crate::model::{
    AgentName, Binding, Counts, Event, Fleet, FleetName, Handoff, Launch, LaunchEnd, LaunchId,
    Message, MessageId, MessageState, NewEvent, Permission, ProcessRef, RequestKey, RequestRecord,
    RequestStep, Session, SessionId, SessionName, Status, Timer, Trust,
};

/// What Segue remembers. A commit is on disk when it returns, all of it or none.
#[async_trait]
pub trait Store: Debug + Send + Sync {
    /// Applies changes and appends events; returns the sequence number of the last event in the log.
    async fn commit(&self, commit: Commit) -> Result<i64>;

    async fn session(&self, id: SessionId) -> Result<Option<Session>>;

    /// Returns all sessions, the oldest first.
    async fn sessions(&self) -> Result<Vec<SessionSummary>>;

    /// Returns a session's launches, the oldest first.
    async fn launches(&self, session: SessionId) -> Result<Vec<Launch>>;

    /// Returns every launch without an end.
    async fn open_launches(&self) -> Result<Vec<Launch>>;

    /// Returns a session's ledger, the oldest line first.
    async fn bindings(&self, session: SessionId) -> Result<Vec<Binding>>;

    async fn events(&self, query: &EventQuery) -> Result<Vec<Event>>;

    async fn fleet(&self, name: &FleetName) -> Result<Option<Fleet>>;

    /// Returns the fleets whose project folder this is, the oldest first.
    async fn fleets_of(&self, folder: &Path) -> Result<Vec<Fleet>>;

    /// Returns how many agents of a kind a fleet has, where somebody said so.
    async fn counts(&self, fleet: &FleetName) -> Result<Counts>;

    /// Returns what is said to a session again and again, in its order.
    async fn timers(&self, session: SessionId) -> Result<Vec<Timer>>;

    async fn trust(&self, folder: &Path) -> Result<Option<Trust>>;

    /// Returns messages, the oldest first.
    async fn messages(&self, query: &MessageQuery) -> Result<Vec<Message>>;

    /// Returns the steps by which a session's conversation came to it and went on from it, the oldest
    /// first.
    async fn handoffs(&self, session: SessionId) -> Result<Vec<Handoff>>;

    /// Returns the steps of all conversations from one session to another, the oldest first.
    async fn all_handoffs(&self) -> Result<Vec<Handoff>>;

    async fn message(&self, id: MessageId) -> Result<Option<Message>>;

    /// Returns the steps that a request has taken, the oldest first. Old requests are forgotten.
    async fn request(&self, key: RequestKey) -> Result<Vec<RequestStep>>;
}

/// Changes and the facts they come from, together or not at all.
#[derive(Clone, Debug, Default)]
pub struct Commit {
    pub changes: Vec<Change>,
    pub events: Vec<NewEvent>,
}

/// One change. Whatever contradicts what is stored is a conflict, and nothing is written.
#[derive(Clone, Debug)]
pub enum Change {
    /// Makes a fleet known; one name with two folders is a conflict, one folder may have several.
    PutFleet(Fleet),
    /// A name that is taken in its fleet is a conflict.
    CreateSession(Box<Session>),
    SetStatus {
        session: SessionId,
        status: Status,
        at: Timestamp,
    },
    /// Sets `Session::spoke`, until the session is bound to another conversation.
    MarkSpoke {
        session: SessionId,
    },
    SetArchive {
        session: SessionId,
        archive: bool,
    },
    /// Permissions only get tighter; a looser one is a conflict.
    TightenPermission {
        session: SessionId,
        permission: Permission,
        at: Timestamp,
    },
    /// A name that another session of the fleet has is a conflict.
    RenameSession {
        session: SessionId,
        name: SessionName,
    },
    /// A second open launch of a session is a conflict.
    CreateLaunch(Box<Launch>),
    /// Records the processes of an open launch.
    SetProcesses {
        launch: LaunchId,
        holder: Option<ProcessRef>,
        agent: Option<ProcessRef>,
    },
    /// Closes a launch; one that is closed already keeps its first end, without a conflict.
    EndLaunch {
        launch: LaunchId,
        end: LaunchEnd,
    },
    /// Appends to the ledger. An id that another session has is a conflict. With another id than the
    /// newest line has, nothing was said yet: `Session::spoke` is taken back.
    AddBinding(Binding),
    /// Forgets a session with its launches and bindings; its events stay. An open launch is a conflict.
    RemoveSession(SessionId),
    /// Remembers that a conversation went on under another session.
    AddHandoff(Box<Handoff>),
    PutTrust(Trust),
    /// Remembers how many agents of a kind a fleet has.
    SetCount {
        fleet: FleetName,
        agent: AgentName,
        count: u32,
    },
    /// Says what is said to a session again and again, instead of what was.
    SetTimers {
        session: SessionId,
        timers: Vec<Timer>,
    },
    /// Takes in a message to an agent.
    AddMessage(Box<Message>),
    /// Moves a message on; one that is settled already is a conflict.
    SetMessage {
        message: MessageId,
        state: MessageState,
        at: Timestamp,
    },
    /// Records a step of a request; a step that the request has already is a conflict.
    RecordRequest(Box<RequestRecord>),
}

/// A session with what lists show about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionSummary {
    pub session: Session,
    /// The newest line of its ledger.
    pub binding: Option<Binding>,
    pub open: Option<OpenLaunch>,
    pub launches: u32,
    /// Messages whose fate is not settled.
    pub queued_messages: u32,
}

/// The launch that is thought to be alive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenLaunch {
    pub id: LaunchId,
    pub holder: Option<ProcessRef>,
    pub agent: Option<ProcessRef>,
}

/// Which events to return: those after a sequence number, the oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventQuery {
    pub after: i64,
    /// Only events of these sessions; all events if there are none.
    pub sessions: Vec<SessionId>,
    pub limit: u32,
    /// If there are more than `limit`, the newest of them instead of the oldest.
    pub newest: bool,
}

/// Which messages to return.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MessageQuery {
    pub session: Option<SessionId>,
    /// Only those whose fate is not settled.
    pub open: bool,
}
