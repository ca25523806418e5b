//! How much disk space folders use.

use std::fmt::Debug;
use std::path::PathBuf;

use jiff::Timestamp;

/// Adds up the disk space of folders, as `du` does: in blocks, without following symlinks. A file with
/// several names counts once.
pub trait DiskMeter: Debug + Send + Sync {
    /// Returns the folders in which Segue keeps its files.
    fn areas(&self) -> DiskAreas;

    /// Measures folders. If a folder of the list is below another one, its bytes count for itself and
    /// not for the other one. A missing folder has no bytes. Blocks while it reads the disk.
    ///
    /// The result of an earlier call is used for the parts that have not changed since: see
    /// [`FolderUse`].
    fn measure(&self, folders: &[MeasuredFolder], now: Timestamp) -> DiskMeasurement;
}

/// The folders in which Segue keeps its files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiskAreas {
    /// The store, the archive, shared clones and worktrees.
    pub data: PathBuf,
    /// Launch folders, locks and logs.
    pub state: PathBuf,
    /// Copies of conversations.
    pub archive: PathBuf,
    /// Shared clones.
    pub clones: PathBuf,
}

/// A folder to measure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeasuredFolder {
    pub path: PathBuf,
    pub last_use: FolderUse,
}

/// When files of a folder may have changed in place. Adding, removing and renaming files is noticed in
/// any folder; a file that only grows is noticed if its folder is read again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FolderUse {
    /// Files were last changed at this time. The folder is read again if it was read before that.
    Until(Timestamp),
    /// Files may change now. The folder is always read again.
    Now,
}

/// What folders use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DiskMeasurement {
    /// The bytes of each folder, in the order of the request.
    pub bytes: Vec<u64>,
    /// Folders that cannot be read. Their contents are missing in the sums.
    pub unreadable: Vec<PathBuf>,
    /// How many entries of folders were examined.
    pub examined: u64,
}
