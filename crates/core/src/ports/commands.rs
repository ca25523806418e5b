//! Shell commands of the user that Segue runs itself.

use std::fmt::Debug;
use std::path::PathBuf;
use std::time::Duration;

use async_trait::async_trait;

use crate::error::Result;
use crate::model::{Environment, WorktreeId};

/// A shell command, and how to run it.
#[derive(Clone, Debug)]
pub struct CommandOrder {
    /// The text for the shell.
    pub command: String,
    pub folder: PathBuf,
    pub environment: Environment,
    /// How long the command may take.
    pub timeout: Duration,
    /// The file to which the command and its output are appended. If it gets too long, its
    /// beginning is dropped. `None` if only the end of the output is wanted.
    pub log: Option<PathBuf>,
}

/// The end of a shell command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandReport {
    /// Whether the exit code is 0.
    pub passed: bool,
    /// How the command ended, such as `exit status: 1`.
    pub ending: String,
    /// The end of its output. Standard output and standard error are mixed.
    pub output: String,
}

/// Runs shell commands. No process of a command has the rights of the user with Segue: the command
/// may run code that an agent wrote.
#[async_trait]
pub trait Commands: Debug + Send + Sync {
    /// Runs a command until it ends or its time is over. All its processes are ended before this
    /// returns. Fails only if the shell cannot be started.
    async fn run(&self, order: CommandOrder) -> Result<CommandReport>;

    /// Returns the log of the commands of a worktree. The file need not exist.
    fn log_of(&self, worktree: WorktreeId) -> PathBuf;

    /// Deletes the log of the commands of a worktree.
    fn remove_log(&self, worktree: WorktreeId);
}
