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
    /// When the last holder took the lock, if it did not release it in order.
    disturbed_since: Option<SystemTime>,
    disturbance: Disturbance,
}

/// Whether a git command was interrupted. All commands of one holder share it.
#[derive(Clone, Debug)]
pub(crate) struct Disturbance(Arc<AtomicBool>);

impl Disturbance {
    /// Notes that a command runs. If this is the last note, the command was interrupted.
    pub(crate) fn begin(&self) -> bool {
        self.0.swap(true, Ordering::SeqCst)
    }

    /// Notes that a command has ended by itself. `before` is the result of `begin`.
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
    pub(crate) fn share(&self) -> Result<(File, Disturbance)> {
        let shared = self.file.try_clone();
        let shared = shared.map_err(|it| Error::internal("cannot pass on a lock").caused_by(it))?;
        Ok((shared, self.disturbance.clone()))
    }

    /// Returns since when the last holder had the lock, if it did not release it in order.
    pub(crate) fn disturbed_since(&self) -> Option<SystemTime> {
        self.disturbed_since
    }

    /// Notes that the last holder has left nothing behind any more. Without this note, the next
    /// holder finds the same trace.
    pub(crate) fn settle(&self) {
        self.disturbance.end(false);
    }
}

impl Drop for RepositoryLock {
    fn drop(&mut self) {
        if self.disturbance.0.load(Ordering::SeqCst) {
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

/// Gives the lock file content. A trace of the last holder keeps its timestamp.
fn mark(mut file: File) -> io::Result<RepositoryLock> {
    let facts = file.metadata()?;
    let disturbed_since = match facts.len() {
        0 => None,
        _ => Some(facts.modified()?),
    };
    if disturbed_since.is_none() {
        file.write_all(b"held\n")?;
    }
    let disturbance = Disturbance(Arc::new(AtomicBool::new(disturbed_since.is_some())));
    Ok(RepositoryLock { file, disturbed_since, disturbance })
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
    async fn trace_of_a_killed_holder_stays_until_it_was_dealt_with() {
        let temp = tempfile::TempDir::new().unwrap();
        let path = temp.path().join("lock");
        let acquire = async || RepositoryLock::acquire(path.clone()).await.unwrap();
        assert_eq!(acquire().await.disturbed_since(), None);
        fs::write(&path, "held\n").unwrap();
        let since = acquire().await.disturbed_since();
        assert!(since.is_some());
        let again = acquire().await;
        assert_eq!(again.disturbed_since(), since);
        again.settle();
        drop(again);
        assert_eq!(acquire().await.disturbed_since(), None);
    }

    #[tokio::test]
    async fn interrupted_command_leaves_a_trace() {
        let temp = tempfile::TempDir::new().unwrap();
        let path = temp.path().join("lock");
        let lock = RepositoryLock::acquire(path.clone()).await.unwrap();
        let (shared, disturbance) = lock.share().unwrap();
        let before = disturbance.begin();
        disturbance.end(before);
        disturbance.begin();
        drop((lock, shared));
        let lock = RepositoryLock::acquire(path).await.unwrap();
        assert!(lock.disturbed_since().is_some());
    }
}
