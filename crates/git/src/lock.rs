//! Locks between processes: one process at a time changes a repository.
//!
//! The lock is a file in our own folder. Git gets it as its standard input. So the lock is held for
//! as long as git runs, also if this process is killed meanwhile.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use segue_core::{Error, Result};

use crate::failure::cannot;

/// A lock on a repository. It is released when this value is dropped and no git has it any more.
#[derive(Debug)]
pub(crate) struct RepositoryLock {
    /// Opened close-on-exec: programs that are started meanwhile do not inherit the lock.
    file: File,
}

impl RepositoryLock {
    /// Waits until the lock is free, and takes it.
    pub(crate) async fn acquire(path: PathBuf) -> Result<Self> {
        let waiting = tokio::task::spawn_blocking(move || acquire_blocking(&path));
        waiting.await.map_err(|error| Error::internal("cannot wait for a lock").caused_by(error))?
    }

    /// Returns another handle of the same lock, for the standard input of git.
    pub(crate) fn share(&self) -> Result<File> {
        let shared = self.file.try_clone();
        shared.map_err(|error| Error::internal("cannot pass on a lock").caused_by(error))
    }
}

fn acquire_blocking(path: &Path) -> Result<RepositoryLock> {
    let failed = |error| cannot("lock", path, &error);
    if let Some(folder) = path.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed)?;
    }
    loop {
        let file = open(path).map_err(failed)?;
        wait_for(&file).map_err(failed)?;
        if is_named(&file, path) {
            return Ok(RepositoryLock { file });
        }
    }
}

fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)
}

fn wait_for(file: &File) -> io::Result<()> {
    loop {
        match file.lock() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}

/// Returns whether the path still names the locked file. If it was replaced, another process could
/// lock the new file at the same time.
pub(crate) fn is_named(file: &File, path: &Path) -> bool {
    match (file.metadata(), fs::metadata(path)) {
        (Ok(locked), Ok(named)) => (locked.dev(), locked.ino()) == (named.dev(), named.ino()),
        _ => false,
    }
}
