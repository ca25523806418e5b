//! The agent's files besides transcripts: its live entry, and the list of trusted folders.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use segue_core::model::ProcessRef;

use super::super::paths;
use super::super::records::{LiveEntry, LiveStatus};
use super::transcript::make_folder;

/// The live entry of the agent. A clean exit removes it; a crash leaves it behind.
#[derive(Debug)]
pub(super) struct LiveEntryFile {
    folder: PathBuf,
    entry: LiveEntry,
    /// While this is `true`, the entry is not written.
    pub(super) is_hidden: bool,
}

impl LiveEntryFile {
    pub(super) fn new(config_dir: &Path, cwd: &Path, process: &ProcessRef, id: &str) -> Self {
        let entry = LiveEntry {
            pid: process.pid,
            started: process.started,
            id: id.to_owned(),
            cwd: cwd.to_string_lossy().into_owned(),
            status: LiveStatus::Starting,
            at: Timestamp::UNIX_EPOCH,
            failure: None,
        };
        Self { folder: paths::live_folder(config_dir), entry, is_hidden: false }
    }

    /// Sets the text of a failed turn. It is written with the next status, and forgotten when the
    /// agent works again.
    pub(super) fn set_failure(&mut self, failure: Option<String>) {
        self.entry.failure = failure;
    }

    /// Writes the conversation id and the status to the entry.
    pub(super) fn publish(
        &mut self,
        id: &str,
        status: LiveStatus,
        at: Timestamp,
    ) -> io::Result<()> {
        id.clone_into(&mut self.entry.id);
        self.entry.status = status;
        if status == LiveStatus::Working {
            self.entry.failure = None;
        }
        self.entry.at = at;
        if self.is_hidden {
            return Ok(());
        }
        let temporary = self.folder.join(format!(".{}.json.tmp", self.entry.pid));
        write_private(&temporary, &serde_json::to_vec(&self.entry)?)?;
        fs::rename(temporary, self.path())
    }

    pub(super) fn status(&self) -> LiveStatus {
        self.entry.status
    }

    /// Removes the entry.
    pub(super) fn remove(&self) -> io::Result<()> {
        if self.is_hidden { Ok(()) } else { fs::remove_file(self.path()) }
    }

    fn path(&self) -> PathBuf {
        self.folder.join(format!("{}.json", self.entry.pid))
    }
}

/// Returns whether the user has trusted this folder.
pub(super) fn is_trusted(config_dir: &Path, cwd: &Path) -> bool {
    // Two folders can have the same trust file, so compare the path in the file.
    fs::read_to_string(trust_file(config_dir, cwd))
        .is_ok_and(|is_trusted| is_trusted == cwd.to_string_lossy())
}

/// Records that the user trusts this folder.
pub(super) fn trust(config_dir: &Path, cwd: &Path) -> io::Result<()> {
    write_private(&trust_file(config_dir, cwd), cwd.to_string_lossy().as_bytes())
}

fn trust_file(config_dir: &Path, cwd: &Path) -> PathBuf {
    let transcripts = paths::transcripts_folder(config_dir, cwd);
    config_dir.join("trusted").join(transcripts.file_name().unwrap_or_default())
}

fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        make_folder(folder)?;
    }
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    options.open(path)?.write_all(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entry_contains_the_announced_status_and_is_removed() {
        let config_dir = tempfile::tempdir().unwrap();
        let process = ProcessRef { pid: 7, started: 99, boot: "b".into() };
        let mut live_entry =
            LiveEntryFile::new(config_dir.path(), Path::new("/code"), &process, "one");
        live_entry.publish("two", LiveStatus::WaitingTrust, Timestamp::UNIX_EPOCH).unwrap();
        let text = fs::read_to_string(config_dir.path().join("live/7.json")).unwrap();
        let wanted = r#"{"pid":7,"started":99,"id":"two","cwd":"/code","status":"waiting_trust","at":"1970-01-01T00:00:00Z"}"#;
        assert_eq!(text, wanted);
        live_entry.set_failure(Some("no".to_owned()));
        let mut published = |status| {
            live_entry.publish("two", status, Timestamp::UNIX_EPOCH).unwrap();
            fs::read_to_string(config_dir.path().join("live/7.json")).unwrap()
        };
        assert!(published(LiveStatus::Idle).contains(r#""failure":"no""#));
        assert!(!published(LiveStatus::Working).contains("failure"));
        live_entry.remove().unwrap();
        assert_eq!(fs::read_dir(config_dir.path().join("live")).unwrap().count(), 0);
    }

    #[test]
    fn trust_applies_to_one_folder_only() {
        let config_dir = tempfile::tempdir().unwrap();
        trust(config_dir.path(), Path::new("/code/a_b")).unwrap();
        assert!(is_trusted(config_dir.path(), Path::new("/code/a_b")));
        assert!(!is_trusted(config_dir.path(), Path::new("/code/a.b")));
    }
}
