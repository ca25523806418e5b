//! The opening lock: only one process at a time creates, migrates or sets aside a store.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::FlockOperation;
use segue_core::Result;

use crate::sqlite::fault;
use crate::sqlite::files::beside;

/// Held while a store is opened. The file `segue.db.lock` exists only while a process holds the
/// lock.
#[derive(Debug)]
pub(crate) struct OpeningLock {
    path: PathBuf,
    _file: File,
}

impl OpeningLock {
    /// Waits until the lock is free, and takes it. If a process dies, the kernel releases its lock.
    pub(crate) fn take(store: &Path) -> Result<Self> {
        let path = beside(store, ".lock");
        let file = lock_file(&path).map_err(|error| fault::system("lock", store, &error))?;
        Ok(Self { path, _file: file })
    }
}

impl Drop for OpeningLock {
    fn drop(&mut self) {
        // If the file cannot be removed, the next process reuses it.
        drop(fs::remove_file(&self.path));
    }
}

fn lock_file(path: &Path) -> io::Result<File> {
    loop {
        let mut options = OpenOptions::new();
        let file =
            options.read(true).write(true).create(true).truncate(false).mode(0o600).open(path)?;
        rustix::io::retry_on_intr(|| rustix::fs::flock(&file, FlockOperation::LockExclusive))?;
        // The previous owner may have removed the file when it released the lock. Other processes
        // then see another file, so try again.
        if is_at(&file, path)? {
            return Ok(file);
        }
    }
}

fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let held = file.metadata()?;
    match fs::metadata(path) {
        Ok(seen) => Ok((seen.dev(), seen.ino()) == (held.dev(), held.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[test]
    fn lock_is_exclusive_and_leaves_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("segue.db");
        let inside = AtomicU32::new(0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let lock = OpeningLock::take(&store).unwrap();
                        assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                        std::thread::yield_now();
                        assert_eq!(inside.fetch_sub(1, Ordering::SeqCst), 1);
                        drop(lock);
                    }
                });
            }
        });
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
