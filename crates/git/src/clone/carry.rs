//! Copies data that only a damaged clone has into the new clone: refs, stashes, and worktrees with
//! their staged files and commits.

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::path::Path;

use segue_core::model::CommitId;
use segue_core::{Result, failpoint};

use crate::command::{GitCommand, TimeLimit};
use crate::failure::cannot;
use crate::layout::RepositoryFolders;
use crate::locked::LockedRepository;
use crate::salvage;

use super::stashes::STASH;

/// Carries over everything that can be read. Returns a text for each ref and worktree that cannot be
/// read, with the error. The damaged clone keeps its objects.
pub(super) async fn carry_over(
    repository: &LockedRepository<'_>,
    aside: &Path,
) -> Result<Vec<String>> {
    let carrying = Carrying { repository, aside };
    carrying.make_readable()?;
    let mut lost = Vec::new();
    match carrying.refs().await {
        Err(error) => lost.push(format!("all local branches, tags and salvages: {error}")),
        Ok(refs) => {
            for (commit, name) in refs {
                if let Err(error) = carrying.carry_ref(&commit, &name).await {
                    lost.push(format!("{name}: {error}"));
                }
            }
        }
    }
    if let Err(error) = carrying.carry_stashes().await {
        lost.push(format!("stashes: {error}"));
    }
    carrying.carry_settings().await?;
    lost.extend(carrying.carry_worktrees().await?);
    Ok(lost)
}

#[derive(Clone, Copy)]
pub(super) struct Carrying<'a> {
    pub(super) repository: &'a LockedRepository<'a>,
    pub(super) aside: &'a Path,
}

