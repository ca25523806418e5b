//! Locks between processes: one process at a time changes a repository.
//!
//! The lock is a file in our own folder. Git gets it as its standard input. So the lock is held for
//! as long as git runs, also if this process is killed meanwhile.
//!
//! While the lock is held, its file has content. A file with content that is not locked shows that
//! its last holder or that holder's git was killed, and that git may have left lock files of its
//! own.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

use segue_core::{Error, Result};

use crate::failure::cannot;

/// A lock on a repository. It is released when this value is dropped and no git has it any more.
#[derive(Debug)]
pub(crate) struct RepositoryLock {
    /// Opened close-on-exec: programs that are started meanwhile do not inherit the lock.
    file: File,
    /// When the last holder took the lock, if that holder or its git was killed.
    interrupted_since: Option<SystemTime>,
    running: RunningFlag,
}

/// Whether a git command runs with the lock. If the flag is still set when the lock is released, the
/// command was interrupted, and the lock file keeps its content. All commands of one holder share
/// the flag.
#[derive(Clone, Debug)]
pub(crate) struct RunningFlag(Arc<AtomicBool>);

impl RunningFlag {
    /// Sets the flag before a command starts. Returns whether it was set already.
    pub(crate) fn begin(&self) -> bool {
        self.0.swap(true, Ordering::SeqCst)
    }

    /// Restores the flag after a command has ended by itself. `before` is the result of `begin`.
    pub(crate) fn end(&self, before: bool) {
        self.0.store(before, Ordering::SeqCst);
    }
}

impl RepositoryLock {
    /// Waits until the lock is free, and takes it.
    pub(crate) async fn acquire(path: PathBuf) -> Result<Self> {
        let waiting = tokio::task::spawn_blocking(move || acquire_blocking(&path));
        waiting.await.map_err(|error| Error::internal("cannot wait for a lock").caused_by(error))?
    }

    /// Returns another handle of the same lock, for the standard input of git.
    pub(crate) fn share(&self) -> Result<(File, RunningFlag)> {
        let shared = self.file.try_clone();
        let shared = shared.map_err(|it| Error::internal("cannot pass on a lock").caused_by(it))?;
        Ok((shared, self.running.clone()))
    }

    /// Returns when the last holder took the lock, if that holder or its git was killed.
    pub(crate) fn interrupted_since(&self) -> Option<SystemTime> {
        self.interrupted_since
    }

    /// Records that the lock files of a killed git were removed. Without this call, the next holder
    /// looks for them again.
    pub(crate) fn mark_cleaned(&self) {
        self.running.end(false);
    }
}

impl Drop for RepositoryLock {
    fn drop(&mut self) {
        if self.running.0.load(Ordering::SeqCst) {
            return;
        }
        if let Err(error) = self.file.set_len(0) {
            tracing::warn!(%error, "a lock file keeps its content");
        }
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
            return mark(file).map_err(failed);
        }
    }
}

/// Writes content into the lock file. Content that a killed holder has left stays, because its
/// timestamp is when that holder took the lock.
fn mark(mut file: File) -> io::Result<RepositoryLock> {
    let facts = file.metadata()?;
    let interrupted_since = match facts.len() {
        0 => None,
        _ => Some(facts.modified()?),
    };
    if interrupted_since.is_none() {
        file.write_all(b"held\n")?;
    }
    let running = RunningFlag(Arc::new(AtomicBool::new(interrupted_since.is_some())));
    Ok(RepositoryLock { file, interrupted_since, running })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn content_of_a_killed_holder_stays_until_its_lock_files_are_removed() {
        let temp = tempfile::TempDir::new().unwrap();
        let path = temp.path().join("lock");
        let acquire = async || RepositoryLock::acquire(path.clone()).await.unwrap();
        assert_eq!(acquire().await.interrupted_since(), None);
        fs::write(&path, "held\n").unwrap();
        let since = acquire().await.interrupted_since();
        assert!(since.is_some());
        let again = acquire().await;
        assert_eq!(again.interrupted_since(), since);
        again.mark_cleaned();
        drop(again);
        assert_eq!(acquire().await.interrupted_since(), None);
    }

    #[tokio::test]
    async fn interrupted_command_leaves_content_in_the_lock_file() {
        let temp = tempfile::TempDir::new().unwrap();
        let path = temp.path().join("lock");
        let lock = RepositoryLock::acquire(path.clone()).await.unwrap();
        let (shared, flag) = lock.share().unwrap();
        let before = flag.begin();
        flag.end(before);
        flag.begin();
        drop((lock, shared));
        let lock = RepositoryLock::acquire(path).await.unwrap();
        assert!(lock.interrupted_since().is_some());
    }
}
