//! Atomic file writes. After a crash at any time, the file has either its old or its new content.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use segue_core::{Error, Result, failpoint};
use uuid::Uuid;

use crate::failure::cannot;

/// The names of the failpoints of one kind of write. [`points!`](crate::points) makes them from a
/// label.
#[derive(Clone, Copy, Debug)]
pub struct Points {
    /// Hit before anything is written.
    pub before: &'static str,
    /// Hit when the new content is in a temporary file and the old file still has its name.
    pub written: &'static str,
    /// Hit when the new file has the final name.
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

/// Replaces the content of a file (mode 0600). The new content is on disk when this returns.
pub fn write(path: &Path, content: &[u8], points: Points) -> Result<()> {
    replace(path, content, points, Lasting::MachineCrash)
}

/// Replaces the content of a file (mode 0600) without syncing it to disk. The content survives a
/// crash of this process, but not a crash of the machine. Use it for facts about running processes,
/// which are useless after a reboot.
pub fn write_while_running(path: &Path, content: &[u8], points: Points) -> Result<()> {
    replace(path, content, points, Lasting::ProcessCrash)
}

/// The crash that the content must survive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lasting {
    MachineCrash,
    ProcessCrash,
}

fn replace(path: &Path, content: &[u8], points: Points, lasting: Lasting) -> Result<()> {
    let folder = folder_of(path)?;
    failpoint::hit(points.before);
    let temporary = temporary_name(path);
    let replaced = put(&temporary, content, lasting).and_then(|()| {
        failpoint::hit(points.written);
        fs::rename(&temporary, path)?;
        if lasting == Lasting::MachineCrash { sync_folder(folder) } else { Ok(()) }
    });
    if let Err(error) = replaced {
        // Report the failed write, not a failure of this cleanup.
        let _tidied = fs::remove_file(&temporary);
        return Err(cannot("write", path, &error));
    }
    failpoint::hit(points.after);
    Ok(())
}

/// Creates a file (mode 0600) with this content. Returns `false`, and changes nothing, if a file of
/// that name exists. The content is on disk when this returns.
pub fn create(path: &Path, content: &[u8], points: Points) -> io::Result<bool> {
    failpoint::hit(points.before);
    let temporary = temporary_name(path);
    let created = put(&temporary, content, Lasting::MachineCrash).and_then(|()| {
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

/// Syncs a folder, so that the file names in it are durable.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Returns an unpredictable hidden file name in the same folder as `path`.
pub(crate) fn temporary_name(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    // Shorten a long name, so that it fits into a file name together with the suffix.
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
    if lasting == Lasting::MachineCrash { file.sync_all() } else { Ok(()) }
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
    fn write_replaces_the_content_with_mode_0600() {
        let temp = TempDir::new().unwrap();
        let path = temp.path().join("session.json");
        write(&path, b"one", points!("test.write")).unwrap();
        write(&path, b"two", points!("test.write")).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(names(temp.path()), ["session.json"]);
    }

    #[test]
    fn failed_write_keeps_the_old_entry_and_removes_the_temporary_file() {
        let temp = TempDir::new().unwrap();
        // A folder has this name, so the rename fails after the temporary file was written.
        let path = temp.path().join("taken");
        fs::create_dir(&path).unwrap();
        let error = write(&path, b"x", points!("test.write")).unwrap_err();
        assert!(error.message.starts_with("cannot write"), "{error}");
        assert_eq!(names(temp.path()), ["taken"]);
    }

    #[test]
    fn write_while_running_replaces_the_whole_content() {
        let temp = TempDir::new().unwrap();
        let path = temp.path().join("live.json");
        write_while_running(&path, b"one", points!("test.write")).unwrap();
        write_while_running(&path, b"two", points!("test.write")).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(names(temp.path()), ["live.json"]);
    }

    #[test]
    fn write_accepts_a_name_of_250_characters() {
        let temp = TempDir::new().unwrap();
        let path = temp.path().join("x".repeat(250));
        write(&path, b"x", points!("test.write")).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"x");
    }
}
