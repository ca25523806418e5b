//! Access to a vendor's files.

use std::fmt::Debug;
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

/// Reads and repairs a vendor's files. No method reads more of a file than the caller asked for.
pub trait Files: Debug + Send + Sync {
    /// Returns the metadata of a path. `None` if the path does not exist.
    fn facts(&self, path: &Path) -> io::Result<Option<FileFacts>>;

    /// Returns at most `limit` bytes from the start of the file.
    fn head(&self, path: &Path, limit: usize) -> io::Result<Vec<u8>>;

    /// Returns at most `limit` bytes from the end of the file.
    fn tail(&self, path: &Path, limit: usize) -> io::Result<Vec<u8>>;

    /// Returns at most `limit` bytes from `offset`. Returns fewer at the end of the file.
    fn read_at(&self, path: &Path, offset: u64, limit: usize) -> io::Result<Vec<u8>>;

    /// Returns the paths in a folder. A missing folder counts as empty.
    fn list(&self, folder: &Path) -> io::Result<Vec<PathBuf>>;

    /// Deletes a file, or a folder with its contents. Succeeds if the path does not exist.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Creates a file that only its owner can read, and its parent folders. Does nothing if the
    /// path exists already. Returns whether the file was created. The file is on disk when this
    /// returns.
    fn create(&self, path: &Path, contents: &[u8]) -> io::Result<bool>;

    /// Starts a new file that only its owner can read, and creates its parent folders. The file
    /// gets its name when it is finished.
    fn begin(&self, path: &Path) -> io::Result<Box<dyn NewContents>>;

    /// Returns whether the process `pid` has the file open.
    fn is_open_in(&self, path: &Path, pid: u32) -> bool;

    /// Lists which files of a folder are open in which processes: in the process `pid`, or in all
    /// processes if `pid` is `None`. Processes that this user may not inspect are not included. The
    /// cost does not depend on the number of files in the folder.
    fn opened_in(&self, folder: &Path, pid: Option<u32>) -> Vec<(u32, PathBuf)>;

    /// Appends a newline if the last line has none. Returns whether it did.
    fn end_last_line(&self, path: &Path) -> io::Result<bool>;
}

/// A file that is being written. If it is dropped before it is finished, the file is never created.
pub trait NewContents: Debug + Send {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Writes the contents of another file, and a newline if that file does not end with one.
    fn copy_lines(&mut self, from: &Path) -> io::Result<()>;

    /// Writes the first `length` bytes of another file.
    fn copy_start(&mut self, from: &Path, length: u64) -> io::Result<()>;

    /// Gives the file its name. The file is on disk when this returns. An existing file of that
    /// name is replaced, or this fails; in both cases the file of that name is complete.
    fn finish(self: Box<Self>, taken: Taken) -> io::Result<()>;
}

/// What to do if a file of that name exists already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    Replace,
    Refuse,
}

/// Metadata of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileFacts {
    pub length: u64,
    pub modified: Timestamp,
    /// Distinguishes two names of the same file from two files.
    pub inode: u64,
}
