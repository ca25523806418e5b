//! Branches and revisions of a repository.

use segue_core::model::{BranchName, CommitId, TaskCommit};
use segue_core::{Error, Result};

use crate::layout::RepositoryFolders;
use crate::program::Git;

/// The most characters of a commit's subject that are kept.
const LONGEST_SUBJECT: usize = 200;

/// The branches of a repository, and of its remote.
#[derive(Clone, Debug, Default)]
pub(crate) struct Branches {
    pub(crate) local: Vec<String>,
    pub(crate) remote: Vec<String>,
}

/// Reads refs of a repository.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Refs<'a> {
    pub(crate) git: &'a Git,
    pub(crate) repository: &'a RepositoryFolders,
}

impl Refs<'_> {
    /// Returns the remote that new branches come from: `origin`, or the only one.
    pub(crate) async fn remote(self) -> Result<Option<String>> {
        let names = self.git.bookkeeping(self.repository).arg("remote").line().await?;
        let names: Vec<&str> = names.lines().collect();
        let origin = names.iter().find(|name| **name == "origin");
        let only = || names.first().filter(|_| names.len() == 1);
        Ok(origin.or_else(only).map(|name| (*name).to_owned()))
    }

    pub(crate) async fn branches(self, remote: Option<&str>) -> Result<Branches> {
        let of_remote = remote.map(|remote| format!("refs/remotes/{remote}/"));
        let command = self.git.bookkeeping(self.repository);
        let command = command.args(["for-each-ref", "--format=%(refname)", "refs/heads/"]);
        let names = command.args(&of_remote).line().await?;
        let mut branches = Branches::default();
        for name in names.lines() {
            let prefix = of_remote.as_deref().unwrap_or("refs/remotes/");
            if let Some(branch) = name.strip_prefix("refs/heads/") {
                branches.local.push(branch.to_owned());
            } else if let Some(branch) = name.strip_prefix(prefix).filter(|it| *it != "HEAD") {
                branches.remote.push(branch.to_owned());
            }
        }
        Ok(branches)
    }

    /// Returns the commit of a revision. `None` if there is no such revision.
    pub(crate) async fn commit(self, revision: &str) -> Result<Option<CommitId>> {
        let command = self.git.bookkeeping(self.repository);
        let command = command.args(["rev-parse", "--verify", "--quiet", "--end-of-options"]);
        let output = command.arg(format!("{revision}^{{commit}}")).output().await?;
        let text = String::from_utf8_lossy(&output.stdout);
        Ok(CommitId::parse(text.trim()).ok().filter(|_| output.status.success()))
    }

    /// Returns a value of the repository's configuration.
    pub(crate) async fn setting(self, key: &str) -> Result<Option<String>> {
        let command = self.git.bookkeeping(self.repository).args(["config", "--get", key]);
        let output = command.output().await?;
        let text = String::from_utf8_lossy(&output.stdout);
        Ok(output.status.success().then(|| text.trim_end_matches('\n').to_owned()))
    }

    /// Returns whether the repository is a partial clone, which lacks objects that its remote has.
    pub(crate) async fn is_partial(self) -> Result<bool> {
        let command = self.git.bookkeeping(self.repository);
        let command = command.args(["config", "--get-regexp", "^remote\\..*\\.promisor$", "true"]);
        Ok(command.output().await?.status.success())
    }

    /// Returns the default branch of the remote, as a short ref such as `origin/main`. `None` if the
    /// remote's HEAD is unknown, or names a branch that is gone.
    pub(crate) async fn default_branch(self, remote: &str) -> Result<Option<(String, CommitId)>> {
        let head = format!("refs/remotes/{remote}/HEAD");
        let command = self.git.bookkeeping(self.repository).args(["symbolic-ref", "-q", &head]);
        let output = command.output().await?;
        let target = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        let name = target.strip_prefix("refs/remotes/").unwrap_or(&target).to_owned();
        Ok(self.commit(&target).await?.map(|commit| (name, commit)))
    }

    /// Returns the commit of a revision that the user named. Branches of the remote are found
    /// without its name.
    pub(crate) async fn named(
        self,
        revision: &str,
        remote: Option<&str>,
    ) -> Result<(String, CommitId)> {
        if let Some(commit) = self.commit(revision).await? {
            return Ok((revision.to_owned(), commit));
        }
        if let Some(remote) = remote {
            let name = format!("{remote}/{revision}");
            if let Some(commit) = self.commit(&format!("refs/remotes/{name}")).await? {
                return Ok((name, commit));
            }
        }
        let shown = revision.escape_debug();
        Err(Error::not_found(format!("the repository has no revision `{shown}`"))
            .hint("use a branch, a tag or a commit; `git branch --all` lists the branches"))
    }

    /// Returns the upstream of a branch, as a short ref such as `origin/main`. `None` if it has none,
    /// or none that is a branch of a remote.
    pub(crate) async fn upstream(self, branch: &str) -> Result<Option<String>> {
        let command = self.git.bookkeeping(self.repository);
        let command = command.args(["for-each-ref", "--format=%(upstream)"]);
        let text = command.arg(format!("refs/heads/{branch}")).line().await?;
        Ok(text.strip_prefix("refs/remotes/").map(str::to_owned))
    }

    /// Returns how many commits `head` has that `other` does not have, and the other way round.
    /// `None` if there is no such ref.
    pub(crate) async fn ahead_and_behind(
        self,
        head: &CommitId,
        other: &str,
    ) -> Result<Option<(usize, usize)>> {
        let command = self.git.bookkeeping(self.repository);
        let command = command.args(["rev-list", "--left-right", "--count", "--end-of-options"]);
        let output = command.arg(format!("{head}...{other}")).arg("--").output().await?;
        let text = String::from_utf8_lossy(&output.stdout);
        let mut counts = text.split_whitespace().filter_map(|count| count.parse().ok());
        Ok(counts.next().zip(counts.next()).filter(|_| output.status.success()))
    }

    /// Returns the newest commits that `head` has and `base` does not have, oldest first.
    pub(crate) async fn commits_since(
        self,
        head: &CommitId,
        base: Option<&CommitId>,
        limit: usize,
    ) -> Result<Vec<TaskCommit>> {
        let command = self.git.bookkeeping(self.repository);
        // `git log` would check signatures where the configuration says so.
        let command = command.args(["rev-list", "--no-commit-header", "--format=%H %s"]);
        let command = command.arg(format!("--max-count={limit}")).arg(head.as_str());
        let command = command.args(base.map(|base| format!("^{base}"))).arg("--");
        let output = command.run().await?;
        let text = String::from_utf8_lossy(&output);
        let mut commits: Vec<TaskCommit> = text.lines().filter_map(commit_of).collect();
        commits.reverse();
        Ok(commits)
    }

    /// Returns the newest commit that two commits have in common.
    pub(crate) async fn merge_base(
        self,
        one: &CommitId,
        other: &CommitId,
    ) -> Result<Option<CommitId>> {
        let command = self.git.bookkeeping(self.repository);
        let output = command.args(["merge-base", one.as_str(), other.as_str()]).output().await?;
        let text = String::from_utf8_lossy(&output.stdout);
        Ok(CommitId::parse(text.trim()).ok().filter(|_| output.status.success()))
    }

    /// Returns the commit of a local branch.
    pub(crate) async fn branch(self, branch: &BranchName) -> Result<Option<CommitId>> {
        self.commit(&branch.reference()).await
    }
}

/// Parses `<id> <subject>`.
fn commit_of(line: &str) -> Option<TaskCommit> {
    let (id, subject) = line.split_once(' ')?;
    let subject = subject.chars().take(LONGEST_SUBJECT).collect();
    Some(TaskCommit { id: CommitId::parse(id).ok()?.to_string(), subject })
}
