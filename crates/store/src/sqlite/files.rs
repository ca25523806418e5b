//! The store's files: the database and the files that SQLite keeps beside it. No function of this
//! module overwrites a file.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags};
use rustix::io::Errno;
use segue_core::failpoint::hit;
use segue_core::{Error, Result};

use crate::sqlite::fault;
use crate::sqlite::lock::OpeningLock;

/// Suffixes of the files that SQLite may keep beside a database: write-ahead log, its index,
/// rollback journal.
pub(crate) const COMPANIONS: [&str; 3] = ["-wal", "-shm", "-journal"];

const FILE_MODE: u32 = 0o600;

/// Returns whether a store exists at this path.
pub fn exists(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// Moves an unusable store out of the way, with the files that SQLite keeps beside it. Returns its
/// new path: `segue.db.<label>`, or the next free name.
pub fn set_aside(path: &Path, label: &str) -> Result<PathBuf> {
    let _lock = OpeningLock::take(path)?;
    match move_aside(path, label)? {
        Some(aside) => Ok(aside),
        None => Err(Error::not_found(format!("there is no store at `{}`", path.display()))),
    }
}

/// Moves the existing files of a store aside. `None` if no file exists. The caller must hold the
/// lock.
pub(crate) fn move_aside(path: &Path, label: &str) -> Result<Option<PathBuf>> {
    if !files_of(path).iter().any(|file| exists(file)) {
        return Ok(None);
    }
    let aside = free_name(&beside(path, &format!(".{label}")));
    hit("store.set_aside.before");
    // Move the database first: a database without its log could be opened, but without its newest
    // commits.
    for (from, to) in files_of(path).iter().zip(files_of(&aside)) {
        if exists(from) {
            rename_new(from, &to).map_err(|error| fault::system("move aside", from, &error))?;
        }
    }
    sync_folder(path).map_err(|error| fault::system("sync the folder of", path, &error))?;
    hit("store.set_aside.after");
    Ok(Some(aside))
}

/// Returns the path at which a store is rebuilt. Removes the files of an earlier attempt.
pub fn rebuilding(path: &Path) -> Result<PathBuf> {
    let rebuilding = beside(path, ".rebuilding");
    remove_database(&rebuilding).map_err(|error| fault::system("rebuild", path, &error))?;
    Ok(rebuilding)
}

/// Replaces an unusable store by a rebuilt store, which must be closed. Returns the new path of the
/// old store. `None` if there was no old store.
pub fn publish_rebuilt(path: &Path, label: &str) -> Result<Option<PathBuf>> {
    let (rebuilding, rebuilt) = (beside(path, ".rebuilding"), beside(path, ".rebuilt"));
    let failed = |error| fault::system("rebuild", path, &error);
    File::open(&rebuilding).and_then(|file| file.sync_all()).map_err(failed)?;
    hit("store.rebuilt.before");
    remove_database(&rebuilt).and_then(|()| rename_new(&rebuilding, &rebuilt)).map_err(failed)?;
    sync_folder(path).map_err(failed)?;
    hit("store.rebuilt.after");
    let aside = if exists(path) { Some(set_aside(path, label)?) } else { None };
    finish_rebuilt(path)?;
    Ok(aside)
}

/// Completes a rebuild that was interrupted before its last step. Returns whether there was such a
/// rebuild.
pub fn finish_rebuilt(path: &Path) -> Result<bool> {
    let rebuilt = beside(path, ".rebuilt");
    if exists(path) || !exists(&rebuilt) {
        return Ok(false);
    }
    let _lock = OpeningLock::take(path)?;
    // SQLite would replay a log without its database into the new database.
    move_aside(path, "orphan")?;
    let failed = |error| fault::system("rebuild", path, &error);
    hit("store.publish_rebuilt.before");
    rename_new(&rebuilt, path).and_then(|()| sync_folder(path)).map_err(failed)?;
    hit("store.publish_rebuilt.after");
    Ok(true)
}

/// Returns the path with a suffix added to its file name.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    name.into()
}

/// Returns the first of `name`, `name.2`, `name.3`, … at which no file of a database exists.
pub(crate) fn free_name(name: &Path) -> PathBuf {
    let is_free = |path: &PathBuf| !files_of(path).iter().any(|file| exists(file));
    let numbered = (2u32..).map(|number| beside(name, &format!(".{number}")));
    let mut names = std::iter::once(name.to_owned()).chain(numbered);
    names.find(is_free).unwrap_or_else(|| name.to_owned())
}

/// Creates an empty file that only its owner can read. SQLite gives its companions the same mode.
pub(crate) fn create_private(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create_new(true).mode(FILE_MODE).open(path)
}

/// Removes a database and its companions, if they exist.
pub(crate) fn remove_database(path: &Path) -> io::Result<()> {
    for file in files_of(path) {
        match fs::remove_file(&file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// Renames a file to a name that must not exist.
pub(crate) fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    match rustix::fs::renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => link_then_unlink(from, to),
        renamed => renamed.map_err(Into::into),
    }
}

/// Syncs the folder of a file, so that the names of files are durable, and not only their content.
pub(crate) fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(path.parent().unwrap_or(Path::new(".")))?.sync_all()
}

/// Renames on a filesystem that has no rename without replacement.
fn link_then_unlink(from: &Path, to: &Path) -> io::Result<()> {
    fs::hard_link(from, to)?;
    fs::remove_file(from)
}

/// Returns the paths of a database and of its companions.
fn files_of(path: &Path) -> Vec<PathBuf> {
    std::iter::once(path.to_owned()).chain(COMPANIONS.map(|suffix| beside(path, suffix))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rename_new_and_link_then_unlink_never_replace_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        for rename in [rename_new, link_then_unlink] {
            fs::write(&from, "new").unwrap();
            fs::write(&to, "old").unwrap();
            assert_eq!(rename(&from, &to).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
            assert_eq!(fs::read_to_string(&to).unwrap(), "old");
            fs::remove_file(&to).unwrap();
            rename(&from, &to).unwrap();
            assert_eq!((exists(&from), fs::read_to_string(&to).unwrap()), (false, "new".into()));
        }
    }

    #[test]
    fn set_aside_moves_all_files_and_never_onto_earlier_ones() {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("segue.db");
        for round in ["first", "second"] {
            for file in [&store, &beside(&store, "-wal"), &beside(&store, "-shm")] {
                fs::write(file, round).unwrap();
            }
            let aside = set_aside(&store, "damaged").unwrap();
            assert!(!exists(&store) && !exists(&beside(&store, "-wal")));
            for file in [&aside, &beside(&aside, "-wal"), &beside(&aside, "-shm")] {
                assert_eq!(fs::read_to_string(file).unwrap(), round);
            }
        }
        let first = folder.path().join("segue.db.damaged");
        assert_eq!(fs::read_to_string(first).unwrap(), "first");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 6, "a lock or a file was left");
    }

    #[test]
    fn set_aside_without_a_store_is_not_found() {
        let folder = tempfile::tempdir().unwrap();
        let error = set_aside(&folder.path().join("segue.db"), "damaged").unwrap_err();
        assert_eq!(error.kind, segue_core::Kind::NotFound);
    }
}
