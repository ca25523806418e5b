//! Files that are either the old or the new one, whatever dies when.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use segue_core::{Error, Result, failpoint};
use uuid::Uuid;

use crate::failure::cannot;

/// The failpoints of one kind of write; [`points!`](crate::points) makes them from a label.
#[derive(Clone, Copy, Debug)]
pub struct Points {
    /// Nothing is on disk yet.
    pub before: &'static str,
    /// The new content is on disk under a name of its own; the old file still has the name.
    pub written: &'static str,
    /// The new file has the name, durably.
    pub after: &'static str,
}

/// Makes the [`Points`] of a label such as `"record.write"`.
#[macro_export]
macro_rules! points {
    ($label:literal) => {
        $crate::atomic::Points {
            before: concat!($label, ".before"),
            written: concat!($label, ".written"),
            after: concat!($label, ".after"),
        }
    };
}

/// Replaces a file's content (mode 0600); it is on disk when this returns.
pub fn write(path: &Path, content: &[u8], points: Points) -> Result<()> {
    replace(path, content, points, Lasting::WithTheDisk)
}

/// Replaces a file's content (mode 0600) for as long as the machine runs: for what is about its
/// processes, and worth nothing after them.
pub fn write_while_running(path: &Path, content: &[u8], points: Points) -> Result<()> {
    replace(path, content, points, Lasting::WithTheMachine)
}

/// How long a content is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lasting {
    WithTheDisk,
    WithTheMachine,
}

fn replace(path: &Path, content: &[u8], points: Points, lasting: Lasting) -> Result<()> {
    let folder = folder_of(path)?;
    failpoint::hit(points.before);
    let temporary = temporary_name(path);
    let replaced = put(&temporary, content, lasting).and_then(|()| {
        failpoint::hit(points.written);
        fs::rename(&temporary, path)?;
        if lasting == Lasting::WithTheDisk { sync_folder(folder) } else { Ok(()) }
    });
    if let Err(error) = replaced {
        // The write failed already: that is what the caller hears, not what came of tidying up.
        let _tidied = fs::remove_file(&temporary);
        return Err(cannot("write", path, &error));
    }
    failpoint::hit(points.after);
    Ok(())
}

/// Makes a file (mode 0600) with this content, unless one has the name already; tells whether it
/// did. It is on disk when this returns.
pub fn create(path: &Path, content: &[u8], points: Points) -> io::Result<bool> {
    failpoint::hit(points.before);
    let temporary = temporary_name(path);
    let created = put(&temporary, content, Lasting::WithTheDisk).and_then(|()| {
        failpoint::hit(points.written);
        fs::hard_link(&temporary, path)
    });
    let _tidied = fs::remove_file(&temporary);
    match created {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(false),
        created => created?,
    }
    path.parent().map_or(Ok(()), sync_folder)?;
    failpoint::hit(points.after);
    Ok(true)
}

/// Makes the names in a folder durable.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Returns an unpredictable hidden name beside a file.
pub(crate) fn temporary_name(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    // Cut on a character, so that a long name and its mark fit into one file name.
    let short: String = name.chars().take(40).collect();
    path.with_file_name(format!(".{short}.{}.tmp", Uuid::new_v4().simple()))
}

fn folder_of(path: &Path) -> Result<&Path> {
    path.parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .ok_or_else(|| Error::internal(format!("`{}` has no folder", path.display())))
}

fn put(temporary: &Path, content: &[u8], lasting: Lasting) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(temporary)?;
    file.write_all(content)?;
    if lasting == Lasting::WithTheDisk { file.sync_all() } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use tempfile::TempDir;

    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn content_is_replaced_and_only_its_owner_reads_it() {
        let temp = TempDir::new().unwrap();
        let path = temp.path().join("session.json");
        write(&path, b"one", points!("test.write")).unwrap();
        write(&path, b"two", points!("test.write")).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(names(temp.path()), ["session.json"]);
    }

    #[test]
    fn a_failed_write_leaves_the_old_content_and_no_litter() {
        let temp = TempDir::new().unwrap();
        // A folder in the way: the rename fails after the temporary file was written.
        let path = temp.path().join("taken");
        fs::create_dir(&path).unwrap();
        let error = write(&path, b"x", points!("test.write")).unwrap_err();
        assert!(error.message.starts_with("cannot write"), "{error}");
        assert_eq!(names(temp.path()), ["taken"]);
    }

    #[test]
    fn what_lasts_as_long_as_the_machine_is_whole_too() {
        let temp = TempDir::new().unwrap();
        let path = temp.path().join("live.json");
        write_while_running(&path, b"one", points!("test.write")).unwrap();
        write_while_running(&path, b"two", points!("test.write")).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(names(temp.path()), ["live.json"]);
    }

    #[test]
    fn long_names_still_fit() {
        let temp = TempDir::new().unwrap();
        let path = temp.path().join("x".repeat(250));
        write(&path, b"x", points!("test.write")).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"x");
    }
}
