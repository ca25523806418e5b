//! Compares a worktree with the commit at which it left its base.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use segue_core::Result;
use segue_core::model::{CommitId, FileDiff, ListedWorktree, WorktreeDiff};

use crate::command::{GitCommand, TimeLimit};
use crate::failure::cannot;
use crate::layout::RepositoryFolders;
use crate::program::Git;
use crate::refs::Refs;
use crate::scratch::Scratch;
use crate::view::{FileReading, View};
use crate::worktree;

/// A comparison of one worktree.
#[derive(Debug)]
pub(crate) struct Comparing<'a> {
    pub(crate) git: &'a Git,
    pub(crate) scratch: &'a Scratch,
    pub(crate) repository: &'a RepositoryFolders,
}

/// A worktree and the commit with which it is compared.
#[derive(Debug)]
pub(crate) struct ComparedSides {
    listed: ListedWorktree,
    base: Option<CommitId>,
}

/// Lets a partial clone fetch the files that a comparison needs.
pub(crate) async fn fetch_files(command: GitCommand, sides: &ComparedSides) -> Result<()> {
    compare_commits(command, sides).limit(TimeLimit::NETWORK).run().await.map(drop)
}

fn compare_commits(command: GitCommand, sides: &ComparedSides) -> GitCommand {
    let options =
        ["diff-tree", "-r", "--numstat", "--no-renames", "--no-ext-diff", "--no-textconv"];
    let commits = sides.base.iter().chain(&sides.listed.head);
    command.args(options).args(commits.map(CommitId::as_str))
}

impl Comparing<'_> {
    /// Finds the worktree and the commit at which it left `base`.
    pub(crate) async fn find(&self, path: &Path, base: Option<&str>) -> Result<ComparedSides> {
        let listed = worktree::listed_at(self.git, self.repository, path).await?;
        let base = self.merge_base(&listed, base).await?;
        Ok(ComparedSides { listed, base })
    }

    /// Compares a worktree with the commit at which it left its base.
    pub(crate) async fn diff(
        &self,
        sides: ComparedSides,
        patch_bytes: usize,
    ) -> Result<WorktreeDiff> {
        let ComparedSides { listed, base } = sides;
        let folders = worktree::folders(self.repository, &listed)?;
        let head = listed.head.as_ref();
        let view = View::open(self.git, self.scratch, &folders, head, FileReading::Text).await?;
        let index = view.folder.path.join("diff-index");
        copy_index(&folders.admin.join("index"), &index)?;
        self.add_untracked(&view, &index).await?;
        let tree = match &base {
            Some(base) => base.to_string(),
            None => view.write_tree(&[]).await?,
        };
        let command =
            |format: &[&str]| diff_command(&view, &index).args(format).args([&tree, "--"]);
        let numbers = command(&["--numstat", "-z"]).run().await?;
        let (patch, is_cut) = command(&["--patch"]).run_at_most(patch_bytes).await?;
        Ok(WorktreeDiff { base, files: parse(&numbers), patch, is_cut })
    }

    /// Returns the commit at which the worktree left its base. `None` if they have none in common.
    async fn merge_base(
        &self,
        listed: &ListedWorktree,
        base: Option<&str>,
    ) -> Result<Option<CommitId>> {
        let refs = Refs { git: self.git, repository: self.repository };
        let remote = refs.remote().await?;
        let base = match (base, &remote) {
            (Some(base), remote) => Some(refs.named(base, remote.as_deref()).await?),
            (None, Some(remote)) => refs.default_branch(remote).await?,
            (None, None) => None,
        };
        let base = match base {
            Some((_, commit)) => Some(commit),
            None => refs.commit("HEAD").await?,
        };
        match (base, &listed.head) {
            (Some(base), Some(head)) => refs.merge_base(&base, head).await,
            _ => Ok(None),
        }
    }

    /// Returns whether a partial clone lacks files that the comparison needs.
    pub(crate) async fn lacks_files(&self, sides: &ComparedSides) -> Result<bool> {
        let refs = Refs { git: self.git, repository: self.repository };
        let has_commits = sides.base.is_some() && sides.listed.head.is_some();
        if !has_commits || !refs.is_partial().await? {
            return Ok(false);
        }
        let compared = compare_commits(self.git.bookkeeping(self.repository), sides);
        Ok(!compared.output().await?.status.success())
    }

    /// Adds the names of untracked files to an index of our own, so that the diff shows them.
    async fn add_untracked(&self, view: &View<'_>, index: &Path) -> Result<()> {
        let command = || view.command_with_index(index);
        let listed = ["ls-files", "-z", "--others", "--exclude-standard"];
        let untracked = command().args(listed).run().await?;
        let paths = untracked.split(|byte| *byte == 0);
        // A path with a trailing slash is a repository of its own.
        let files = paths.filter(|path| !path.is_empty() && !path.ends_with(b"/"));
        let input: Vec<u8> = files.flat_map(|path| [path, b"\0"].concat()).collect();
        if input.is_empty() {
            return Ok(());
        }
        let command = command().option("--literal-pathspecs").args(["add", "--intent-to-add"]);
        let command = command.args(["--pathspec-from-file=-", "--pathspec-file-nul"]);
        command.input(input).run().await?;
        Ok(())
    }
}

fn diff_command(view: &View<'_>, index: &Path) -> GitCommand {
    let command = view.command_with_index(index);
    let options = ["diff", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames"];
    command.args(options).arg("--ignore-submodules=all")
}

fn copy_index(from: &Path, to: &Path) -> Result<()> {
    match from.is_file() {
        true => fs::copy(from, to).map(drop).map_err(|error| cannot("copy", from, &error)),
        false => Ok(()),
    }
}

/// Parses `1<TAB>2<TAB>path`, with dashes for a binary file.
fn parse(output: &[u8]) -> Vec<FileDiff> {
    let parts = output.split(|byte| *byte == 0).filter(|part| !part.is_empty());
    parts.filter_map(parse_file).collect()
}

fn parse_file(line: &[u8]) -> Option<FileDiff> {
    let mut words = line.splitn(3, |byte| *byte == b'\t');
    let mut count = || -> Option<&str> { std::str::from_utf8(words.next()?).ok() };
    let (added, removed) = (count()?, count()?);
    let lines = added.parse().ok().zip(removed.parse().ok());
    let path = PathBuf::from(OsStr::from_bytes(words.next()?));
    Some(FileDiff { path, lines })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_lines_are_parsed() {
        let files = parse(b"1\t20\ta\tb\0-\t-\tpicture.png\0");
        let wanted = [
            FileDiff { path: "a\tb".into(), lines: Some((1, 20)) },
            FileDiff { path: "picture.png".into(), lines: None },
        ];
        assert_eq!(files, wanted);
    }
}
