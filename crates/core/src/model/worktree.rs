//! Worktrees: checkouts of one branch each, and the facts about them.

use std::path::PathBuf;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{BranchName, CommitId, RefName, RepositorySource, Salvage};

/// A wanted worktree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorktreeSpec {
    pub source: RepositorySource,
    /// The absolute path of the worktree's folder.
    pub path: PathBuf,
    pub branch: BranchName,
    pub start: BranchStart,
    pub provision: Provision,
}

/// Where a branch starts if the repository does not have it yet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BranchStart {
    /// At the default branch of the remote. Without a remote, at the commit that the repository's
    /// main folder has checked out.
    #[default]
    DefaultBranch,
    /// At this revision: a branch, a tag or a commit.
    Base(String),
    /// At a pull request of a fork, which the remote offers as a ref of its own. The branch cannot
    /// be pushed there.
    PullRequest(RefName),
}

/// Files that git does not track and that a new worktree gets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Provision {
    /// The folder from which they come. `None` if there is none, as for a shared clone.
    pub from: Option<PathBuf>,
    /// Patterns, in the syntax of `.gitignore`, of the files to copy.
    pub include: Vec<String>,
    /// Relative paths of folders to which the worktree gets symlinks.
    pub link: Vec<PathBuf>,
}

/// A worktree that is known by its path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorktreePlace {
    pub source: RepositorySource,
    pub path: PathBuf,
}

/// A worktree as git lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedWorktree {
    pub path: PathBuf,
    /// `None` before the first commit of its branch.
    pub head: Option<CommitId>,
    /// The branch that is checked out, or that a rebase or a bisection in progress returns to.
    /// `None` if HEAD is detached.
    pub branch: Option<String>,
    /// The reason of `git worktree lock`, which may be empty.
    pub locked: Option<String>,
    /// Whether this is the main folder of the repository, or the bare repository itself.
    pub is_main: bool,
}

/// How many files of a worktree differ from the last commit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorktreeChanges {
    pub staged: usize,
    pub modified: usize,
    pub untracked: usize,
    pub conflicted: usize,
}

impl WorktreeChanges {
    pub fn is_clean(&self) -> bool {
        *self == Self::default()
    }
}

/// An operation of git that waits for a person or an agent to continue it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GitOperation {
    Merge,
    Rebase,
    CherryPick,
    Revert,
    Bisect,
    /// `git am`.
    ApplyMail,
}

impl GitOperation {
    /// Returns the word for display.
    pub fn word(self) -> &'static str {
        match self {
            Self::Merge => "merge",
            Self::Rebase => "rebase",
            Self::CherryPick => "cherry-pick",
            Self::Revert => "revert",
            Self::Bisect => "bisect",
            Self::ApplyMail => "am",
        }
    }
}

/// How far a branch is from another ref.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Divergence {
    /// The other ref, such as `origin/main`.
    pub from: String,
    pub ahead: usize,
    pub behind: usize,
}

/// What is known about an existing worktree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorktreeFacts {
    pub listed: ListedWorktree,
    pub changes: WorktreeChanges,
    pub operation: Option<GitOperation>,
    /// The distance from the branch's upstream. `None` without an upstream.
    pub upstream: Option<Divergence>,
    /// The distance from the remote's default branch. `None` without a remote.
    pub default_branch: Option<Divergence>,
    /// Submodules of the commit. Segue does not initialize them.
    pub has_submodules: bool,
    /// `None` if it was not asked for: it takes as long as `du`.
    pub size_bytes: Option<u64>,
    pub created_at: Option<Timestamp>,
}

/// A worktree that exists and is on the wanted branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnsuredWorktree {
    pub path: PathBuf,
    /// `None` if HEAD is detached, which only a restored worktree can have.
    pub branch: Option<String>,
    /// `None` before the first commit of the branch.
    pub head: Option<CommitId>,
    pub origin: WorktreeOrigin,
    pub changes: WorktreeChanges,
    pub operation: Option<GitOperation>,
    /// Notices for the user, in the order in which their causes happened.
    pub notices: Vec<CheckoutNotice>,
}

/// Where an ensured worktree comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorktreeOrigin {
    /// It existed and was left as it was.
    Existing,
    /// It was made for a branch that the repository had.
    LocalBranch,
    /// It was made for a new branch that tracks the remote's branch of the same name.
    RemoteBranch,
    /// It was made for a new branch that starts at this commit of this revision.
    NewBranch { base: String, commit: CommitId },
    /// It was made for a new branch that starts at a fork's pull request.
    PullRequest { reference: RefName, commit: CommitId },
    /// It was made in a repository without commits.
    FirstBranch,
    /// It was restored from a salvage.
    Restored { salvage: RefName },
}

/// Something unusual that happened and was handled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckoutNotice {
    /// The shared clone was damaged. It was moved aside and cloned again.
    CloneReplaced { aside: PathBuf, why: String, lost: Vec<String> },
    /// The remote could not be asked for new commits.
    NotFetched { why: String },
    /// Settings that could run programs were removed from the shared clone.
    SettingsRemoved { names: Vec<String> },
    /// The links between repository and worktree were repaired.
    Repaired { path: PathBuf },
    /// Git listed the worktree, and its folder was gone.
    FolderWasGone { salvage: Option<Salvage> },
    /// An interrupted attempt to make or to restore the worktree was undone.
    AttemptUndone { salvage: Option<Salvage> },
    /// An interrupted removal of the worktree was completed.
    RemovalCompleted { salvage: Option<Salvage> },
    /// A lock file of a killed git was removed.
    LockFileRemoved { path: PathBuf },
    /// A file to copy or a folder to link was left out.
    NotProvided { path: PathBuf, why: String },
    /// The commit has submodules. They are not initialized.
    HasSubmodules,
}

/// A diff of a worktree, uncommitted and untracked files included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorktreeDiff {
    /// The commit with which the worktree was compared. `None` if everything is new.
    pub base: Option<CommitId>,
    pub files: Vec<FileDiff>,
    /// The patch, up to the limit that was asked for.
    pub patch: Vec<u8>,
    pub is_cut: bool,
}

/// A file of a diff.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileDiff {
    pub path: PathBuf,
    /// The numbers of added and removed lines. `None` for a binary file.
    pub lines: Option<(u64, u64)>,
}
