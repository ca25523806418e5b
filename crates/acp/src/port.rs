//! The port to the daemon and to the conversations.

use std::fmt::Debug;

use async_trait::async_trait;
use segue_core::Result;
use segue_core::api::{
    AnswerRequest, Caller, MessageWaitRequest, RestoreReport, ResumeRequest, RunRequest,
    SendReport, SendRequest, SessionList, SessionOptions, SessionView, SettingsReport,
    SettingsRequest, StartedSession,
};
use segue_core::model::{Event, MessageId, SessionId, Turn, VendorSessionId};

/// Sends requests to the daemon with the rights of this process, and reads conversations. A request
/// whose connection breaks is sent again; a change is still carried out once.
#[async_trait]
pub trait EditorPort: Debug + Send + Sync + 'static {
    /// Returns the working folder and the environment of this process.
    fn caller(&self) -> Caller;

    /// Returns whether the program of a session can use MCP servers of the editor.
    fn uses_mcp_servers(&self, view: &SessionView) -> bool;

    async fn run(&self, request: &RunRequest) -> Result<StartedSession>;

    /// Brings sessions back.
    async fn resume(&self, request: &ResumeRequest) -> Result<RestoreReport>;

    /// Finds a session by its address or its id.
    async fn session(&self, address: &str) -> Result<SessionView>;

    /// Lists sessions in pages.
    async fn sessions(&self, cursor: Option<&str>) -> Result<SessionList>;

    /// Lists the permissions, models and commands that a session accepts.
    async fn options(&self, session: SessionId) -> Result<SessionOptions>;

    /// Changes settings of a session. Its agent gets them with its next message.
    async fn change_settings(&self, request: &SettingsRequest) -> Result<SettingsReport>;

    async fn send(&self, request: &SendRequest) -> Result<SendReport>;

    /// Waits until the turn of a message is over, or the agent asks a question. Survives restarts of
    /// the daemon.
    async fn wait(&self, request: &MessageWaitRequest) -> Result<SendReport>;

    /// Cancels a message that is still queued.
    async fn cancel(&self, message: MessageId) -> Result<()>;

    /// Interrupts the turn of an agent.
    async fn interrupt(&self, session: SessionId) -> Result<()>;

    async fn answer(&self, request: &AnswerRequest) -> Result<()>;

    /// Streams the events of a session from now on.
    async fn events(&self, session: SessionId) -> Result<Box<dyn SessionEventFeed>>;

    /// Reads the conversation of a session.
    async fn conversation(&self, session: SessionId, start: FeedStart)
    -> Result<Box<dyn TurnFeed>>;
}

/// Where the reading of a conversation begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FeedStart {
    /// With the first turn of the first conversation from which handoffs led to the session.
    Story,
    /// With the first turn of the session's own conversation.
    Beginning,
    /// With the next turn.
    End,
}

/// The events of a session.
#[async_trait]
pub trait SessionEventFeed: Send + Sync {
    /// Waits for the next event. Survives restarts of the daemon. May be dropped at any time.
    async fn next(&mut self) -> Result<Event>;
}

/// The turns of a conversation.
#[async_trait]
pub trait TurnFeed: Send + Sync {
    /// Returns the vendor's id of the conversation. `None` if the vendor has not shown it.
    fn conversation(&self) -> Option<VendorSessionId>;

    /// Waits until the conversation has changed. May be dropped at any time.
    async fn changed(&mut self) -> Result<()>;

    /// Returns the next turns, at most a few at a time. Empty if there are none yet.
    async fn news(&mut self) -> Result<Vec<Turn>>;
}
