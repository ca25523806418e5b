//! Issues of a forge on which agents work or have worked.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::model::{ForgeSubject, IssueRef, RepositoryAddress, RepositoryId, SourceName};

/// An issue, or a pull request without an issue, for which a task was added.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrackedIssue {
    pub source: SourceName,
    pub address: RepositoryAddress,
    pub subject: ForgeSubject,
    /// The repository and the issue as tasks name them.
    pub repository: RepositoryId,
    pub issue: IssueRef,
    /// When the issue was closed. `None` if it is open.
    pub closed_at: Option<Timestamp>,
    /// Whether the sessions and worktrees of a closed issue are still to be cleaned up.
    pub needs_cleanup: bool,
    /// Comments and reviews until this time are known. Only used for a forge that is polled.
    pub seen_until: Option<Timestamp>,
    /// The pull requests that belong to the issue.
    #[serde(default)]
    pub pulls: Vec<u64>,
}

/// Identifies a tracked issue.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TrackedIssueKey {
    pub source: SourceName,
    /// The forge's id of the repository.
    pub repository: u64,
    pub subject: ForgeSubject,
}

impl TrackedIssue {
    pub fn key(&self) -> TrackedIssueKey {
        TrackedIssueKey {
            source: self.source.clone(),
            repository: self.address.id,
            subject: self.subject,
        }
    }
}
