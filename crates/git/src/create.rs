//! Makes a new worktree. While it is being made, it is locked with a reason of our own, so that a
//! later process knows that it was not used yet.

use std::fs;
use std::path::Path;

use segue_core::model::{BranchName, BranchStart, CommitId, RefName, WorktreeOrigin, WorktreeSpec};
use segue_core::ports::GitCaller;
use segue_core::rules::worktrees::{
    BranchCase, BranchFacts, FolderContent, PullRequestBranch, UnfinishedStep, branch_case,
};
use segue_core::{Error, Result, failpoint};

use crate::command::{GitCommand, TimeLimit};
use crate::failure::cannot;
use crate::layout;
use crate::listing;
use crate::locked::LockedRepository;

/// A worktree that is being made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Creation<'a> {
    pub(crate) repository: &'a LockedRepository<'a>,
    pub(crate) caller: &'a GitCaller,
    pub(crate) spec: &'a WorktreeSpec,
    /// The path of the worktree without symlinks.
    pub(crate) path: &'a Path,
}

impl Creation<'_> {
    /// Decides what the branch is made from, and makes the worktree. It stays locked.
    pub(crate) async fn make(self) -> Result<WorktreeOrigin> {
        let remote = self.repository.refs().remote().await?;
        let case = branch_case(&self.facts(remote.as_deref()).await?)?;
        self.make_parent()?;
        match case {
            BranchCase::Local => self.add_branch().await,
            BranchCase::Remote => self.track(&remote.unwrap_or_default()).await,
            BranchCase::New { base, commit } => {
                self.add_new(&commit).await?;
                Ok(WorktreeOrigin::NewBranch { base, commit })
            }
            BranchCase::PullRequest { reference, commit } => {
                self.note_pull_request(&remote.unwrap_or_default(), &reference).await?;
                self.add_new(&commit).await?;
                Ok(WorktreeOrigin::PullRequest { reference, commit })
            }
            BranchCase::First => self.add_first().await,
        }
    }

    async fn facts(&self, remote: Option<&str>) -> Result<BranchFacts> {
        let wanted = self.spec.branch.clone();
        let branches = self.repository.refs().branches(remote).await?;
        let is_local = branches.local.iter().any(|name| name == wanted.as_str());
        let is_remote = branches.remote.iter().any(|name| name == wanted.as_str());
        let is_pull_request = matches!(self.spec.start, BranchStart::PullRequest(_));
        let base = match is_local || is_remote && !is_pull_request {
            true => None,
            false => self.base(remote).await?,
        };
        let checked_out =
            listing::list(self.repository.git, &self.repository.folders).await?.into_iter();
        let holder = checked_out.filter(|it| it.branch.as_deref() == Some(wanted.as_str()));
        Ok(BranchFacts {
            start: self.spec.start.clone(),
            local: branches.local,
            remote: branches.remote,
            checked_out_at: holder.map(|it| it.path).next(),
            pull_request: self.pull_request(&wanted).await?,
            base,
            wanted,
        })
    }

    /// Returns the commit at which a new branch starts. `None` in a repository without commits.
    async fn base(&self, remote: Option<&str>) -> Result<Option<(String, CommitId)>> {
        match (&self.spec.start, remote) {
            (BranchStart::Base(revision), _) => {
                self.repository.refs().named(revision, remote).await.map(Some)
            }
            (BranchStart::PullRequest(reference), Some(remote)) => {
                self.fetch_pull_request(remote, reference).await.map(Some)
            }
            (BranchStart::PullRequest(reference), None) => Err(Error::usage(format!(
                "the repository has no remote that could have `{reference}`"
            ))),
            (BranchStart::DefaultBranch, Some(remote)) => self.default_base(remote).await,
            (BranchStart::DefaultBranch, None) => self.checked_out_base().await,
        }
    }

    /// Returns the default branch of the remote. In our own clone, the remote was reached just now,
    /// so it is asked which branch that is: it may have been renamed.
    async fn default_base(&self, remote: &str) -> Result<Option<(String, CommitId)>> {
        let refs = self.repository.refs();
        let known = refs.default_branch(remote).await?;
        if known.is_none() || self.repository.is_clone {
            let asked = self.ask_default_branch(remote).await;
            match asked {
                Err(error) => tracing::info!(%error, "the remote has no default branch"),
                Ok(()) => {
                    if let Some(branch) = refs.default_branch(remote).await? {
                        return Ok(Some(branch));
                    }
                }
            }
        }
        match known {
            Some(known) => Ok(Some(known)),
            None => self.checked_out_base().await,
        }
    }

    async fn ask_default_branch(&self, remote: &str) -> Result<()> {
        let command = self.repository.as_user(self.caller)?.limit(TimeLimit::NETWORK);
        command.args(["remote", "set-head", remote, "--auto"]).run().await?;
        Ok(())
    }

    async fn checked_out_base(&self) -> Result<Option<(String, CommitId)>> {
        let commit = self.repository.refs().commit("HEAD").await?;
        Ok(commit.map(|commit| ("HEAD".to_owned(), commit)))
    }

    async fn fetch_pull_request(
        &self,
        remote: &str,
        reference: &RefName,
    ) -> Result<(String, CommitId)> {
        let name = reference.as_str().strip_prefix("refs/").unwrap_or(reference.as_str());
        let kept = format!("refs/segue/fetched/{name}");
        failpoint::hit("git.pull_request.fetch.before");
        let command = self.repository.as_user(self.caller)?.limit(TimeLimit::NETWORK);
        let command = command.args(["fetch", "--progress", "--no-tags", "--no-write-fetch-head"]);
        let command = command.args(["--", remote, &format!("+{reference}:{kept}")]);
        command.run().await?;
        failpoint::hit("git.pull_request.fetch.after");
        let commit = self.repository.refs().commit(&kept).await?;
        let missing = || Error::not_found(format!("the remote has no commit at `{reference}`"));
        Ok((reference.to_string(), commit.ok_or_else(missing)?))
    }

    /// Returns the pull request that an existing branch was made from.
    async fn pull_request(&self, branch: &BranchName) -> Result<PullRequestBranch> {
        let merge = self.repository.refs().setting(&format!("branch.{branch}.merge")).await?;
        let reference = merge.filter(|it| !it.starts_with("refs/heads/"));
        let reference = reference.and_then(|it| RefName::parse(&it).ok());
        Ok(reference.map_or(PullRequestBranch::No, PullRequestBranch::Of))
    }

    /// Notes in the configuration where the branch comes from, as `gh pr checkout` does. The branch
    /// is made afterwards, so that no branch of a pull request is without this note.
    async fn note_pull_request(&self, remote: &str, reference: &RefName) -> Result<()> {
        let branch = &self.spec.branch;
        for (key, value) in [("remote", remote), ("merge", reference.as_str())] {
            let key = format!("branch.{branch}.{key}");
            self.repository.changing()?.args(["config", &key, value]).run().await?;
        }
        failpoint::hit("git.pull_request.note.after");
        Ok(())
    }

    fn make_parent(&self) -> Result<()> {
        let parent = self.path.parent().unwrap_or(self.path);
        fs::create_dir_all(parent).map_err(|error| cannot("create", parent, &error))
    }

    async fn add_branch(&self) -> Result<WorktreeOrigin> {
        self.add(&[], Some(self.spec.branch.as_str())).await?;
        Ok(WorktreeOrigin::LocalBranch)
    }

    async fn track(&self, remote: &str) -> Result<WorktreeOrigin> {
        let branch = self.spec.branch.as_str();
        let upstream = format!("refs/remotes/{remote}/{branch}");
        self.add(&["--track", "-b", branch], Some(&upstream)).await?;
        Ok(WorktreeOrigin::RemoteBranch)
    }

    async fn add_new(&self, commit: &CommitId) -> Result<()> {
        let branch = self.spec.branch.as_str();
        let added = self.add(&["--no-track", "-b", branch], Some(commit.as_str())).await;
        let is_ours = |error: &Error| !error.causes.iter().any(|it| it.contains("already exists"));
        let has_left_branch = added.as_ref().is_err_and(is_ours);
        if has_left_branch && layout::content(self.path) != FolderContent::Files {
            self.forget_branch(commit).await;
        }
        added
    }

    /// Deletes the branch that a failed `git worktree add` has left. Git refuses if the branch is
    /// not at the commit where it started.
    async fn forget_branch(&self, commit: &CommitId) {
        let branch = self.spec.branch.reference();
        let arguments = ["update-ref", "-d", &branch, commit.as_str()];
        let deleted = async { self.repository.changing()?.args(arguments).output().await };
        if let Err(error) = deleted.await {
            tracing::warn!(%error, "a branch without a worktree stays behind");
        }
    }

    /// Makes a worktree in a repository without commits. Git 2.39 cannot do that, so the worktree
    /// is made at an empty commit that no ref keeps.
    async fn add_first(&self) -> Result<WorktreeOrigin> {
        let commit = empty_commit(self.repository).await?;
        self.add(&["--no-checkout", "--detach"], Some(commit.as_str())).await?;
        point_head(self.repository, self.path, &self.spec.branch).await?;
        Ok(WorktreeOrigin::FirstBranch)
    }

    /// Runs `git worktree add`. The worktree stays locked.
    async fn add(&self, options: &[&str], start: Option<&str>) -> Result<()> {
        failpoint::hit("git.worktree.add.before");
        let reason = UnfinishedStep::Making.reason();
        let command = self.repository.as_user(self.caller)?;
        let command = command.args(["worktree", "add", "--lock", "--reason", &reason]);
        let command = command.args(options).path(self.path).args(start);
        command.run().await?;
        failpoint::hit("git.worktree.add.after");
        Ok(())
    }
}

