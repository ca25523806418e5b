//! An open database and its files.

use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use segue_core::Result;

use crate::sqlite::fault;
use crate::sqlite::files::beside;

/// A connection that can check whether its files were deleted or replaced.
#[derive(Debug)]
pub(crate) struct Database {
    pub(crate) connection: Connection,
    path: PathBuf,
    parts: Vec<Part>,
    /// The length of the database file when it was opened.
    length: u64,
}

impl Database {
    /// Wraps a connection in WAL mode. The connection must have read data, so that all its files
    /// exist.
    pub(crate) fn new(connection: Connection, path: &Path) -> Result<Self> {
        let parts = ["", "-wal", "-shm"]
            .into_iter()
            .map(|suffix| Part::at(beside(path, suffix)))
            .collect::<io::Result<_>>()
            .map_err(|error| fault::system("find the files of", path, &error))?;
        let length = std::fs::metadata(path).map_or(0, |found| found.len());
        Ok(Self { connection, path: path.to_owned(), parts, length })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns an error if a file was deleted or replaced, because later writes would be lost when
    /// the last handle is closed. Also returns an error if the database file is shorter than before,
    /// because SQLite never shortens it.
    pub(crate) fn check_files(&self) -> Result<()> {
        if !self.parts.iter().all(Part::is_still_there) {
            return Err(fault::gone(&self.path));
        }
        if std::fs::metadata(&self.path).is_ok_and(|found| found.len() < self.length) {
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
    fn at(path: PathBuf) -> io::Result<Self> {
        let found = std::fs::metadata(&path)?;
        Ok(Self { path, device: found.dev(), inode: found.ino() })
    }

    fn is_still_there(&self) -> bool {
        std::fs::metadata(&self.path)
            .is_ok_and(|found| (found.dev(), found.ino()) == (self.device, self.inode))
    }
}
