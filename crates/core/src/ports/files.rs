//! A vendor's files, wherever they are.

use std::fmt::Debug;
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

/// Reading and mending a vendor's files. No method holds more of a file than it was asked for.
pub trait Files: Debug + Send + Sync {
    /// Returns the facts about a path, or `None` where nothing is there.
    fn facts(&self, path: &Path) -> io::Result<Option<FileFacts>>;

    /// Returns at most `limit` bytes from the beginning.
    fn head(&self, path: &Path, limit: usize) -> io::Result<Vec<u8>>;

    /// Returns at most `limit` bytes from the end.
    fn tail(&self, path: &Path, limit: usize) -> io::Result<Vec<u8>>;

    /// Returns at most `limit` bytes from `offset`; fewer at the end of the file.
    fn read_at(&self, path: &Path, offset: u64, limit: usize) -> io::Result<Vec<u8>>;

    /// Returns the paths in a folder; an absent folder is empty.
    fn list(&self, folder: &Path) -> io::Result<Vec<PathBuf>>;

    /// Deletes a file, or a folder with all that is in it; one that is absent already is no error.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Writes a file that only its owner can read, with the folders above it, unless something is
    /// there already; tells whether it did. It is on disk when this returns.
    fn create(&self, path: &Path, contents: &[u8]) -> io::Result<bool>;

    /// Begins a file that only its owner can read, with the folders above it; it has no name before
    /// it is finished.
    fn begin(&self, path: &Path) -> io::Result<Box<dyn NewContents>>;

    /// Tells whether this process has the file open.
    fn is_open_in(&self, path: &Path, pid: u32) -> bool;

    /// Returns which files of a folder are open in which processes, as far as this user may know: in
    /// this one, or in any. It costs the same however many files there are.
    fn opened_in(&self, folder: &Path, pid: Option<u32>) -> Vec<(u32, PathBuf)>;

    /// Appends a newline if the last line was torn; tells whether it did.
    fn end_last_line(&self, path: &Path) -> io::Result<bool>;
}

/// A file that is being written. One that is dropped before it is finished was never there.
pub trait NewContents: Debug + Send {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Writes what another file has, and a newline where its last line has none.
    fn copy_lines(&mut self, from: &Path) -> io::Result<()>;

    /// Writes the first bytes of another file.
    fn copy_start(&mut self, from: &Path, length: u64) -> io::Result<()>;

    /// Gives it its name; it is on disk when this returns. What has the name already is replaced or
    /// is an error, and is whole in any case.
    fn finish(self: Box<Self>, taken: Taken) -> io::Result<()>;
}

/// What happens to a file that has the name already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    Replace,
    Refuse,
}

/// What a file system knows about a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileFacts {
    pub length: u64,
    pub modified: Timestamp,
    /// Tells two names of one file from two files.
    pub inode: u64,
}
