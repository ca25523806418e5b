//! A repository that this process has locked, and the commands that change git's list of its
//! worktrees.

use std::path::{Path, PathBuf};

use segue_core::ports::{Clock, GitCaller};
use segue_core::rules::worktrees::UnfinishedStep;
use segue_core::{Result, failpoint};

use crate::command::{GitCommand, TimeLimit};
use crate::layout::RepositoryFolders;
use crate::lock::RepositoryLock;
use crate::program::Git;
use crate::refs::Refs;
use crate::scratch::Scratch;

/// A repository that no other process of Segue changes meanwhile.
#[derive(Debug)]
pub(crate) struct LockedRepository<'a> {
    pub(crate) git: &'a Git,
    pub(crate) scratch: &'a Scratch,
    pub(crate) clock: &'a dyn Clock,
    pub(crate) folders: RepositoryFolders,
    /// Whether the repository is a shared clone of our own.
    pub(crate) is_clone: bool,
    /// Lock files of a killed git that were removed.
    pub(crate) removed_locks: Vec<PathBuf>,
    pub(crate) lock: RepositoryLock,
}

impl LockedRepository<'_> {
    pub(crate) fn refs(&self) -> Refs<'_> {
        Refs { git: self.git, repository: &self.folders }
    }

    /// Prepares a command of our own bookkeeping that changes something. Git holds the lock too.
    pub(crate) fn changing(&self) -> Result<GitCommand> {
        self.git.bookkeeping(&self.folders).limit(TimeLimit::LOCAL).holding(&self.lock)
    }

    /// Prepares a command that runs as the user's own git would. Git holds the lock too.
    ///
    /// In a clone of our own, hooks do not run: they are not the user's.
    pub(crate) fn as_user(&self, caller: &GitCaller) -> Result<GitCommand> {
        let command = self.git.as_user(&self.folders.checkout, caller);
        let command = match self.is_clone {
            true => command
                .setting("core.hooksPath=/dev/null")
                .setting("core.fsmonitor=false")
                .setting("protocol.ext.allow=never"),
            false => command,
        };
        command.limit(TimeLimit::LOCAL).holding(&self.lock)
    }

    /// Locks a worktree with the reason of a step.
    pub(crate) async fn begin_step(&self, path: &Path, step: &UnfinishedStep) -> Result<()> {
        failpoint::hit("git.worktree.lock.before");
        let command = self.changing()?.args(["worktree", "lock", "--reason", &step.reason()]);
        command.path(path).run().await?;
        failpoint::hit("git.worktree.lock.after");
        Ok(())
    }

    /// Unlocks a worktree whose step is done.
    pub(crate) async fn end_step(&self, path: &Path) -> Result<()> {
        failpoint::hit("git.worktree.unlock.before");
        self.changing()?.args(["worktree", "unlock"]).path(path).run().await?;
        failpoint::hit("git.worktree.unlock.after");
        Ok(())
    }

    /// Repairs the links between the repository and its worktrees, and a worktree that was moved
    /// to this path. The caller looks again whether the worktree is in order: git also reports
    /// failures about other worktrees.
    pub(crate) async fn repair(&self, path: &Path) -> Result<()> {
        failpoint::hit("git.worktree.repair.before");
        let output = self.changing()?.args(["worktree", "repair"]).path(path).output().await?;
        tracing::info!(report = output.stderr.trim(), "worktrees were repaired");
        failpoint::hit("git.worktree.repair.after");
        Ok(())
    }

    /// Removes a worktree that git lists: its folder, if it exists, and git's entry. The branch
    /// stays.
    pub(crate) async fn remove_worktree(&self, path: &Path) -> Result<()> {
        failpoint::hit("git.worktree.remove.before");
        // With two `--force`, git also removes a locked worktree. Our own step has locked it.
        let command = self.changing()?.args(["worktree", "remove", "--force", "--force"]);
        command.path(path).run().await?;
        failpoint::hit("git.worktree.remove.after");
        Ok(())
    }
}
