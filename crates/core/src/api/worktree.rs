//! Worktrees of agents.

use std::path::PathBuf;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::SessionRef;
use crate::error::{Error, Result};
use crate::model::{
    AgentName, BranchName, BranchStart, Environment, RefName, RepositoryUrl, WorktreeId,
    WorktreeOrder,
};
use crate::word_enum::word_enum;

/// The worktree that a new session works in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorktreeRequest {
    pub branch: String,
    /// Where a new branch starts: a branch, a tag or a commit. `None` for the default branch.
    #[serde(default)]
    pub base: Option<String>,
    /// The pull request of a fork at which a new branch starts: a ref of the remote, such as
    /// `refs/pull/17/head`. Excludes `base`.
    #[serde(default)]
    pub from_fork: Option<String>,
    /// The URL of the repository. `None` for the repository of the folder.
    #[serde(default)]
    pub repo: Option<String>,
    /// The agent whose worktree it is. `None` for the agent of the session.
    #[serde(default)]
    pub agent: Option<AgentName>,
    /// Whether the commands of the project may run even if the branch is from a fork.
    #[serde(default)]
    pub setup_fork: bool,
}

impl WorktreeRequest {
    /// Checks the names.
    pub fn order(&self) -> Result<WorktreeOrder> {
        Ok(WorktreeOrder {
            branch: BranchName::parse(&self.branch)?,
            start: self.start()?,
            url: self.repo.as_deref().map(RepositoryUrl::parse).transpose()?,
            allows_commands_of_fork: self.setup_fork,
        })
    }

    fn start(&self) -> Result<BranchStart> {
        match (&self.base, &self.from_fork) {
            (None, None) => Ok(BranchStart::DefaultBranch),
            (Some(base), None) => Ok(BranchStart::Base(base.clone())),
            (None, Some(reference)) => Ok(BranchStart::PullRequest(RefName::parse(reference)?)),
            (Some(_), Some(_)) => Err(Error::usage(
                "a branch cannot start both at a base and at the pull request of a fork",
            )
            .hint("leave out `--base` or `--from-fork`")),
        }
    }
}

/// `POST /v1/worktrees`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorktreesRequest {
    pub cwd: PathBuf,
    /// Sessions, branches or paths. If empty, all worktrees.
    pub names: Vec<String>,
    /// Whether the sizes on disk are wanted. They take as long as `du`.
    pub with_sizes: bool,
}

/// The response to `POST /v1/worktrees`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorktreeList {
    pub worktrees: Vec<WorktreeView>,
    /// The cursor of the next page. Missing in the last page, and in a list without pages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// A worktree as `segue worktree ls --json` shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorktreeView {
    pub worktree: WorktreeId,
    pub path: PathBuf,
    /// The repository: its URL or its folder.
    pub repository: String,
    pub branch: BranchName,
    pub agent: String,
    /// The session that works there.
    pub leased_to: Option<SessionRef>,
    pub state: WorktreeState,
    /// The branch that is checked out, if it is another one than Segue has made the worktree for.
    pub checked_out: Option<String>,
    pub head: Option<String>,
    /// `None` if the worktree cannot be inspected.
    pub changes: Option<ChangeCounts>,
    /// The operation of git that is in progress, such as `rebase`.
    pub operation: Option<String>,
    /// The distance from the branch's upstream or, without one, from the default branch.
    pub distance: Option<BranchDistance>,
    pub size_bytes: Option<u64>,
    pub port: u16,
    /// The salvage of the last removal.
    pub salvage: Option<RefName>,
    /// Why the worktree could not be inspected.
    pub error: Option<String>,
    pub created_at: Timestamp,
}

word_enum! {
    /// Whether the folder of a worktree exists.
    pub enum WorktreeState {
        Present = "present",
        /// Segue has removed the folder.
        Removed = "removed",
        /// The folder is gone, and Segue has not removed it.
        Missing = "missing",
    }
}

/// How many files of a worktree differ from its last commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangeCounts {
    pub staged: usize,
    pub modified: usize,
    pub untracked: usize,
    pub conflicted: usize,
}