/// Adds an identity for commits that Segue makes for itself.
pub(crate) fn with_identity(command: GitCommand) -> GitCommand {
    let names = ["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"];
    let mails = ["GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"];
    let command = names.iter().fold(command, |it, name| it.variable(name, "Segue"));
    mails.iter().fold(command, |it, name| it.variable(name, "segue@localhost"))
}

/// Returns an empty commit that no ref keeps.
pub(crate) async fn empty_commit(repository: &LockedRepository<'_>) -> Result<CommitId> {
    let command = repository.git.bookkeeping(&repository.folders);
    let tree = command.arg("mktree").input(Vec::new()).line().await?;
    let command = with_identity(repository.changing()?);
    CommitId::parse(&command.args(["commit-tree", "-m", "empty", &tree]).line().await?)
}

/// Puts a worktree on a branch without commits.
pub(crate) async fn point_head(
    repository: &LockedRepository<'_>,
    path: &Path,
    branch: &BranchName,
) -> Result<()> {
    let admin = repository.folders.admin_folder(path);
    let admin = admin.ok_or_else(|| Error::internal("git has not registered the worktree"))?;
    let command = repository.git.bookkeeping_in(&admin).holding(&repository.lock)?;
    command.args(["symbolic-ref", "HEAD", &branch.reference()]).run().await?;
    failpoint::hit("git.worktree.head.after");
    Ok(())
}
