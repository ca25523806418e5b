//! Remembers that a database was intact when it was closed, so that the next open does not have to
//! read all of it.
//!
//! The mark is a file beside the database. It exists only while the database is closed: opening
//! removes it, and closing writes it. It describes the database file, so a file that was changed
//! meanwhile does not match it. A killed process leaves no mark.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use crate::sqlite::files::{beside, create_private, exists};
use crate::sqlite::soundness::is_sound;

const SUFFIX: &str = ".intact";

/// Describes a database file. A write to the file changes its description.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileStamp(String);

impl FileStamp {
    pub(crate) fn of(path: &Path) -> io::Result<Self> {
        let found = fs::metadata(path)?;
        let (modified, changed) =
            ((found.mtime(), found.mtime_nsec()), (found.ctime(), found.ctime_nsec()));
        let file = (found.dev(), found.ino(), found.len());
        Ok(Self(format!("{file:?} {modified:?} {changed:?}\n")))
    }
}

/// Returns whether a database has a mark that describes its file as it is now.
pub(crate) fn is_marked(path: &Path) -> bool {
    let Ok(marked) = fs::read_to_string(beside(path, SUFFIX)) else { return false };
    let is_same = FileStamp::of(path).is_ok_and(|FileStamp(now)| now == marked);
    is_same && !has_log(path)
}

/// Removes the mark of a database that is about to be used.
pub(crate) fn remove_mark(path: &Path) {
    // A mark that stays does not match the file after the first write.
    let _removed = fs::remove_file(beside(path, SUFFIX));
}

/// Marks a closed database if it is intact. `checked` describes the file as it was when it was found
/// intact; a file that has changed since is read again. A mark that cannot be written makes the next
/// open slower.
pub(crate) fn mark(path: &Path, checked: &FileStamp) {
    let Ok(now) = FileStamp::of(path) else { return };
    if has_log(path) || !(now == *checked || is_intact(path)) {
        return;
    }
    let mark = beside(path, SUFFIX);
    // A mark of another process may be left. It is replaced.
    let _removed = fs::remove_file(&mark);
    let FileStamp(text) = now;
    let _written = create_private(&mark).and_then(|mut file| file.write_all(text.as_bytes()));
}

/// Returns whether a log has commits that the database file does not have.
fn has_log(path: &Path) -> bool {
    let log = beside(path, "-wal");
    exists(&log) && fs::metadata(&log).map_or(true, |log| log.len() > 0)
}

/// Reads the whole database through a new connection, because an older one has parts of it in
/// memory. The connection can write: a read-only one would leave an empty log behind.
fn is_intact(path: &Path) -> bool {
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE);
    connection.is_ok_and(|connection| is_sound(&connection))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt as _;

    use super::*;
    use crate::sqlite::opening;

    #[test]
    fn closed_database_is_marked_until_it_is_opened_or_changed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("segue.db");
        opening::open(&path).unwrap().close();
        assert!(exists(&beside(&path, SUFFIX)));
        let database = opening::open(&path).unwrap();
        assert!(!exists(&beside(&path, SUFFIX)), "the mark stays while the database is open");
        database.close();
        assert!(is_marked(&path), "an unchanged database is not marked again");
        opening::open(&path).unwrap().close();
        let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
        file.write_all_at(b"x", 5000).unwrap();
        assert!(!is_marked(&path), "a changed file counts as intact");
    }

    #[test]
    fn database_that_was_overwritten_while_it_was_open_is_not_marked() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("segue.db");
        let database = opening::open(&path).unwrap();
        let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
        file.write_all_at(&[0xff; 4096], 4096).unwrap();
        database.close();
        assert!(!exists(&beside(&path, SUFFIX)));
    }

    #[test]
    fn database_whose_process_was_killed_is_not_marked() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("segue.db");
        opening::open(&path).unwrap().close();
        drop(opening::open(&path).unwrap());
        assert!(!exists(&beside(&path, SUFFIX)));
    }
}
