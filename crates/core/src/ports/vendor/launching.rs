//! How a vendor's program is started.

use std::fmt::Debug;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use uuid::Uuid;

use super::{Answer, Place};
use crate::error::Result;
use crate::model::{DialogText, Environment, LaunchMode, Session, VendorSessionId, WaitingFor};
use crate::ports::Files;

/// How a vendor's program is found, and what it gets: environment, arguments, files and input.
pub trait Launching: Debug + Send + Sync {
    /// Returns how to find the program.
    fn program(&self) -> ProgramSpec;

    /// Returns the folder in which the vendor keeps its files, for an agent with this environment.
    fn config_dir(&self, environment: &Environment) -> Result<PathBuf>;

    /// Adds the variables that make the vendor use the config folder of `place`, and removes
    /// variables that would make it believe that it runs inside another agent.
    fn prepare_environment(&self, place: &Place, environment: &mut Environment);

    /// Adds settings that the vendor's program accepts only as environment variables. `folder` is
    /// the launch's folder.
    fn add_settings(&self, _session: &Session, _folder: &Path, _environment: &mut Environment) {}

    /// Creates an id that the vendor will accept. `None` if no id can be passed for this session.
    /// `unique` is a UUIDv7.
    fn preset_id(&self, session: &Session, unique: Uuid) -> Option<VendorSessionId>;

    /// Returns the vendor's arguments for a launch.
    fn command(&self, plan: &CommandPlan<'_>) -> Result<CommandLine>;

    /// Returns the arguments for a preparation. Right before the launch, the program is run with
    /// these arguments until it exits. A preparation may run more than once. `None` if no
    /// preparation is needed.
    fn preparation(&self, _plan: &CommandPlan<'_>) -> Option<Vec<String>> {
        None
    }

    /// Returns the environment variables that the preparation gets in addition to those of the
    /// launch, as `NAME=value`.
    fn preparation_variables(&self, _plan: &CommandPlan<'_>) -> Vec<String> {
        Vec::new()
    }

    /// Returns whether the session's own arguments decide what the agent may do without asking, so that
    /// its permission has no effect.
    fn has_own_permission(&self, _session: &Session) -> bool {
        false
    }

    /// Returns whether a resumed conversation that had the permission `auto` keeps it, whatever the
    /// arguments of the launch are.
    fn keeps_auto_permission(&self) -> bool {
        false
    }

    /// Returns names of models that every version of the program accepts.
    fn models(&self) -> &'static [&'static str] {
        &[]
    }

    /// Returns how the program runs a turn without a terminal. `None` if it cannot.
    fn headless(&self) -> Option<&dyn HeadlessLaunching> {
        None
    }
}

/// How a vendor's program runs one turn without a terminal.
pub trait HeadlessLaunching: Debug + Send + Sync {
    /// Returns the file in the launch's folder that the launch reads as its standard input.
    /// `None` if it reads nothing.
    fn standard_input(&self, _plan: &CommandPlan<'_>) -> Option<PathBuf> {
        None
    }

    /// Returns how this version of the program asks a person while it runs headless. `None` if it
    /// has no way to ask: then it refuses what needs a permission, or does not ask at all.
    fn questions(&self, _version: Option<&str>) -> Option<&dyn HeadlessQuestions> {
        None
    }
}

/// How a program that runs headless asks a person. It runs the command [`CommandPlan::ask`] with a
/// request on its standard input, and reads the reply from its standard output. Without a reply, the
/// program must refuse what it has asked for.
pub trait HeadlessQuestions: Debug + Send + Sync {
    /// Returns the question in a request. `None` if the request cannot be understood: then it gets
    /// no reply.
    fn question(&self, request: &str) -> Option<HeadlessQuestion>;

    /// Returns the reply that gives this answer. `None` if the question has no such answer.
    fn reply(&self, request: &str, answer: &Answer) -> Option<String>;
}

/// A question of a program that runs headless.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeadlessQuestion {
    pub kind: WaitingFor,
    pub text: DialogText,
}

/// How to find a vendor's program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProgramSpec {
    /// A subcommand of the `segue` program.
    Segue { subcommand: &'static str },
    /// A program with this name.
    Named {
        name: String,
        /// Possible paths of the real program, in case the file found is only a script that starts
        /// it. They are relative to the script's folder after symlinks are resolved. The first path
        /// that exists is used.
        native: &'static [&'static str],
    },
}

impl ProgramSpec {
    /// Returns the message for a program that was not found.
    pub fn not_found_message(&self) -> String {
        match self {
            Self::Named { name, .. } if name.contains('/') => {
                format!("`{name}` is not a program with an absolute path")
            }
            Self::Named { name, .. } => {
                format!("`{name}` is neither in PATH nor in the usual places")
            }
            Self::Segue { subcommand } => format!("`segue {subcommand}` cannot be found"),
        }
    }
}

/// The inputs for a vendor's command line.
#[derive(Clone, Debug)]
pub struct CommandPlan<'a> {
    pub session: &'a Session,
    /// The version of the program. `None` if the files around it do not show it.
    pub version: Option<&'a str>,
    pub mode: LaunchMode,
    pub id: Option<&'a VendorSessionId>,
    pub message: Option<&'a str>,
    /// The document with a conversation that the program must import before this launch.
    pub import: Option<&'a Path>,
    /// For reading the vendor's own settings.
    pub files: &'a dyn Files,
    /// The launch's folder, for files that only this launch needs.
    pub folder: &'a Path,
    /// The shell command that the vendor runs as its hook, with the payload on standard input.
    pub hook: &'a str,
    /// The shell command that a headless vendor runs to ask a person, with its request on standard
    /// input. It prints the reply, or fails.
    pub ask: &'a str,
    pub now: Timestamp,
}

/// The arguments for a vendor's program, without the program, and the files that they refer to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandLine {
    pub arguments: Vec<String>,
    /// Files that are written before the start unless they exist already.
    pub files: Vec<NewFile>,
}

/// A file that must exist before a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewFile {
    pub path: PathBuf,
    pub contents: String,
}