impl Carrying<'_> {
    fn old(&self) -> GitCommand {
        self.repository.git.bookkeeping_in(self.aside).limit(TimeLimit::LOCAL)
    }

    pub(super) fn old_folders(&self) -> RepositoryFolders {
        RepositoryFolders { common: self.aside.to_owned(), checkout: self.aside.to_owned() }
    }

    pub(super) fn new_folder(&self) -> &Path {
        &self.repository.folders.common
    }

    /// Creates a missing `HEAD`. Without it, git does not recognize the folder as a repository.
    fn make_readable(&self) -> Result<()> {
        let head = self.aside.join("HEAD");
        match head.is_file() {
            true => Ok(()),
            false => fs::write(&head, "ref: refs/heads/main\n")
                .map_err(|error| cannot("write", &head, &error)),
        }
    }

    /// Returns the refs that the new clone does not have, except branches of the remote.
    async fn refs(&self) -> Result<Vec<(CommitId, String)>> {
        let command = self.repository.git.bookkeeping(&self.repository.folders);
        let known = command.args(["for-each-ref", "--format=%(refname)"]).line().await?;
        let known: HashSet<&str> = known.lines().collect();
        let command = self.old().args(["for-each-ref", "--format=%(objectname) %(refname)"]);
        let text = command.line().await?;
        let is_meant = |name: &str| !is_excluded(name) && !known.contains(name);
        let pair = |line: &str| {
            let (commit, name) = line.split_once(' ').filter(|(_, name)| is_meant(name))?;
            Some((CommitId::parse(commit).ok()?, name.to_owned()))
        };
        Ok(text.lines().filter_map(pair).collect())
    }

    async fn carry_ref(&self, commit: &CommitId, name: &str) -> Result<()> {
        self.carry_commits(&[commit.to_string()]).await?;
        let command = self.repository.changing()?.args(["update-ref", name, commit.as_str()]);
        command.run().await?;
        failpoint::hit("git.clone.carry.ref.after");
        Ok(())
    }

    /// Carries over commits with everything that the remote does not have, and checks that the new
    /// clone can read them.
    pub(super) async fn carry_commits(&self, commits: &[String]) -> Result<()> {
        let command = self.repository.git.bookkeeping(&self.repository.folders);
        let command = command.args(["for-each-ref", "--format=^%(objectname)", "refs/remotes/"]);
        let known = command.line().await?;
        let mut lines = commits.to_vec();
        // The new clone already has the commits of the remote, so they are excluded. The damaged
        // clone may lack the newest of them, and git would fail for an unknown id.
        lines.extend(self.known_to_old(&known).await?);
        self.pack(&["--revs"], lines.join("\n").into_bytes()).await?;
        let command = self.repository.git.bookkeeping(&self.repository.folders);
        let command =
            command.args(["rev-list", "--objects", "--quiet", "--exclude-promisor-objects"]);
        let command = command.args(["--stdin", "--not", "--remotes"]);
        command.input(commits.join("\n").into_bytes()).run().await?;
        Ok(())
    }

    /// Returns the negated ids (`^ID`) that the damaged clone has. The others are left out.
    async fn known_to_old(&self, negated: &str) -> Result<Vec<String>> {
        let ids = negated.replace('^', "").into_bytes();
        let existing = self.existing_in(self.aside, ids).await?;
        Ok(existing.into_iter().map(|id| format!("^{id}")).collect())
    }

    pub(super) async fn existing_in(&self, folder: &Path, ids: Vec<u8>) -> Result<Vec<String>> {
        let command = self.repository.git.bookkeeping_in(folder);
        let command = command.args(["cat-file", "--batch-check=%(objectname) %(objecttype)"]);
        let text = command.input(ids).line().await?;
        let there = text.lines().filter(|line| !line.ends_with(" missing"));
        Ok(there.filter_map(|line| line.split(' ').next()).map(str::to_owned).collect())
    }

    /// Writes objects of the damaged clone into a pack of the new one.
    async fn pack(&self, options: &[&str], input: Vec<u8>) -> Result<()> {
        let pack = self.new_folder().join("objects/pack/pack");
        let command = self.old().args(["pack-objects", "--quiet", "--missing=allow-any"]);
        command.args(options).arg(pack).input(input).run().await?;
        Ok(())
    }

    /// Carries over the upstreams of branches.
    async fn carry_settings(&self) -> Result<()> {
        let config = self.aside.join("config");
        let command = self.repository.git.closed(self.aside).arg("config").arg("--file");
        let command = command.arg(&config).args(["-z", "--get-regexp", "^branch\\."]);
        let output = command.output().await?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        for (key, value) in text.split('\0').filter_map(|it| it.split_once('\n')) {
            let command = self.repository.changing()?.args(["config", "--replace-all", key, value]);
            command.run().await?;
        }
        Ok(())
    }

    /// Moves git's entries of the worktrees. Their folders find them at the same path.
    async fn carry_worktrees(&self) -> Result<Vec<String>> {
        let mut lost = Vec::new();
        let target = self.new_folder().join("worktrees");
        let Ok(entries) = fs::read_dir(self.aside.join("worktrees")) else { return Ok(lost) };
        fs::create_dir_all(&target).map_err(|error| cannot("create", &target, &error))?;
        for admin in entries.flatten().map(|entry| entry.path()) {
            if let Err(error) = self.carry_staged(&admin).await {
                lost.push(format!("staged files of {}: {error}", admin.display()));
            }
            if let Err(error) = self.carry_kept_commits(&admin).await {
                lost.push(format!("commits of {}: {error}", admin.display()));
            }
            let moved = target.join(admin.file_name().unwrap_or_default());
            fs::rename(&admin, &moved).map_err(|error| cannot("move", &admin, &error))?;
            failpoint::hit("git.clone.carry.worktree.after");
        }
        Ok(lost)
    }

    /// Carries over the objects of a worktree's index. Staged files are in no commit.
    async fn carry_staged(&self, admin: &Path) -> Result<()> {
        if !admin.join("index").is_file() {
            return Ok(());
        }
        let command = self.repository.git.bookkeeping_in(admin).limit(TimeLimit::LOCAL);
        let text = command.args(["ls-files", "--stage"]).line().await?;
        let ids = text.lines().filter(|line| !line.starts_with("160000"));
        let ids: Vec<&str> = ids.filter_map(|line| line.split(' ').nth(1)).collect();
        let there = self.existing_in(self.aside, ids.join("\n").into_bytes()).await?;
        self.pack(&[], there.join("\n").into_bytes()).await
    }

    /// Carries over the commits that only the worktree keeps: a detached HEAD, its reflog, operations
    /// in progress.
    async fn carry_kept_commits(&self, admin: &Path) -> Result<()> {
        let ids = salvage::commit_ids_in(admin).await?;
        self.carry_existing(ids).await
    }

    /// Carries over the commits that the damaged clone has. Other ids are left out.
    pub(super) async fn carry_existing(&self, ids: BTreeSet<String>) -> Result<()> {
        let ids: Vec<String> = ids.into_iter().collect();
        let there = self.existing_in(self.aside, ids.join("\n").into_bytes()).await?;
        if there.is_empty() { Ok(()) } else { self.carry_commits(&there).await }
    }
}

/// Returns whether a ref is not carried over with the other refs: the new clone has it from the
/// remote, or it is carried over with its reflog.
fn is_excluded(name: &str) -> bool {
    name.starts_with("refs/remotes/") || name == STASH
}
