//! Shell commands of a project that prepare its worktrees, and that clean up before a removal.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::word_enum::word_enum;

/// How long all setup commands together may take, unless the project file says otherwise.
const DEFAULT_SETUP_TIMEOUT: Duration = Duration::from_secs(10 * 60);

/// How long all teardown commands together may take, unless the project file says otherwise.
const DEFAULT_TEARDOWN_TIMEOUT: Duration = Duration::from_secs(60);

/// The shell commands for the worktrees of a project. A worktree is recorded with the commands that
/// the user had trusted when its session was planned.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct WorktreeCommands {
    /// Run once in a new worktree, one after the other.
    pub setup: Vec<String>,
    /// Run before the worktree is removed.
    pub teardown: Vec<String>,
    /// `None` for the default.
    pub setup_timeout: Option<Duration>,
    /// `None` for the default.
    pub teardown_timeout: Option<Duration>,
}

word_enum! {
    /// When a command of a worktree runs.
    pub enum CommandPhase {
        Setup = "setup",
        Teardown = "teardown",
    }
}

impl WorktreeCommands {
    /// Returns the commands of a phase.
    pub fn of(&self, phase: CommandPhase) -> &[String] {
        match phase {
            CommandPhase::Setup => &self.setup,
            CommandPhase::Teardown => &self.teardown,
        }
    }

    /// Returns how long all commands of a phase together may take.
    pub fn timeout(&self, phase: CommandPhase) -> Duration {
        match phase {
            CommandPhase::Setup => self.setup_timeout.unwrap_or(DEFAULT_SETUP_TIMEOUT),
            CommandPhase::Teardown => self.teardown_timeout.unwrap_or(DEFAULT_TEARDOWN_TIMEOUT),
        }
    }
}
