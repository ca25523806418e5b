//! The state of the git working tree in a folder: branch, commits and modified files.
//!
//! A repository's configuration can name programs: filters, hooks, a file system monitor, external
//! diffs, helpers. None of them may run because Segue looks at a folder. So git never sees that
//! configuration: it is given a [`view::View`], a folder of our own with our own configuration, and
//! reads only the index, the objects and the files of the repository.

mod view;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use segue_core::Result;
use segue_core::model::FolderState;

use crate::git::Repository;
use crate::{Paths, ProcessContext};
use view::GitView;

const COMMITS: &str = "5";
const DIRTY: usize = 40;

/// Allows one view at a time, because all views are made in the same folder.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

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
            tracing::warn!(%error, "git cannot be asked about a folder");
            FolderState { path: folder.display().to_string(), ..FolderState::default() }
        }
    }
}

/// Returns the folder in which views are made. It is inside the state folder, which only this
/// user's processes can reach. A sandboxed agent that may write only to its own folder and to the
/// folder for temporary files cannot change it.
fn place() -> Result<PathBuf> {
    let environment = ProcessContext::read()?.environment;
    Ok(Paths::from_environment(&environment)?.state().join("git"))
}

fn state_through(folder: &Path, place: &Path) -> FolderState {
    let mut state = FolderState { path: folder.display().to_string(), ..FolderState::default() };
    let Some(repository) = Repository::around(folder) else { return state };
    let Some(head) = repository.head() else { return state };
    state.branch.clone_from(&head.branch);
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let view = match GitView::make(place, &repository, &head) {
        Ok(Some(view)) => view,
        Ok(None) => return state,
        Err(error) => {
            tracing::warn!(%error, "git cannot be asked about a folder");
            return state;
        }
    };
    if let Some(commit) = &head.commit {
        let log = ["log", "--no-show-signature", "--format=%h %s", "-n", COMMITS, commit, "--"];
        state.commits = view.git(&log);
    }
    let status = ["status", "--porcelain", "--untracked-files=normal", "--ignore-submodules=all"];
    state.dirty = view.git(&status);
    state.more_dirty = state.dirty.len().saturating_sub(DIRTY);
    state.dirty.truncate(DIRTY);
    state
}

#[cfg(test)]
mod tests;
