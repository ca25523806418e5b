//! Carries over what only a damaged clone has: local branches, salvages, and worktrees with their
//! staged files.

use std::fs;
use std::path::{Path, PathBuf};

use segue_core::model::CommitId;
use segue_core::{Result, failpoint};

use crate::command::{GitCommand, TimeLimit};
use crate::failure::cannot;
use crate::locked::LockedRepository;

/// Carries over everything that can be read, and returns what cannot. The damaged clone keeps its
/// objects.
pub(super) async fn over(repository: &LockedRepository<'_>, aside: &Path) -> Result<Vec<String>> {
    let carrying = Carrying { repository, aside };
    carrying.make_readable()?;
    let mut lost = Vec::new();
    match carrying.refs().await {
        Err(error) => lost.push(format!("all local branches and salvages: {error}")),
        Ok(refs) => {
            for (commit, name) in refs {
                if let Err(error) = carrying.carry_ref(&commit, &name).await {
                    lost.push(format!("{name}: {error}"));
                }
            }
        }
    }
    carrying.carry_settings().await?;
    lost.extend(carrying.carry_worktrees().await?);
    Ok(lost)
}

#[derive(Clone, Copy)]
struct Carrying<'a> {
    repository: &'a LockedRepository<'a>,
    aside: &'a Path,
}

impl Carrying<'_> {
    fn old(&self) -> GitCommand {
        self.repository.git.bookkeeping_in(self.aside).limit(TimeLimit::LOCAL)
    }

    fn new_folder(&self) -> &Path {
        &self.repository.folders.common
    }

    /// Without `HEAD`, git does not take the folder for a repository.
    fn make_readable(&self) -> Result<()> {
        let head = self.aside.join("HEAD");
        match head.is_file() {
            true => Ok(()),
            false => fs::write(&head, "ref: refs/heads/main\n")
                .map_err(|error| cannot("write", &head, &error)),
        }
    }

    /// Returns the refs that only the clone has.
    async fn refs(&self) -> Result<Vec<(CommitId, String)>> {
        let command = self.old().args(["for-each-ref", "--format=%(objectname) %(refname)"]);
        let text = command.args(["refs/heads/", "refs/segue/"]).line().await?;
        let pair = |line: &str| {
            let (commit, name) = line.split_once(' ')?;
            Some((CommitId::parse(commit).ok()?, name.to_owned()))
        };
        Ok(text.lines().filter_map(pair).collect())
    }

    async fn carry_ref(&self, commit: &CommitId, name: &str) -> Result<()> {
        let mut lines = vec![commit.to_string()];
        let command = self.repository.git.bookkeeping(&self.repository.folders);
        let command = command.args(["for-each-ref", "--format=^%(objectname)", "refs/remotes/"]);
        let known = command.line().await?;
        // What the remote has is in the new clone already. The old one may lack new commits.
        lines.extend(self.known_to_old(&known).await?);
        self.pack(&["--revs"], lines.join("\n").into_bytes()).await?;
        let refs = self.repository.refs();
        let command = self.repository.git.bookkeeping(&self.repository.folders);
        let command =
            command.args(["rev-list", "--objects", "--quiet", "--exclude-promisor-objects"]);
        command.args([commit.as_str(), "--not", "--remotes"]).run().await?;
        if refs.commit(name).await?.is_none() {
            let command = self.repository.changing()?.args(["update-ref", name, commit.as_str()]);
            command.run().await?;
        }
        failpoint::hit("git.clone.carry.ref.after");
        Ok(())
    }

    /// Returns those of the negated ids that the damaged clone has.
    async fn known_to_old(&self, negated: &str) -> Result<Vec<String>> {
        let ids = negated.replace('^', "").into_bytes();
        let existing = self.existing_in(self.aside, ids).await?;
        Ok(existing.into_iter().map(|id| format!("^{id}")).collect())
    }

    async fn existing_in(&self, folder: &Path, ids: Vec<u8>) -> Result<Vec<String>> {
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
            let moved = target.join(admin.file_name().unwrap_or_default());
            fs::rename(&admin, &moved).map_err(|error| cannot("move", &admin, &error))?;
            failpoint::hit("git.clone.carry.worktree.after");
        }
        Ok(lost)
    }

    /// Carries over the objects that the index of a worktree has, and no commit.
    async fn carry_staged(&self, admin: &Path) -> Result<()> {
        let index: PathBuf = admin.join("index");
        if !index.is_file() {
            return Ok(());
        }
        let command = self.old().path_variable("GIT_INDEX_FILE", &index);
        let text = command.args(["ls-files", "--stage"]).line().await?;
        let ids = text.lines().filter(|line| !line.starts_with("160000"));
        let ids: Vec<&str> = ids.filter_map(|line| line.split(' ').nth(1)).collect();
        let there = self.existing_in(self.aside, ids.join("\n").into_bytes()).await?;
        self.pack(&[], there.join("\n").into_bytes()).await
    }
}
