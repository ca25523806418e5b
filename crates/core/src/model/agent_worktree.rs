//! A worktree that Segue has made for an agent, as it is recorded.

use std::path::PathBuf;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{
    AgentName, BranchName, BranchStart, GitHost, RefName, RepositorySource, RepositoryUrl,
    SessionId, WorktreeCommands, WorktreeId, WorktreePlace,
};

/// A worktree that Segue has made for an agent. The record outlives the folder, so that the folder
/// can be made again at the same path: vendors find conversations by the path of their folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentWorktree {
    pub id: WorktreeId,
    pub source: RepositorySource,
    /// The host of the repository's remote when the worktree was recorded. Git gets credentials for
    /// this host only: an agent can change the remote later. `None` if the remote is not reached by
    /// HTTP.
    #[serde(default)]
    pub remote_host: Option<GitHost>,
    /// The agent that works there: its name in the project file, or its vendor.
    pub agent: AgentName,
    pub branch: BranchName,
    /// Where the branch started if it was new.
    pub start: BranchStart,
    /// The folder, without symlinks.
    pub path: PathBuf,
    /// A TCP port that no other worktree has. The agent gets it as `SEGUE_PORT`.
    pub port: u16,
    /// The session that works in this worktree. Other sessions may not use it.
    pub session: Option<SessionId>,
    /// `None` while the folder is complete, as far as Segue knows.
    pub removal: Option<WorktreeRemoval>,
    /// The commands of the project. Empty if the user has not allowed them for this worktree.
    #[serde(default)]
    pub commands: WorktreeCommands,
    /// Whether all setup commands have succeeded since the folder was made.
    #[serde(default)]
    pub is_set_up: bool,
    pub created_at: Timestamp,
}

/// The worktree that is wanted for a new session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorktreeOrder {
    pub branch: BranchName,
    pub start: BranchStart,
    /// The repository. `None` for the repository of the folder.
    pub url: Option<RepositoryUrl>,
    /// Whether the commands of the project may run even if the branch is from a fork.
    pub allows_commands_of_fork: bool,
}

/// That a worktree's folder is gone. Segue records a removal before git removes the folder, and
/// keeps the record until the folder is complete again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorktreeRemoval {
    pub at: Timestamp,
    /// Whether the folder is known to be gone. If not, the removal was interrupted.
    pub is_done: bool,
    /// The salvage of everything that was in the folder. `None` if its branch had all of it.
    pub salvage: Option<RefName>,
    /// The new branch on which a restoration was begun. `None` for the worktree's own branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub onto: Option<BranchName>,
}

impl AgentWorktree {
    pub fn place(&self) -> WorktreePlace {
        WorktreePlace { source: self.source.clone(), path: self.path.clone() }
    }

    /// Returns the removal, if it is complete.
    pub fn complete_removal(&self) -> Option<&WorktreeRemoval> {
        self.removal.as_ref().filter(|removal| removal.is_done)
    }

    /// Returns the worktree on the branch on which its restoration was begun, if that is a new one.
    pub fn as_restored(&self) -> Self {
        let onto = self.removal.as_ref().and_then(|removal| removal.onto.clone());
        Self { branch: onto.unwrap_or_else(|| self.branch.clone()), ..self.clone() }
    }

    /// Returns the worktree on the branch that git has checked out. `None` leaves the branch as it
    /// is: HEAD is detached.
    pub fn checked_out(&self, branch: Option<&str>) -> Self {
        let branch = branch.and_then(|branch| BranchName::parse(branch).ok());
        Self { branch: branch.unwrap_or_else(|| self.branch.clone()), ..self.clone() }
    }

    /// Returns whether the branch is a pull request of a fork, whose content is not trusted.
    pub fn is_from_fork(&self) -> bool {
        matches!(self.start, BranchStart::PullRequest(_))
    }
}
