//! Salvages: git refs that hold everything that removed worktrees contained.

use std::path::PathBuf;

use jiff::Timestamp;

use super::{BranchName, CommitId, RefName};

/// A ref that holds everything that a worktree contained.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Salvage {
    pub reference: RefName,
    pub commit: CommitId,
    /// The folder that the worktree had.
    pub path: PathBuf,
    /// `None` if HEAD was detached.
    pub branch: Option<BranchName>,
    /// The commit that was checked out. `None` before the first commit.
    pub head: Option<CommitId>,
    pub made_at: Timestamp,
    /// Whether this holds only the rest of a worktree whose removal was interrupted. An earlier
    /// salvage of the same worktree is complete.
    pub is_remainder: bool,
}

/// The result of a salvage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SalvageOutcome {
    /// Everything is in this salvage, and the salvage was compared with the worktree.
    Made(Salvage),
    /// The worktree has nothing that its branch does not have.
    NothingToSalvage { branch: Option<BranchName>, head: Option<CommitId> },
}

impl SalvageOutcome {
    pub fn salvage(&self) -> Option<&Salvage> {
        match self {
            Self::Made(salvage) => Some(salvage),
            Self::NothingToSalvage { .. } => None,
        }
    }
}
