//! Locks between processes. One process at a time holds the lock on a file, until it drops the lock
//! or dies.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use segue_core::Result;

use crate::failure::cannot;

/// A lock on a file. It is released on drop, and by the kernel if the process dies. The file stays.
#[derive(Debug)]
pub struct FileLock {
    /// The file is opened close-on-exec, so that programs that are started meanwhile do not inherit
    /// the lock.
    file: File,
}

impl FileLock {
    /// Waits until the lock is free, and takes it. Blocks the thread.
    pub fn acquire_blocking(path: &Path) -> Result<Self> {
        loop {
            let file = open(path)?;
            wait_for(&file).map_err(|error| cannot("lock", path, &error))?;
            if is_named(&file, path) {
                return Ok(Self { file });
            }
        }
    }

    /// Takes the lock. Returns `None` if it is taken already.
    pub fn try_acquire(path: &Path) -> Result<Option<Self>> {
        Self::attempt(path, || open(path))
    }

    /// Takes the lock of an existing file or folder without opening it for writing. So a process
    /// that watches the folder is not notified of this attempt. It is only notified when a process
    /// releases a lock that was opened for writing.
    pub fn try_acquire_unseen(path: &Path) -> Result<Option<Self>> {
        Self::attempt(path, || File::open(path).map_err(|error| cannot("lock", path, &error)))
    }

    fn attempt(path: &Path, open: impl Fn() -> Result<File>) -> Result<Option<Self>> {
        loop {
            let file = open()?;
            match file.try_lock() {
                Ok(()) if is_named(&file, path) => return Ok(Some(Self { file })),
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(error)) => return Err(cannot("lock", path, &error)),
            }
        }
    }

    /// Returns another handle of the same lock, which can be passed to a program. The lock is
    /// released when all handles are closed.
    pub fn share(&self) -> io::Result<File> {
        self.file.try_clone()
    }
}

fn open(path: &Path) -> Result<File> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(path)
        .map_err(|error| cannot("lock", path, &error))
}

fn wait_for(file: &File) -> io::Result<()> {
    loop {
        match file.lock() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}

/// Returns whether the path still leads to the locked file. If the file was replaced, another process
/// could lock the new file at the same time.
fn is_named(file: &File, path: &Path) -> bool {
    match (file.metadata(), fs::metadata(path)) {
        (Ok(locked), Ok(named)) => (locked.dev(), locked.ino()) == (named.dev(), named.ino()),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};
    use std::sync::mpsc;
    use std::time::Duration;

    use tempfile::TempDir;

    use super::*;

    #[test]
    fn try_acquire_returns_none_while_the_lock_is_held() {
        let temp = TempDir::new().unwrap();
        let path = temp.path().join("lock");
        let first = FileLock::try_acquire(&path).unwrap().unwrap();
        assert!(FileLock::try_acquire(&path).unwrap().is_none());
        drop(first);
        assert!(FileLock::try_acquire(&path).unwrap().is_some());
    }

    #[test]
    fn blocked_acquire_returns_when_the_lock_is_released() {
        let temp = TempDir::new().unwrap();
        let path = temp.path().join("lock");
        let first = FileLock::acquire_blocking(&path).unwrap();
        let (sender, receiver) = mpsc::channel();
        let waiter = std::thread::spawn(move || {
            sender.send("waits").unwrap();
            let _lock = FileLock::acquire_blocking(&path).unwrap();
            sender.send("has it").unwrap();
        });
        assert_eq!(receiver.recv().unwrap(), "waits");
        assert!(receiver.try_recv().is_err());
        drop(first);
        assert_eq!(receiver.recv_timeout(Duration::from_secs(20)).unwrap(), "has it");
        waiter.join().unwrap();
    }

    #[test]
    fn program_started_meanwhile_does_not_inherit_the_lock() {
        let temp = TempDir::new().unwrap();
        let path = temp.path().join("lock");
        let lock = FileLock::try_acquire(&path).unwrap().unwrap();
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        drop(lock);
        let again = FileLock::try_acquire(&path).unwrap();
        drop(child.stdin.take());
        child.wait().unwrap();
        assert!(again.is_some());
    }

    #[test]
    fn replaced_lock_file_is_a_new_lock() {
        let temp = TempDir::new().unwrap();
        let path = temp.path().join("lock");
        let _old = FileLock::try_acquire(&path).unwrap().unwrap();
        fs::remove_file(&path).unwrap();
        let new = FileLock::try_acquire(&path).unwrap();
        assert!(new.is_some());
        assert!(FileLock::try_acquire(&path).unwrap().is_none());
    }
}
