//! Watching folders for changes.

use std::fmt::Debug;
use std::path::{Path, PathBuf};

use async_trait::async_trait;

use crate::error::{Error, Result};

/// Creates watchers. The system limits how many folders a user can watch. Errors about that have
/// the kind [`Unavailable`](crate::Kind::Unavailable).
pub trait FolderWatchers: Debug + Send + Sync {
    fn watcher(&self) -> Result<Box<dyn FolderWatcher>>;
}

/// Watches folders, but not their subfolders.
#[async_trait]
pub trait FolderWatcher: Debug + Send {
    /// Starts to watch a folder, which may not exist yet. Does nothing if it is watched already.
    /// Existing files are not reported: list the folder after this call, not before.
    fn add(&mut self, folder: &Path) -> Result<()>;

    /// Stops watching a folder.
    fn remove(&mut self, folder: &Path);

    /// Waits for the next change. The future may be dropped at any time without losing a change.
    async fn next(&mut self) -> Result<FolderChange>;
}

/// A change in the watched folders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FolderChange {
    /// The file or folder at this path was created, changed or removed.
    At { path: PathBuf, gone: bool },
    /// The system has dropped events. Read all watched folders again.
    Overflow,
    /// A folder was moved or recreated, and cannot be watched any more. The caller can add it again
    /// to retry.
    Unwatched { folder: PathBuf, error: Error },
}
