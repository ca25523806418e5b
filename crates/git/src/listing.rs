//! The worktrees that git lists.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use segue_core::Result;
use segue_core::model::{CommitId, ListedWorktree};

use crate::layout::{self, RepositoryFolders};
use crate::program::Git;

/// Returns the worktrees of a repository, its main folder first.
pub(crate) async fn list(git: &Git, repository: &RepositoryFolders) -> Result<Vec<ListedWorktree>> {
    let command = git.bookkeeping(repository).args(["worktree", "list", "--porcelain", "-z"]);
    let mut worktrees = parse(&command.run().await?);
    for worktree in worktrees.iter_mut().filter(|it| it.branch.is_none()) {
        worktree.branch = branch_of_operation(repository, worktree);
    }
    Ok(worktrees)
}

/// Returns the worktree that git lists at this path, which has no symlinks.
pub(crate) async fn find(
    git: &Git,
    repository: &RepositoryFolders,
    path: &Path,
) -> Result<Option<ListedWorktree>> {
    let listed = list(git, repository).await?;
    Ok(listed.into_iter().find(|it| layout::real(&it.path) == path))
}

/// Returns the branch to which an operation in progress returns. HEAD is detached meanwhile.
fn branch_of_operation(
    repository: &RepositoryFolders,
    worktree: &ListedWorktree,
) -> Option<String> {
    let git_folder = match worktree.is_main {
        true => repository.common.clone(),
        false => repository.admin_folder(&layout::real(&worktree.path))?,
    };
    layout::operation(&git_folder)?.1
}

fn parse(output: &[u8]) -> Vec<ListedWorktree> {
    let mut worktrees: Vec<ListedWorktree> = Vec::new();
    for line in output.split(|byte| *byte == 0).filter(|line| !line.is_empty()) {
        let end = line.iter().position(|byte| *byte == b' ').unwrap_or(line.len());
        let (word, value) = (&line[..end], line.get(end + 1..).unwrap_or_default());
        if word == b"worktree" {
            let path = PathBuf::from(OsStr::from_bytes(value));
            let (head, branch, locked) = (None, None, None);
            let is_main = worktrees.is_empty();
            worktrees.push(ListedWorktree { path, head, branch, locked, is_main });
        } else if let Some(worktree) = worktrees.last_mut() {
            describe(worktree, word, &String::from_utf8_lossy(value));
        }
    }
    worktrees
}

fn describe(worktree: &mut ListedWorktree, word: &[u8], value: &str) {
    match word {
        // Before the first commit, the id has only zeros.
        b"HEAD" if value.bytes().any(|byte| byte != b'0') => {
            worktree.head = CommitId::parse(value).ok();
        }
        b"branch" => {
            let branch = value.strip_prefix("refs/heads/").unwrap_or(value);
            worktree.branch = Some(branch.to_owned());
        }
        b"locked" => worktree.locked = Some(value.to_owned()),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn list_of_git_is_parsed() {
        let head = "1".repeat(40);
        let zero = "0".repeat(40);
        let output = format!(
            "worktree /a b\0HEAD {head}\0branch refs/heads/x/y\0\0\
             worktree /new\nline\0HEAD {zero}\0branch refs/heads/z\0locked\0\0\
             worktree /c\0HEAD {head}\0detached\0locked on a\nstick\0prunable gone\0\0"
        );
        let worktrees = parse(output.as_bytes());
        let head = CommitId::parse(&head).ok();
        let listed = |path: &str, head, branch: Option<&str>, locked: Option<&str>| {
            let (branch, locked) = (branch.map(str::to_owned), locked.map(str::to_owned));
            ListedWorktree { path: path.into(), head, branch, locked, is_main: path == "/a b" }
        };
        let wanted = [
            listed("/a b", head.clone(), Some("x/y"), None),
            listed("/new\nline", None, Some("z"), Some("")),
            listed("/c", head, None, Some("on a\nstick")),
        ];
        assert_eq!(worktrees, wanted);
    }
}
