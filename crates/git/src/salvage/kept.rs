//! Finds the commits that only a worktree's git folder keeps: in its reflog, or in the files of an
//! operation in progress. They would be lost with the worktree.

use std::collections::{BTreeSet, HashSet};
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use segue_core::Result;
use segue_core::model::CommitId;

use super::disk;
use crate::failure::cannot;
use crate::layout::RepositoryFolders;
use crate::locked::LockedRepository;
use crate::view::WorktreeFolders;

/// Number of digits of an id with SHA-256.
const LONGEST_ID_LENGTH: usize = 64;

/// Returns the newest of the commits that only the worktree keeps. They are reachable neither from
/// branches and tags nor from the reflog of the worktree's branch nor from the commit `known`.
pub(crate) async fn commits(
    repository: &LockedRepository<'_>,
    worktree: &WorktreeFolders,
    branch: Option<&str>,
    known: Option<&CommitId>,
) -> Result<Vec<CommitId>> {
    let candidates = existing(repository, commit_ids_in(&worktree.admin).await?).await?;
    if candidates.is_empty() {
        return Ok(Vec::new());
    }
    let reflog = branch.map(|branch| branch_reflog(&worktree.repository, branch));
    let logged = reflog.as_deref().map(commit_ids).transpose()?.unwrap_or_default();
    let logged = existing(repository, logged).await?;
    let lines = candidates.into_iter().chain(logged.into_iter().map(|id| format!("^{id}")));
    let lines = lines.collect::<Vec<_>>().join("\n").into_bytes();
    let command = repository.git.bookkeeping(&repository.folders);
    let command = command.args(["rev-list", "--parents", "--ignore-missing", "--stdin"]);
    let command = command.args(["--not", "--branches", "--remotes", "--tags"]);
    let output = command.args(known.map(CommitId::as_str)).input(lines).line().await?;
    Ok(newest(&output))
}

/// Returns the commits that are parents of no other commit. Each line has a commit and its parents.
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

/// Returns the words in the files of a worktree's git folder that can be ids of commits.
pub(crate) async fn commit_ids_in(admin: &Path) -> Result<BTreeSet<String>> {
    let found = disk::look_below(admin.to_owned(), is_left_out).await?;
    let admin = admin.to_owned();
    disk::blocking(move || {
        let mut ids = BTreeSet::new();
        for file in &found.files {
            ids.append(&mut commit_ids(&disk::join(&admin, &file.path))?);
        }
        Ok(ids)
    })
    .await
}

/// Returns the words in a file that can be ids of commits. A missing file and a symlink have none.
pub(crate) fn commit_ids(path: &Path) -> Result<BTreeSet<String>> {
    if !fs::symlink_metadata(path).is_ok_and(|facts| facts.is_file()) {
        return Ok(BTreeSet::new());
    }
    let found = File::open(path).and_then(|file| ids(BufReader::new(file)));
    found.map_err(|error| cannot("read", path, &error))
}

/// Finds ids without loading the file: a reflog can be long.
fn ids(content: impl BufRead) -> io::Result<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    let mut word = String::new();
    for byte in content.bytes().chain([Ok(b'\n')]) {
        let byte = byte?;
        if !byte.is_ascii_alphanumeric() {
            let is_zero = word.bytes().all(|byte| byte == b'0');
            found.extend(CommitId::parse(&word).ok().filter(|_| !is_zero).map(String::from));
            word.clear();
        } else if word.len() <= LONGEST_ID_LENGTH {
            word.push(char::from(byte));
        }
    }
    Ok(found)
}

fn branch_reflog(repository: &RepositoryFolders, branch: &str) -> PathBuf {
    repository.common.join("logs/refs/heads").join(branch)
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
        let long = "3".repeat(100);
        let text = format!("{zero} {one} me <a@b> 1 +0000\tcommit: x\n{long} {two}\nabc {one}1");
        assert_eq!(ids(text.as_bytes()).unwrap(), BTreeSet::from([one, two]));
    }

    #[test]
    fn newest_commits_are_parents_of_no_other_commit() {
        let id = |digit: &str| digit.repeat(40);
        let (a, b, c, d) = (id("a"), id("b"), id("c"), id("d"));
        let lines = format!("{a} {b}\n{b} {d}\n{c} {d}");
        let newest: Vec<String> = newest(&lines).into_iter().map(String::from).collect();
        assert_eq!(newest, [a, c]);
        assert!(super::newest("").is_empty());
    }
}
