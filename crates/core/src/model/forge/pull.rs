//! Pull requests.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::ForgeUser;
use crate::model::{CommitId, RefName};
use crate::word_enum::word_enum;

/// A pull request, also called merge request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForgePull {
    /// Unique on the forge.
    pub id: u64,
    /// Unique in the repository; the number that people write.
    pub number: u64,
    pub title: String,
    pub body: String,
    pub web_url: String,
    pub state: PullState,
    pub is_draft: bool,
    pub author: Option<ForgeUser>,
    pub labels: Vec<String>,
    pub assignees: Vec<ForgeUser>,
    /// The branch with the changes. If `is_fork` is set, it is a branch of another repository.
    /// Empty if the delivery does not name it.
    pub head_branch: String,
    /// The branch into which the changes are merged. Empty if the delivery does not name it.
    pub base_branch: String,
    pub head_sha: Option<CommitId>,
    /// Whether the head branch is in another repository, or in one that was deleted.
    pub is_fork: bool,
    /// The ref of the base repository that has the head, also for a fork.
    pub head_ref: Option<RefName>,
    pub updated_at: Option<Timestamp>,
}

word_enum! {
    /// The state of a pull request.
    pub enum PullState {
        Open = "open",
        /// Closed without being merged.
        Closed = "closed",
        Merged = "merged",
    }
}
