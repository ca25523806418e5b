//! The state of the git working tree in a folder: branch, commits and modified files.
//!
//! A repository's configuration can name programs: filters, hooks, a file system monitor, external
//! diffs, helpers. Segue must not run any of them when it reads a folder. So git never reads that
//! configuration. Instead it gets a [`view::GitView`], a folder with Segue's own configuration, and
//! reads only the index, the objects and the files of the repository.

mod view;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use segue_core::Result;
use segue_core::model::FolderState;

use crate::git::Repository;
use crate::{Paths, ProcessContext};
use view::GitView;

/// The number of commits that are listed.
const MAX_COMMITS: &str = "5";
/// At most this many modified files are listed.
const MAX_DIRTY_FILES: usize = 40;

/// Allows one view at a time, because all views are made in the same folder.
static VIEW_LOCK: Mutex<()> = Mutex::new(());

/// Returns the branch, the newest commits and the files with uncommitted changes. All of them are
/// empty if there is no repository. Without git, only the branch is known.
///
/// A file counts as modified if its unfiltered content differs from the index. A file that a filter
/// rewrites (Git LFS, for example) may therefore be listed although git itself would not list it.
/// Changes inside submodules are ignored.
pub(crate) fn state(folder: &Path) -> FolderState {
    match place() {
        Ok(place) => state_through(folder, &place),
        Err(error) => {
            tracing::warn!(%error, "the git state of a folder cannot be read");
            FolderState { path: folder.display().to_string(), ..FolderState::default() }
        }
    }
}

/// Returns the folder in which views are made. It is inside the state folder, which only processes
/// of this user can access. A sandboxed agent that may write only to its working folder and to the
/// folder for temporary files cannot change it.
fn place() -> Result<PathBuf> {
    let environment = ProcessContext::read()?.environment;
    Ok(Paths::from_environment(&environment)?.git_view())
}

fn state_through(folder: &Path, place: &Path) -> FolderState {
    let mut state = FolderState { path: folder.display().to_string(), ..FolderState::default() };
    let Some(repository) = Repository::around(folder) else { return state };
    let Some(head) = repository.head() else { return state };
    state.branch.clone_from(&head.branch);
    let _guard = VIEW_LOCK.lock().unwrap_or_else(PoisonError::into_inner);
    let view = match GitView::make(place, &repository, &head) {
        Ok(Some(view)) => view,
        Ok(None) => return state,
        Err(error) => {
            tracing::warn!(%error, "the git state of a folder cannot be read");
            return state;
        }
    };
    if let Some(commit) = &head.commit {
        let log = ["log", "--no-show-signature", "--format=%h %s", "-n", MAX_COMMITS, commit, "--"];
        state.commits = view.git(&log);
    }
    let status = ["status", "--porcelain", "--untracked-files=normal", "--ignore-submodules=all"];
    state.dirty = view.git(&status);
    state.more_dirty = state.dirty.len().saturating_sub(MAX_DIRTY_FILES);
    state.dirty.truncate(MAX_DIRTY_FILES);
    state
}

#[cfg(test)]
mod tests;
