//! Lock files that a killed git has left in a repository. They would make every later git fail, also
//! the user's own.
//!
//! The same is true for an entry in git's list of worktrees that git had begun to make or to delete
//! for us. Git never prunes it, because it is locked with a reason of Segue. Git does not list it,
//! because its path is missing.
//!
//! A lock file is removed if all of this is true: our own lock shows that its last holder or that
//! holder's git was killed; the file was made since then; and no git runs in the repository or in
//! one of its worktrees. Otherwise it stays.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use segue_core::rules::worktrees::UnfinishedStep;
use segue_core::{Error, Result, failpoint};

use crate::failure::{cannot, unless_gone};
use crate::layout::{self, RepositoryFolders};
use crate::lock::RepositoryLock;

/// Removes the lock files of a killed git, and returns their paths.
pub(crate) async fn remove(
    repository: &RepositoryFolders,
    lock: &RepositoryLock,
) -> Result<Vec<PathBuf>> {
    let Some(since) = lock.interrupted_since() else { return Ok(Vec::new()) };
    let folders = repository.clone();
    let found = tokio::task::spawn_blocking(move || {
        let mut locks = lock_files(&folders.common, since)?;
        locks.extend(half_entries(&folders.common));
        let is_used = !locks.is_empty() && is_git_running_in(&folders)?;
        Ok((locks, is_used))
    });
    let found =
        found.await.map_err(|error| Error::internal("cannot look for locks").caused_by(error))?;
    let failed = |error: io::Error| cannot("read", &repository.common, &error);
    let (locks, is_used) = found.map_err(failed)?;
    if is_used {
        tracing::warn!(?locks, "lock files may be those of a killed git, but git is running");
        return Ok(Vec::new());
    }
    for path in &locks {
        failpoint::hit("git.left_lock.remove.before");
        let removed = match path.is_dir() {
            true => fs::remove_dir_all(path),
            false => fs::remove_file(path),
        };
        unless_gone(removed).map_err(|error| cannot("remove", path, &error))?;
    }
    lock.mark_cleaned();
    Ok(locks)
}

/// Returns the lock files of refs, settings and worktrees that were made since a time. Our commands
/// never lock the index of the main folder.
fn lock_files(common: &Path, since: SystemTime) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![common.to_owned()];
    while let Some(folder) = folders.pop() {
        let Some(entries) = unless_gone(fs::read_dir(&folder))? else { continue };
        for entry in entries {
            let entry = entry?;
            let Some(facts) = unless_gone(entry.metadata())? else { continue };
            let path = entry.path();
            let is_searched =
                folder != common || path.ends_with("refs") || path.ends_with("worktrees");
            if facts.is_dir() && is_searched {
                folders.push(path);
            } else if facts.is_file()
                && is_lock(&path)
                && path != common.join("index.lock")
                && facts.modified()? >= since
            {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Returns the git folders of worktrees that git had begun to make or to delete for us.
fn half_entries(common: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(common.join("worktrees")).into_iter().flatten().flatten();
    let is_half = |admin: &PathBuf| {
        let names = fs::read_dir(admin).into_iter().flatten().flatten();
        let names: Vec<_> = names.map(|entry| entry.file_name()).collect();
        let reason = fs::read_to_string(admin.join("locked")).unwrap_or_default();
        match UnfinishedStep::from_reason(&reason) {
            Some(UnfinishedStep::Making) => names == ["locked"],
            // Git deletes the folder of the worktree first, and then this one.
            Some(UnfinishedStep::Removing { .. }) => names.iter().all(|name| name != "gitdir"),
            Some(UnfinishedStep::Restoring { .. }) | None => false,
        }
    };
    entries.map(|entry| entry.path()).filter(is_half).collect()
}

fn is_lock(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "lock")
}

/// Returns whether a git process has its current folder in the repository or in a worktree of it.
/// Git processes about which nothing can be found out count, and so does a system without `/proc`.
fn is_git_running_in(repository: &RepositoryFolders) -> io::Result<bool> {
    let mut folders = vec![repository.common.clone(), layout::real(repository.main())];
    folders.extend(worktrees(&repository.common));
    let Ok(processes) = fs::read_dir("/proc") else { return Ok(true) };
    for process in processes {
        let process = process?.path();
        let name = fs::read_to_string(process.join("comm")).unwrap_or_default();
        if !name.starts_with("git") {
            continue;
        }
        match fs::read_link(process.join("cwd")) {
            Ok(folder) if !folders.iter().any(|it| folder.starts_with(it)) => {}
            // It has ended meanwhile, or is a zombie.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            _ => return Ok(true),
        }
    }
    Ok(false)
}

fn worktrees(common: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(common.join("worktrees")).into_iter().flatten().flatten();
    let paths = entries.filter_map(|entry| layout::expected_at(&entry.path()));
    paths.map(|path| layout::real(&path)).collect()
}
