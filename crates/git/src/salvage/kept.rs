//! Finds the commits that only a worktree's git folder keeps: in its reflog, or in the files of an
//! operation in progress. They would be lost with the worktree.

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use segue_core::Result;
use segue_core::model::CommitId;

use super::disk;
use crate::layout::RepositoryFolders;
use crate::locked::LockedRepository;
use crate::view::WorktreeFolders;

/// Maximum length of a file that is searched for ids. Reflogs of very active worktrees are shorter.
const LONGEST_FILE_BYTES: u64 = 16 << 20;

/// Returns the newest of the commits that no branch, no tag, no reflog of the branch and not
/// HEAD keeps.
pub(super) async fn commits(
    repository: &LockedRepository<'_>,
    worktree: &WorktreeFolders,
    branch: Option<&str>,
    head: Option<&CommitId>,
) -> Result<Vec<CommitId>> {
    let found = disk::look_below(worktree.admin.clone(), is_left_out).await?;
    let files = found.files.iter().map(|file| disk::join(&worktree.admin, &file.path));
    let candidates = existing(repository, ids_in(files)).await?;
    if candidates.is_empty() {
        return Ok(Vec::new());
    }
    let reflog = branch.map(|branch| branch_reflog(&worktree.repository, branch));
    let known = existing(repository, ids_in(reflog)).await?;
    let lines = candidates.into_iter().chain(known.into_iter().map(|id| format!("^{id}")));
    let lines = lines.collect::<Vec<_>>().join("\n").into_bytes();
    let command = repository.git.bookkeeping(&repository.folders);
    let command = command.args(["rev-list", "--parents", "--ignore-missing", "--stdin"]);
    let command = command.args(["--not", "--branches", "--remotes", "--tags"]);
    let output = command.args(head.map(CommitId::as_str)).input(lines).line().await?;
    Ok(newest(&output))
}

/// Returns the commits that are no other commit's parent, from lines of a commit and its parents.
fn newest(lines: &str) -> Vec<CommitId> {
    let lines: Vec<Vec<&str>> = lines.lines().map(|it| it.split(' ').collect()).collect();
    let parents: HashSet<&str> = lines.iter().flat_map(|it| it.iter().skip(1).copied()).collect();
    let commits = lines.iter().filter_map(|it| it.first());
    let newest = commits.filter(|commit| !parents.contains(**commit));
    newest.filter_map(|commit| CommitId::parse(commit).ok()).collect()
}

/// Returns the ids that are commits of the repository.
async fn existing(
    repository: &LockedRepository<'_>,
    ids: BTreeSet<String>,
) -> Result<BTreeSet<String>> {
    if ids.is_empty() {
        return Ok(ids);
    }
    let lines: String = ids.iter().map(|id| format!("{id}\n")).collect();
    let command = repository.git.bookkeeping(&repository.folders);
    let command = command.args(["cat-file", "--batch-check=%(objectname) %(objecttype)"]);
    let output = command.input(lines.into_bytes()).line().await?;
    Ok(output.lines().filter_map(|line| line.strip_suffix(" commit")).map(str::to_owned).collect())
}

fn ids_in(files: impl IntoIterator<Item = PathBuf>) -> BTreeSet<String> {
    files.into_iter().flat_map(|path| ids(&read(&path))).collect()
}

fn ids(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric());
    let commits = words.filter_map(|word| CommitId::parse(word).ok());
    let is_zero = |id: &CommitId| id.as_str().bytes().all(|byte| byte == b'0');
    commits.filter(|id| !is_zero(id)).map(String::from).collect()
}

fn branch_reflog(repository: &RepositoryFolders, branch: &str) -> PathBuf {
    repository.common.join("logs/refs/heads").join(branch)
}

fn read(path: &Path) -> String {
    match fs::symlink_metadata(path) {
        Ok(facts) if facts.is_file() && facts.len() <= LONGEST_FILE_BYTES => {
            String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned()
        }
        _ => String::new(),
    }
}

/// The index has no commits. The git folders of submodules have commits of other repositories.
fn is_left_out(path: &[u8]) -> bool {
    path == b"index" || path == b"modules" || path.starts_with(b"sharedindex.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_found_in_reflogs_and_lists() {
        let (one, two, zero) = ("1".repeat(40), "2".repeat(64), "0".repeat(40));
        let text = format!("{zero} {one} me <a@b> 1 +0000\tcommit: x\npick {two}\nabc {one}1");
        assert_eq!(ids(&text), BTreeSet::from([one, two]));
    }

    #[test]
    fn newest_commits_are_nobodys_parents() {
        let id = |digit: &str| digit.repeat(40);
        let (a, b, c, d) = (id("a"), id("b"), id("c"), id("d"));
        let lines = format!("{a} {b}\n{b} {d}\n{c} {d}");
        let newest: Vec<String> = newest(&lines).into_iter().map(String::from).collect();
        assert_eq!(newest, [a, c]);
        assert!(super::newest("").is_empty());
    }
}
