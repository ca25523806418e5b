//! Repositories, shared clones, worktrees and salvages.

use std::fmt::{self, Debug};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use jiff::Timestamp;

use super::GitTicket;
use crate::error::Result;
use crate::model::{
    BranchName, CommitId, EnsuredWorktree, Environment, GitHost, ListedWorktree, RefName,
    RepositoryId, RepositorySource, Salvage, SalvageOutcome, SharedClone, TaskCommit, WorktreeDiff,
    WorktreeFacts, WorktreePlace, WorktreeSpec,
};

/// Makes, inspects, salvages and removes worktrees.
///
/// Every method can be repeated after a crash at any time, and calls of several processes for the
/// same repository wait for each other. A dropped future ends its git commands; that is like a
/// crash.
#[async_trait]
pub trait Checkouts: Debug + Send + Sync {
    /// Identifies the repository of a folder: by the URL of its remote, without credentials, or by
    /// the path of its main folder. `None` if the folder is in no repository.
    async fn identify(&self, folder: &Path) -> Result<Option<RepositoryId>>;

    /// Returns the main folder of the repository around a folder, without symlinks. `None` if the
    /// folder is in no repository. Reads a few files, and runs no program.
    fn main_folder(&self, folder: &Path) -> Option<PathBuf>;

    /// Returns the folder for worktrees, without symlinks: this one, or else Segue's own. It need
    /// not exist.
    fn root(&self, wanted: Option<&Path>) -> PathBuf;

    /// Returns the wanted worktree. Makes it if it does not exist, and the shared clone if the
    /// repository is known by URL. An existing worktree is left as it is. Fails if something else
    /// is at its path, or if it is on another branch.
    async fn ensure(&self, spec: &WorktreeSpec, caller: &GitCaller) -> Result<EnsuredWorktree>;

    /// Returns the worktrees of a repository, its main folder first. Returns none for a URL of
    /// which there is no clone.
    async fn list(&self, source: &RepositorySource) -> Result<Vec<ListedWorktree>>;

    /// Returns the facts about a worktree.
    async fn inspect(&self, place: &WorktreePlace, depth: InspectDepth) -> Result<WorktreeFacts>;

    /// Compares a worktree with the commit at which it left `base`, or the default branch of the
    /// remote. Untracked files count. The patch has at most `patch_bytes` bytes.
    async fn diff(
        &self,
        place: &WorktreePlace,
        base: Option<&str>,
        patch_bytes: usize,
        caller: &GitCaller,
    ) -> Result<WorktreeDiff>;

    /// Returns the worktree around a folder: the main folder of a repository, or a linked worktree.
    /// `None` if the folder is in no repository. Reads a few files, and runs no program.
    fn around(&self, folder: &Path) -> Option<WorktreePlace>;

    /// Returns the commit that is checked out in a worktree. `None` before the first commit.
    async fn head(&self, place: &WorktreePlace) -> Result<Option<CommitId>>;

    /// Returns the newest commits of a worktree that are not in the history of `base`, oldest first.
    async fn commits_since(
        &self,
        place: &WorktreePlace,
        base: Option<&CommitId>,
        limit: usize,
    ) -> Result<Vec<TaskCommit>>;

    /// Stores everything in a worktree in a salvage, and compares the two. The worktree stays as it
    /// is. Ignored files are only stored if a pattern of `include` matches them.
    async fn salvage(&self, place: &WorktreePlace, include: &[String]) -> Result<SalvageOutcome>;

    /// Salvages a worktree, compares the salvage with it, and removes it. Fails if the worktree is
    /// locked or in use. The branch stays.
    async fn remove(&self, order: &RemovalOrder) -> Result<SalvageOutcome>;

    /// Makes the worktree of a salvage again, with the same index and the same files. Fails if
    /// there is something at its path, or if its branch has moved or is checked out.
    async fn restore(
        &self,
        order: &RestorationOrder,
        caller: &GitCaller,
    ) -> Result<EnsuredWorktree>;

    /// Returns the salvages of a repository, newest first.
    async fn salvages(&self, source: &RepositorySource) -> Result<Vec<Salvage>>;

    /// Deletes the salvages that were made before a timestamp, and returns them. Their objects stay
    /// until git collects its garbage.
    async fn expire_salvages(
        &self,
        source: &RepositorySource,
        before: Timestamp,
    ) -> Result<Vec<Salvage>>;

    /// Returns the shared clones, and folders beside them that are left from interrupted or damaged
    /// ones.
    fn clones(&self) -> Result<Vec<SharedClone>>;

    /// Returns the number of bytes of the objects that only salvages need. They are part of the
    /// repository's own size. The cost of a second call is small if no ref has changed.
    async fn salvage_bytes(&self, source: &RepositorySource) -> Result<u64>;

    /// Returns why a shared clone must stay: it has a worktree, a salvage, a stash or commits that
    /// the remote does not have, or it is damaged. `None` if nothing is lost without it.
    async fn clone_holds(&self, clone: &SharedClone) -> Result<Option<String>>;

    /// Removes a shared clone, or what an interrupted step has left of it. Fails if it must stay: see
    /// [`Self::clone_holds`]. Succeeds if it is gone.
    async fn remove_clone(&self, clone: &SharedClone) -> Result<()>;

    /// Collects garbage in the shared clone of a URL. Git never does so there by itself. Does
    /// nothing to a repository of the user.
    async fn maintain(&self, source: &RepositorySource) -> Result<()>;
}

/// The caller of a command that runs as the user's own git would: with hooks, filters and
/// credential helpers.
#[derive(Clone, Debug, Default)]
pub struct GitCaller {
    /// The environment of git: `PATH`, `HOME`, `GIT_AUTHOR_NAME`, `GIT_ASKPASS` and others.
    /// Variables that would lead git to another repository are left out.
    pub environment: Environment,
    /// How git asks for the credentials of a host. `None` leaves that to the user's configuration.
    pub askpass: Option<Askpass>,
    pub progress: GitProgress,
}

/// How a git command asks for the credentials of one host.
#[derive(Clone, Debug)]
pub struct Askpass {
    /// The program that git runs with its question.
    pub program: PathBuf,
    pub host: GitHost,
    /// Shows that the question comes from this git command.
    pub ticket: Arc<dyn GitTicket>,
}

/// A function that gets the progress lines of git.
#[derive(Clone, Default)]
pub struct GitProgress(Option<OnLine>);

type OnLine = Arc<dyn Fn(&str) + Send + Sync>;

impl GitProgress {
    pub fn new(on_line: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(on_line)))
    }

    pub fn report(&self, line: &str) {
        if let Some(on_line) = &self.0 {
            on_line(line);
        }
    }
}

impl Debug for GitProgress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("GitProgress").field(&self.0.is_some()).finish()
    }
}

/// How much is found out about a worktree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InspectDepth {
    State,
    /// Also the size on disk, which takes as long as `du`.
    StateAndSize,
}

/// A request to remove a worktree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemovalOrder {
    pub place: WorktreePlace,
    /// Patterns of ignored files to salvage.
    pub include: Vec<String>,
    /// The session that uses the worktree now, by its address. The removal is then refused.
    pub used_by: Option<String>,
}

/// A request to restore the worktree of a salvage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RestorationOrder {
    pub source: RepositorySource,
    pub salvage: RefName,
    /// A new branch for the worktree, if its own branch has moved.
    pub branch: Option<BranchName>,
}