impl ChangeCounts {
    pub fn is_clean(&self) -> bool {
        self.staged + self.modified + self.untracked + self.conflicted == 0
    }
}

/// How many commits a branch has that another ref does not have, and the other way round.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BranchDistance {
    pub from: String,
    pub ahead: usize,
    pub behind: usize,
}

/// `POST /v1/worktrees/diff`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorktreeDiffRequest {
    pub cwd: PathBuf,
    #[schemars(skip)]
    pub environment: Environment,
    pub name: String,
    /// The revision to compare with. `None` for the default branch.
    pub base: Option<String>,
    /// Whether only the numbers of changed lines are wanted.
    pub only_stat: bool,
}

/// The response to `POST /v1/worktrees/diff`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorktreeDiffReport {
    pub worktree: WorktreeId,
    pub path: PathBuf,
    pub branch: BranchName,
    /// The commit with which the worktree was compared. `None` if everything is new.
    pub base: Option<String>,
    pub files: Vec<ChangedFile>,
    /// The patch. Bytes that are not UTF-8 are replaced.
    pub patch: Option<String>,
    /// Whether the patch is longer than Segue shows.
    pub is_cut: bool,
}

/// One file of a diff.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangedFile {
    pub path: String,
    /// The number of added lines. `None` for a binary file, as for removed lines.
    pub added: Option<u64>,
    pub removed: Option<u64>,
}

/// `POST /v1/worktrees/salvage`, `/remove`, `/restore`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorktreeActionRequest {
    pub cwd: PathBuf,
    #[schemars(skip)]
    pub environment: Environment,
    pub name: String,
    /// A new branch for a restored worktree, if its own branch has moved.
    #[serde(default)]
    pub branch: Option<String>,
}

/// What a request does with one worktree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorktreeAction {
    Salvage,
    Remove,
    Restore,
}

/// The response to a request that salvages, removes or restores a worktree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorktreeActionReport {
    pub worktree: WorktreeId,
    pub path: PathBuf,
    pub branch: BranchName,
    pub outcome: WorktreeOutcome,
    /// The salvage that was made or restored. `None` if the branch has everything.
    pub salvage: Option<RefName>,
    /// Unusual things that were handled, one sentence each.
    pub notices: Vec<String>,
}

word_enum! {
    /// What was done with a worktree.
    pub enum WorktreeOutcome {
        Salvaged = "salvaged",
        Removed = "removed",
        Restored = "restored",
        /// It would be removed.
        Removable = "removable",
    }
}

/// `POST /v1/worktrees/gc`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorktreeGcRequest {
    pub cwd: PathBuf,
    /// The environment of teardown commands.
    #[serde(default)]
    #[schemars(skip)]
    pub environment: Environment,
    pub is_dry_run: bool,
}

/// The response to `POST /v1/worktrees/gc`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorktreeGcReport {
    pub removed: Vec<WorktreeActionReport>,
    /// Worktrees that could not be removed, and why.
    pub failed: Vec<super::FailedTarget>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branch_starts_at_the_base_at_a_pull_request_or_at_the_default_branch() {
        let start = |base: Option<&str>, from_fork: Option<&str>| {
            let request = WorktreeRequest {
                branch: "fix".to_owned(),
                base: base.map(str::to_owned),
                from_fork: from_fork.map(str::to_owned),
                ..WorktreeRequest::default()
            };
            request.order().map(|order| order.start)
        };
        let reference = RefName::parse("refs/pull/17/head").unwrap();
        let at_pull_request = BranchStart::PullRequest(reference);
        assert_eq!(start(None, None).unwrap(), BranchStart::DefaultBranch);
        assert_eq!(start(Some("v1"), None).unwrap(), BranchStart::Base("v1".to_owned()));
        assert_eq!(start(None, Some("refs/pull/17/head")).unwrap(), at_pull_request);
        for (base, from_fork) in
            [(None, "17"), (None, "pull/17"), (Some("v1"), "refs/pull/17/head")]
        {
            let error = start(base, Some(from_fork)).unwrap_err();
            assert_eq!(error.kind.exit_status(), 2, "{error}");
        }
    }
}
