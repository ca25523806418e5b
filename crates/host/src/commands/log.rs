//! The log of the commands of one worktree.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use crate::own_folder::{Openness, ensure_folder};

/// A log with this many bytes is renamed and begun again. One renamed log is kept.
const MAX_LOG_BYTES: u64 = 1 << 20;

/// Appends the output of a command to a file. An error of the file ends the log, and not the
/// command.
#[derive(Debug, Default)]
pub(super) struct CommandLog {
    open: Option<OpenLog>,
}

#[derive(Debug)]
struct OpenLog {
    path: PathBuf,
    file: File,
    bytes: u64,
}

impl CommandLog {
    /// Opens the log, and writes the command into it. Without a path, nothing is logged.
    pub(super) fn begin(path: Option<PathBuf>, command: &str) -> Self {
        let Some(path) = path else { return Self::default() };
        let open = OpenLog::open(&path);
        let open = open.inspect_err(|error| warn(&path, error)).ok();
        let mut log = Self { open };
        log.write(format!("$ {command}\n").as_bytes());
        log
    }

    pub(super) fn write(&mut self, bytes: &[u8]) {
        let Some(open) = &mut self.open else { return };
        if let Err(error) = open.write(bytes) {
            warn(&open.path, &error);
            self.open = None;
        }
    }

    /// Writes how the command ended.
    pub(super) fn end(&mut self, ending: &str) {
        self.write(format!("[{ending}]\n").as_bytes());
    }
}

fn warn(path: &Path, error: &io::Error) {
    tracing::warn!(%error, path = %path.display(), "the output of a command is not logged");
}

impl OpenLog {
    fn open(path: &Path) -> io::Result<Self> {
        if let Some(folder) = path.parent() {
            ensure_folder(folder, Openness::Private).map_err(io::Error::other)?;
        }
        let file = OpenOptions::new().append(true).create(true).mode(0o600).open(path)?;
        let bytes = file.metadata()?.len();
        Ok(Self { path: path.to_owned(), file, bytes })
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.bytes > 0 && self.bytes + bytes.len() as u64 > MAX_LOG_BYTES {
            std::fs::rename(&self.path, earlier(&self.path))?;
            *self = Self::open(&self.path)?;
        }
        self.file.write_all(bytes)?;
        self.bytes += bytes.len() as u64;
        Ok(())
    }
}

/// Returns the path of the renamed log.
fn earlier(path: &Path) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(".1");
    name.into()
}

/// Deletes a log.
pub(super) fn remove(path: &Path) {
    for file in [path.to_owned(), earlier(path)] {
        match std::fs::remove_file(&file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                tracing::warn!(%error, path = %file.display(), "a log cannot be deleted");
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_has_commands_output_and_ends_of_several_commands() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("logs/a.log");
        for command in ["one", "two"] {
            let mut log = CommandLog::begin(Some(path.clone()), command);
            log.write(b"output\n");
            log.end("exit status: 0");
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let expected = "$ one\noutput\n[exit status: 0]\n$ two\noutput\n[exit status: 0]\n";
        assert_eq!(text, expected);
        remove(&path);
        assert!(!path.exists());
    }

    #[test]
    fn long_log_loses_its_beginning_and_keeps_its_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("logs/a.log");
        let mut log = CommandLog::begin(Some(path.clone()), "yes");
        let line = vec![b'y'; 1000];
        (0..5000).for_each(|_| log.write(&line));
        log.end("exit status: 1");
        assert!(std::fs::metadata(&path).unwrap().len() <= MAX_LOG_BYTES);
        assert!(std::fs::metadata(earlier(&path)).unwrap().len() <= MAX_LOG_BYTES);
        assert_eq!(std::fs::read_dir(folder.path().join("logs")).unwrap().count(), 2);
        let text = std::fs::read(&path).unwrap();
        assert!(text.ends_with(b"y[exit status: 1]\n"));
        remove(&path);
        assert_eq!(std::fs::read_dir(folder.path().join("logs")).unwrap().count(), 0);
    }
}
