//! Holders: the processes that own one launch's terminal each.

use std::fmt::{self, Debug};
use std::path::PathBuf;
use std::time::Duration;

use async_trait::async_trait;

use super::{OpenLaunch, Screen};
use crate::error::{Error, Result};
use crate::model::{
    Environment, LaunchEnd, LaunchId, LaunchRecord, MessageId, ProcessRef, SessionId, TerminalSize,
};

/// Starting holders and talking to them. A holder outlives whoever started it.
#[async_trait]
pub trait Holders: Debug + Send + Sync {
    /// Starts a holder for a launch whose folder is written; returns once the vendor's process
    /// exists. A session that another holder has is a conflict.
    async fn start(&self, order: &StartOrder) -> Result<Held>;

    /// Returns the launch's holder, if it is alive.
    async fn find(&self, launch: LaunchId) -> Result<Option<Held>>;

    /// Gives up a launch whose holder does not answer: if one is still on its way it is waited for
    /// and returned; otherwise the launch's end, which nobody knows, is on disk when this returns,
    /// and a holder that came after all would start nothing.
    async fn abandon(&self, session: SessionId, launch: LaunchId) -> Result<Option<Held>>;

    /// Ends the agent and every descendant; returns when all are gone and the end is on disk. A
    /// holder that does not answer is ended with them.
    async fn stop(&self, launch: LaunchId, grace: Duration) -> Result<Option<LaunchEnd>>;

    /// Returns what keeps a launch from working, as far as it shows without asking its holder.
    fn fault(&self, launch: &OpenLaunch) -> Option<Fault>;

    /// Cures a fault: continues what is stopped, and has a holder listen again. A holder that does
    /// not answer then is ended with its agent.
    async fn cure(&self, launch: LaunchId, fault: Fault) -> Result<()>;

    /// Returns the environment that the agent was started with, with the size that its terminal
    /// has now (`rules::terminal`).
    async fn environment(&self, launch: LaunchId) -> Result<Option<Environment>>;

    /// Lets a holder go whose agent has ended: nobody needs its memory any more.
    async fn release(&self, launch: LaunchId) -> Result<()>;

    /// Types bytes into the agent's terminal.
    async fn inject(&self, launch: LaunchId, bytes: &[u8]) -> Result<()>;

    /// Returns what the agent's terminal shows; none without a holder or a terminal.
    async fn screen(&self, launch: LaunchId) -> Result<Option<Screen>>;

    /// Types a message: pastes it, waits until the agent has drawn it, and sends it. The holder
    /// does all of it, whatever becomes of the caller, and never the same message twice.
    async fn type_message(&self, launch: LaunchId, order: &TypeOrder) -> Result<Typed>;

    /// Presses keys if nothing was drawn or typed since this revision of the screen; tells whether.
    async fn press(&self, launch: LaunchId, keys: &[u8], revision: u64) -> Result<bool>;

    /// Follows what happens in the holder.
    async fn subscribe(&self, launch: LaunchId) -> Result<Box<dyn HolderEvents>>;
}

/// What is needed to start a holder beyond the record on disk.
#[derive(Clone, Debug)]
pub struct StartOrder {
    pub record: LaunchRecord,
    /// The whole command line; the record's copy is for reading.
    pub argv: Vec<String>,
    /// A command that has to end well before; none where nothing has to be prepared.
    pub before: Vec<String>,
    /// What a headless launch reads.
    pub input: Option<PathBuf>,
    pub environment: Environment,
    /// What the agent's terminal begins with, unless the launch is headless.
    pub size: TerminalSize,
}

/// A live holder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    pub holder: ProcessRef,
    pub agent: Option<ProcessRef>,
    /// Set when the agent has ended and the holder only keeps its environment.
    pub end: Option<LaunchEnd>,
}

/// What keeps the processes of a launch from working.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A signal stopped the holder.
    HolderStopped { pid: u32 },
    /// The holder runs, but does not answer.
    HolderSilent { pid: u32 },
    /// The file of the holder's socket is gone.
    SocketMissing { pid: u32 },
    /// A signal stopped a process of the agent.
    AgentStopped { pid: u32 },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::HolderStopped { pid } => {
                write!(f, "the process that holds the agent is stopped, pid {pid}")
            }
            Self::HolderSilent { pid } => {
                write!(f, "the process that holds the agent does not answer, pid {pid}")
            }
            Self::SocketMissing { pid } => {
                write!(f, "the socket of the process that holds the agent is gone, pid {pid}")
            }
            Self::AgentStopped { pid } => write!(f, "the agent's process is stopped, pid {pid}"),
        }
    }
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Self {
        let error = Self::unavailable(fault.to_string());
        let error = match fault {
            Fault::HolderStopped { pid } => error
                .hint(format!("run `kill -CONT {pid}` or `segue doctor --fix` to let it go on")),
            Fault::SocketMissing { .. }
            | Fault::HolderSilent { .. }
            | Fault::AgentStopped { .. } => {
                error.hint("run `segue doctor --fix` to reach it again")
            }
        };
        error.hint("run `segue stop` to end it; the conversation stays")
    }
}

/// A subscription to one holder.
#[async_trait]
pub trait HolderEvents: Debug + Send {
    /// Returns the next event; `None` when the holder is gone.
    async fn next(&mut self) -> Option<HolderEvent>;
}

/// What a holder tells its subscribers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HolderEvent {
    Title(String),
    Bell,
    /// The agent drew something, and has been quiet for a moment.
    Settled,
    /// The agent ended; every descendant is gone and the end is on disk.
    Ended(LaunchEnd),
}

/// A message that is to be typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeOrder {
    pub message: MessageId,
    pub text: String,
    /// The screen on which it was decided that the input is ready.
    pub revision: u64,
}

/// What came of an order to type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Typed {
    /// It is being typed.
    Now,
    /// This holder was told to type this message before.
    Before,
    /// Something was drawn or typed since: nothing was done.
    Changed,
}
