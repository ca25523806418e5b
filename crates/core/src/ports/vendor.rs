//! One agent CLI: what to start, and what its files and output mean. It starts nothing.

use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use uuid::Uuid;

use super::Files;
use crate::error::Result;
use crate::model::{
    Environment, Evidence, LaunchMode, ProcessRef, Session, VendorId, VendorSessionId, WaitingFor,
};

/// The vendors that this build can drive.
pub trait Vendors: Debug + Send + Sync {
    /// Returns a vendor; an unknown one is an error that lists the known.
    fn get(&self, id: &VendorId) -> Result<Arc<dyn Vendor>>;

    fn all(&self) -> Vec<Arc<dyn Vendor>>;
}

/// One agent CLI.
pub trait Vendor: Debug + Send + Sync {
    fn id(&self) -> VendorId;

    fn capabilities(&self) -> Capabilities;

    /// Says how the program is found.
    fn program(&self) -> ProgramSpec;

    /// Returns the folder in which this vendor keeps its files, given an agent's environment.
    fn config_dir(&self, environment: &Environment) -> Result<PathBuf>;

    /// Adds what makes the vendor use that folder, and takes out what would make it think that it
    /// runs inside another agent.
    fn prepare_environment(&self, place: &Place, environment: &mut Environment);

    /// Makes an id that the vendor will accept, if it can be told one for this session.
    fn preset_id(&self, session: &Session, random: Uuid) -> Option<VendorSessionId>;

    /// Returns the vendor's arguments for a launch.
    fn command(&self, plan: &CommandPlan<'_>) -> Result<CommandLine>;

    /// Returns where the conversation's transcript is, or would be.
    fn transcript(&self, place: &Place, id: &VendorSessionId) -> PathBuf;

    /// Reads what is needed to decide about one conversation; `None` when there is none.
    fn conversation(
        &self,
        files: &dyn Files,
        place: &Place,
        id: &VendorSessionId,
    ) -> Result<Option<Conversation>>;

    /// Lists the conversations that were begun in this folder.
    fn conversations(&self, files: &dyn Files, place: &Place) -> Result<Vec<Conversation>>;

    /// Lists which processes say that they have which conversation open.
    fn live(&self, files: &dyn Files, place: &Place) -> Result<Vec<Live>>;

    /// Returns the folders whose changes carry signals.
    fn watched(&self, place: &Place) -> Vec<PathBuf>;

    /// Reads the signals of the launch's own process from a changed file.
    fn file_signals(&self, files: &dyn Files, changed: &Path, agent: &ProcessRef) -> Vec<Signal>;

    /// Reads the signals in one line of a headless launch's output.
    fn stream_signals(&self, line: &str) -> Vec<Signal>;
}

/// What a vendor can do; asked before it is asked to do it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    pub resume: bool,
    pub headless: bool,
    /// How long a launch may take to show which conversation it is in.
    pub evidence_within: Duration,
    /// How many launches of one account may be starting at the same time.
    pub starting_at_once: usize,
}

/// How a vendor's program is found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProgramSpec {
    /// This very program, with a subcommand.
    Itself { subcommand: &'static str },
    /// A program of this name.
    Named { name: String, version_argument: &'static str },
}

/// Where a vendor's conversation is at home.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    pub config_dir: PathBuf,
    pub cwd: PathBuf,
}

/// What a command line is asked to do.
#[derive(Clone, Debug)]
pub struct CommandPlan<'a> {
    pub session: &'a Session,
    pub mode: LaunchMode,
    pub id: Option<&'a VendorSessionId>,
    pub message: Option<&'a str>,
}

/// A vendor's arguments, without the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandLine {
    pub arguments: Vec<String>,
}

/// A conversation as far as decisions need it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conversation {
    pub id: VendorSessionId,
    pub transcript: PathBuf,
    pub cwd: PathBuf,
    pub began_at: Timestamp,
    /// The first thing that its user said; none while nothing was said.
    pub first_message: Option<String>,
    /// The last turn has no end: it was cut off, or still runs.
    pub turn_open: bool,
}

/// A process that says that it has a conversation open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Live {
    pub pid: u32,
    /// Clock ticks since boot at which it began, where the vendor writes that down: a file left by
    /// a crash names a number that another process may have by now.
    pub started: Option<u64>,
    pub id: VendorSessionId,
}

/// What a vendor's process shows about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Signal {
    /// It is in this conversation.
    Conversation {
        id: VendorSessionId,
        evidence: Evidence,
    },
    Activity(Activity),
    /// A headless turn ended, well or not.
    TurnEnded {
        ok: bool,
        text: String,
    },
}

/// What the agent does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity {
    Working,
    Idle,
    Waiting(WaitingFor),
}
