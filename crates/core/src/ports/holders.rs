//! Holders. A holder is a process that owns the terminal of one launch.

use std::fmt::{self, Debug};
use std::path::PathBuf;
use std::time::Duration;

use async_trait::async_trait;

use super::OpenLaunch;
use crate::error::{Error, Result};
use crate::model::{
    Environment, LaunchEnd, LaunchId, LaunchRecord, MessageId, ProcessRef, Screen, SessionId,
    TerminalSize,
};

/// Starts holders and communicates with them. A holder outlives the process that started it.
#[async_trait]
pub trait Holders: Debug + Send + Sync {
    /// Starts a holder for a launch whose folder is written. Returns as soon as the vendor's
    /// process exists. Returns a conflict error if another holder has the session.
    async fn start(&self, order: &StartOrder) -> Result<Held>;

    /// Returns the launch's holder. `None` if it is not alive.
    async fn find(&self, launch: LaunchId) -> Result<Option<Held>>;

    /// Gives up a launch whose holder does not answer. If a holder is still starting, this waits
    /// for the holder and returns it. Otherwise this records on disk that the launch has ended with
    /// an unknown exit, and returns `None`. A holder that starts later finds that record and starts
    /// no agent.
    async fn abandon(&self, session: SessionId, launch: LaunchId) -> Result<Option<Held>>;

    /// Ends the agent and all of its descendants. Returns when all processes are gone and the end
    /// is on disk. A holder that does not answer is ended as well.
    async fn stop(&self, launch: LaunchId, grace: Duration) -> Result<Option<LaunchEnd>>;

    /// Returns what prevents a launch from working, as far as `/proc` and the files of the launch
    /// show it. Sends no request to the holder.
    fn fault(&self, launch: &OpenLaunch) -> Option<Fault>;

    /// Repairs a fault: continues stopped processes and makes a holder listen again. If the holder
    /// still does not answer, it is ended together with its agent.
    async fn cure(&self, launch: LaunchId, fault: Fault) -> Result<()>;

    /// Returns the environment that the agent was started with, plus the current size of its
    /// terminal (`rules::terminal`).
    async fn environment(&self, launch: LaunchId) -> Result<Option<Environment>>;

    /// Ends a holder whose agent has ended. The environment in the holder's memory is not needed any
    /// more.
    async fn release(&self, launch: LaunchId) -> Result<()>;

    /// Types bytes into the agent's terminal.
    async fn inject(&self, launch: LaunchId, bytes: &[u8]) -> Result<()>;

    /// Returns the contents of the agent's screen. `None` if the launch has no holder or no
    /// terminal.
    async fn screen(&self, launch: LaunchId) -> Result<Option<Screen>>;

    /// Types a message: pastes it, waits until the agent has drawn it, and presses Enter. The
    /// holder completes this even if the caller goes away, and types each message only once.
    async fn type_message(&self, launch: LaunchId, order: &TypeOrder) -> Result<Typed>;

    /// Presses keys if nothing was drawn or typed since this revision of the screen. Returns
    /// whether the keys were pressed.
    async fn press(&self, launch: LaunchId, keys: &[u8], revision: u64) -> Result<bool>;

    /// Replies to an open question of the agent. Without a text, the agent is refused what it has
    /// asked for. Returns whether the question was still open.
    async fn reply(&self, launch: LaunchId, question: &str, text: Option<&str>) -> Result<bool>;

    /// Subscribes to the holder's events.
    async fn subscribe(&self, launch: LaunchId) -> Result<Box<dyn HolderEvents>>;
}

/// The data that a holder needs to start, apart from the record on disk.
#[derive(Clone, Debug)]
pub struct StartOrder {
    pub record: LaunchRecord,
    /// The complete command line. The copy in the record is only for display.
    pub argv: Vec<String>,
    /// A command that must succeed before the agent starts. Empty if no preparation is needed.
    pub before: Vec<String>,
    /// The file that a headless launch reads as standard input.
    pub input: Option<PathBuf>,
    pub environment: Environment,
    /// Initial size of the agent's terminal. Unused if the launch is headless.
    pub size: TerminalSize,
}

/// A live holder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    pub holder: ProcessRef,
    pub agent: Option<ProcessRef>,
    /// `Some` if the agent has ended. The holder then only keeps the agent's environment.
    pub end: Option<LaunchEnd>,
}

/// What prevents the processes of a launch from working.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A signal stopped the holder.
    HolderStopped { pid: u32 },
    /// The holder runs, but does not answer.
    HolderSilent { pid: u32 },
    /// The holder's socket file is missing.
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
    /// Returns the next event. `None` if the holder is gone.
    async fn next(&mut self) -> Option<HolderEvent>;
}

/// An event that a holder sends to its subscribers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HolderEvent {
    Title(String),
    Bell,
    /// The agent drew on the terminal, and then did not draw for a short time.
    Settled,
    /// The questions that a headless agent asks now, oldest first. Sent at first and at every change.
    Questions(Vec<OpenQuestion>),
    /// The agent ended. All of its descendants are gone and the end is on disk.
    Ended(LaunchEnd),
}

/// A question of a headless agent that has no reply yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenQuestion {
    /// An unpredictable id, unique among the questions of the launch.
    pub id: String,
    /// The request of the vendor's program.
    pub request: String,
}

/// A request to type a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeOrder {
    pub message: MessageId,
    pub text: String,
    /// The revision of the screen on which the input was found to be ready.
    pub revision: u64,
}

/// The result of a request to type a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Typed {
    /// The holder is typing the message.
    Now,
    /// The holder got a request for this message before.
    Before,
    /// The agent drew or a user typed after that revision. The message was not typed.
    Changed,
}
