//! An open database and its files.

use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use segue_core::Result;

use crate::sqlite::fault;
use crate::sqlite::files::beside;
use crate::sqlite::intact::{self, FileStamp};

/// A connection that can check whether its files were deleted or replaced.
#[derive(Debug)]
pub(crate) struct Database {
    pub(crate) connection: Connection,
    path: PathBuf,
    file: Part,
    /// The length of the database file when it was opened.
    length: u64,
    companions: [Part; 2],
    /// Describes the database file as it was when it was opened. It was intact then.
    opened: FileStamp,
}

impl Database {
    /// Wraps a connection in WAL mode to an intact database. The connection must have read data, so
    /// that all its files exist.
    pub(crate) fn new(connection: Connection, path: &Path) -> Result<Self> {
        let part = |suffix: &str| {
            let found = Part::at(beside(path, suffix));
            found.map_err(|error| fault::system("find the files of", path, &error))
        };
        let (file, length) = part("")?;
        let companions = [part("-wal")?.0, part("-shm")?.0];
        let opened = FileStamp::of(path);
        let opened = opened.map_err(|error| fault::system("find the files of", path, &error))?;
        Ok(Self { connection, path: path.to_owned(), file, length, companions, opened })
    }

    /// Closes the database, and marks it as intact for the next open.
    pub(crate) fn close(self) {
        let is_own_file = self.check_files().is_ok();
        let Self { connection, path, opened, .. } = self;
        if connection.close().is_ok() && is_own_file {
            intact::mark(&path, &opened);
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns an error if a file was deleted or replaced, because later writes would be lost when
    /// the last handle is closed. Also returns an error if the database file is shorter than before,
    /// because SQLite never shortens it.
    pub(crate) fn check_files(&self) -> Result<()> {
        let length = self.file.length();
        let mut companions = self.companions.iter().map(Part::length);
        let Some(length) = length.filter(|_| companions.all(|it| it.is_some())) else {
            return Err(fault::gone(&self.path));
        };
        if length < self.length {
            return Err(fault::damaged(&self.path).caused_by("a part of it was cut off"));
        }
        Ok(())
    }
}

/// One file of a database, which can be distinguished from a later file of the same name.
#[derive(Debug)]
struct Part {
    path: PathBuf,
    device: u64,
    inode: u64,
}

impl Part {
    /// Returns the file that is at the path now, and its length.
    fn at(path: PathBuf) -> io::Result<(Self, u64)> {
        let found = std::fs::metadata(&path)?;
        Ok((Self { path, device: found.dev(), inode: found.ino() }, found.len()))
    }

    /// Returns the length of the file. `None` if the file was deleted or replaced.
    fn length(&self) -> Option<u64> {
        let found = std::fs::metadata(&self.path).ok()?;
        ((found.dev(), found.ino()) == (self.device, self.inode)).then_some(found.len())
    }
}
