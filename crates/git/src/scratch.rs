//! A folder for temporary files of this process. A later process removes the folder of a killed one.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use segue_core::Result;
use uuid::Uuid;

use crate::failure::{cannot, unless_gone};
use crate::lock::is_named;

/// A folder that only this process uses. It is removed on drop.
#[derive(Debug)]
pub(crate) struct Scratch {
    folder: PathBuf,
    /// Locked for as long as this process lives.
    lock: (File, PathBuf),
    count: AtomicU64,
}

impl Scratch {
    /// Creates the folder below `root`, and removes the folders of processes that are gone.
    pub(crate) fn new(root: &Path, mut new_id: impl FnMut() -> Uuid) -> Result<Self> {
        let failed = |error| cannot("create", root, &error);
        DirBuilder::new().recursive(true).mode(0o700).create(root).map_err(failed)?;
        remove_abandoned(root).map_err(failed)?;
        loop {
            let name = new_id().simple().to_string();
            let path = root.join(format!("{name}.lock"));
            let file = open(&path).map_err(failed)?;
            // Another process may take the new file for an abandoned one before it is locked.
            if file.try_lock().is_ok() && is_named(&file, &path) {
                let folder = root.join(name);
                DirBuilder::new().mode(0o700).create(&folder).map_err(failed)?;
                return Ok(Self { folder, lock: (file, path), count: AtomicU64::new(0) });
            }
        }
    }

    /// Creates a folder in it.
    pub(crate) fn new_folder(&self) -> Result<ScratchFolder> {
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        let path = self.folder.join(number.to_string());
        let created = DirBuilder::new().mode(0o700).create(&path);
        created.map_err(|error| cannot("create", &path, &error))?;
        Ok(ScratchFolder { path })
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        for result in [fs::remove_dir_all(&self.folder), fs::remove_file(&self.lock.1)] {
            if let Err(error) = result {
                tracing::warn!(%error, "temporary files of git stay behind");
            }
        }
    }
}

/// A temporary folder. It is removed on drop.
#[derive(Debug)]
pub(crate) struct ScratchFolder {
    pub(crate) path: PathBuf,
}

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.path) {
            tracing::warn!(%error, "temporary files of git stay behind");
        }
    }
}

fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path)
}

fn remove_abandoned(root: &Path) -> io::Result<()> {
    for entry in fs::read_dir(root)? {
        let path = entry?.path();
        if path.extension().is_none_or(|extension| extension != "lock") {
            continue;
        }
        // A file that another process removes at the same time needs no removal.
        let Ok(file) = OpenOptions::new().write(true).open(&path) else { continue };
        if file.try_lock().is_ok() {
            // Another process may have removed both just before.
            unless_gone(fs::remove_dir_all(path.with_extension("")))?;
            unless_gone(fs::remove_file(&path))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scratch(root: &Path, number: u128) -> Scratch {
        Scratch::new(root, || Uuid::from_u128(number)).unwrap()
    }

    fn names(root: &Path) -> usize {
        fs::read_dir(root).unwrap().count()
    }

    #[test]
    fn folders_of_other_live_processes_stay_and_abandoned_ones_are_removed() {
        let temp = tempfile::TempDir::new().unwrap();
        let live = scratch(temp.path(), 1);
        let folder = live.new_folder().unwrap();
        fs::create_dir_all(temp.path().join("dead/below")).unwrap();
        fs::write(temp.path().join("dead.lock"), "").unwrap();
        let other = scratch(temp.path(), 2);
        assert!(folder.path.is_dir());
        assert_eq!(names(temp.path()), 4);
        drop(folder);
        drop((live, other));
        assert_eq!(names(temp.path()), 0);
    }
}
