//! The agent's transcript: writing it, and reading it back on a resume.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::super::paths;
use super::super::records::DemoRecord;
use super::effect::LineAuthor;
use super::memory::Memory;

/// The transcript of the agent's conversation.
///
/// The file does not exist before the first message, and nothing locks it. Lines are appended with
/// plain writes and without a flush to the disk. A line that a kill has truncated is not repaired,
/// so that the next line is appended to it. Real agents do all of this.
#[derive(Debug)]
pub(super) struct DemoTranscript {
    home: PathBuf,
    cwd: PathBuf,
    id: String,
    file: Option<File>,
}

impl DemoTranscript {
    /// Prepares a conversation without messages.
    pub(super) fn new(home: &Path, cwd: &Path, id: String) -> Self {
        Self { home: home.to_owned(), cwd: cwd.to_owned(), id, file: None }
    }

    /// Opens a conversation and reads what it contains. `None` if it does not exist or has no
    /// header.
    pub(super) fn resume(home: &Path, cwd: &Path, id: &str) -> io::Result<Option<(Self, Memory)>> {
        let mut log = Self::new(home, cwd, id.to_owned());
        if !paths::is_id(id) || !log.exists()? {
            return Ok(None);
        }
        let Some(memory) = remember(&log.path())? else { return Ok(None) };
        log.file = Some(OpenOptions::new().append(true).open(log.path())?);
        Ok(Some((log, memory)))
    }

    pub(super) fn id(&self) -> &str {
        &self.id
    }

    /// Returns whether the file of this conversation exists, whatever it contains.
    pub(super) fn exists(&self) -> io::Result<bool> {
        self.path().try_exists()
    }

    /// Appends a line of the conversation.
    pub(super) fn say(&mut self, said: LineAuthor, text: &str, at: Timestamp) -> io::Result<()> {
        let text = text.to_owned();
        self.append(&match said {
            LineAuthor::User => DemoRecord::User { text, at },
            LineAuthor::Assistant => DemoRecord::Assistant { text, at },
            LineAuthor::ToolCall => DemoRecord::ToolCall { text, at },
            LineAuthor::ToolResult => DemoRecord::ToolResult { text, at },
        })
    }

    /// Records the end of the turn.
    pub(super) fn end_turn(&mut self, at: Timestamp) -> io::Result<()> {
        self.append(&DemoRecord::TurnEnd { at })
    }

    /// Continues in a new conversation, which has no file yet.
    pub(super) fn clear(&mut self, id: String) {
        self.id = id;
        self.file = None;
    }

    /// Continues in a copy of the conversation.
    pub(super) fn fork(&mut self, id: String, at: Timestamp) -> io::Result<()> {
        let was_begun = self.file.is_some();
        let source = self.path();
        self.clear(id);
        if !was_begun {
            return Ok(());
        }
        let mut old = BufReader::new(File::open(source)?);
        old.skip_until(b'\n')?;
        let mut copy = self.create()?;
        copy.write_all(&line(&self.header(at))?)?;
        io::copy(&mut old, &mut copy)?;
        self.file = Some(copy);
        Ok(())
    }

    fn path(&self) -> PathBuf {
        paths::transcript(&self.home, &self.cwd, &self.id)
    }

    /// Appends a record. Writes the header together with the first message, in one write.
    fn append(&mut self, record: &DemoRecord) -> io::Result<()> {
        let mut bytes = Vec::new();
        if self.file.is_none() {
            if let DemoRecord::User { at, .. } = record {
                bytes = line(&self.header(*at))?;
            }
            self.file = Some(self.create()?);
        }
        bytes.extend(line(record)?);
        self.file.as_mut().map_or(Ok(()), |file| file.write_all(&bytes))
    }

    fn create(&self) -> io::Result<File> {
        let path = self.path();
        if let Some(folder) = path.parent() {
            make_folder(folder)?;
        }
        OpenOptions::new().append(true).create(true).mode(0o600).open(path)
    }

    fn header(&self, at: Timestamp) -> DemoRecord {
        DemoRecord::Session {
            id: self.id.clone(),
            cwd: self.cwd.to_string_lossy().into_owned(),
            at,
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }
}

/// Makes a folder that only its owner can enter.
pub(super) fn make_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

fn line(record: &DemoRecord) -> io::Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec(record)?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// Reads a transcript line by line. `None` if it has no header.
fn remember(path: &Path) -> io::Result<Option<Memory>> {
    let mut reader = BufReader::new(File::open(path)?);
    let mut memory = Memory::default();
    let mut bytes = Vec::new();
    reader.read_until(b'\n', &mut bytes)?;
    if !matches!(DemoRecord::read(&bytes), Some(DemoRecord::Session { .. })) {
        return Ok(None);
    }
    loop {
        bytes.clear();
        if reader.read_until(b'\n', &mut bytes)? == 0 {
            return Ok(Some(memory));
        }
        match DemoRecord::read(&bytes) {
            Some(DemoRecord::User { text, .. }) => memory.hear(&text),
            Some(DemoRecord::ToolResult { text, .. }) => memory.learn(&text),
            Some(DemoRecord::TurnEnd { .. }) => memory.end_turn(),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::*;

    const NOW: Timestamp = Timestamp::UNIX_EPOCH;

    fn begun(home: &TempDir) -> DemoTranscript {
        let mut log = DemoTranscript::new(home.path(), Path::new("/work"), "one".into());
        log.say(LineAuthor::User, "remember the word fox", NOW).unwrap();
        log
    }

    fn resumed(home: &TempDir, id: &str) -> Option<Memory> {
        DemoTranscript::resume(home.path(), Path::new("/work"), id)
            .unwrap()
            .map(|(_, memory)| memory)
    }

    #[test]
    fn there_is_no_file_before_the_first_message() {
        let home = tempfile::tempdir().unwrap();
        let mut log = DemoTranscript::new(home.path(), Path::new("/work"), "one".into());
        assert!(!log.exists().unwrap());
        log.say(LineAuthor::User, "hi", NOW).unwrap();
        let text = fs::read_to_string(log.path()).unwrap();
        let wanted = r#"{"type":"session","id":"one","cwd":"/work","at":"1970-01-01T00:00:00Z""#;
        assert!(text.starts_with(wanted), "{text}");
        let user = r#"{"type":"user","text":"hi","at":"1970-01-01T00:00:00Z"}"#;
        assert_eq!(text.lines().nth(1), Some(user));
    }

    #[test]
    fn resume_finds_a_conversation_only_in_its_own_folder() {
        let home = tempfile::tempdir().unwrap();
        begun(&home).end_turn(NOW).unwrap();
        assert_eq!(resumed(&home, "one").unwrap().answer("which word"), "The word is fox.");
        assert!(resumed(&home, "two").is_none());
        assert!(resumed(&home, "../-work/one").is_none());
        assert!(DemoTranscript::resume(home.path(), Path::new("/other"), "one").unwrap().is_none());
    }

    #[test]
    fn truncated_line_is_skipped_together_with_the_next_one() {
        let home = tempfile::tempdir().unwrap();
        let log = begun(&home);
        let path = log.path();
        let mut bytes = fs::read(&path).unwrap();
        bytes.extend(b"{\"type\":\"assis");
        fs::write(&path, bytes).unwrap();
        let (mut log, memory) =
            DemoTranscript::resume(home.path(), Path::new("/work"), "one").unwrap().unwrap();
        assert_eq!(memory.heard(), 1);
        log.say(LineAuthor::User, "glued", NOW).unwrap();
        log.say(LineAuthor::User, "heard", NOW).unwrap();
        assert_eq!(resumed(&home, "one").unwrap().heard(), 2);
    }

    #[test]
    fn a_file_without_a_header_is_no_conversation() {
        let home = tempfile::tempdir().unwrap();
        let path = begun(&home).path();
        fs::write(path, "").unwrap();
        assert!(resumed(&home, "one").is_none());
    }

    #[test]
    fn fork_copies_the_history_under_a_new_id_and_keeps_the_original() {
        let home = tempfile::tempdir().unwrap();
        let mut log = begun(&home);
        let original = fs::read(log.path()).unwrap();
        let path = log.path();
        log.fork("two".into(), NOW).unwrap();
        log.say(LineAuthor::User, "more", NOW).unwrap();
        assert_eq!(fs::read(path).unwrap(), original);
        assert_eq!(resumed(&home, "two").unwrap().heard(), 2);
        let text = fs::read_to_string(log.path()).unwrap();
        assert!(text.starts_with(r#"{"type":"session","id":"two""#), "{text}");
    }

    #[test]
    fn a_cleared_conversation_begins_with_its_first_message() {
        let home = tempfile::tempdir().unwrap();
        let mut log = begun(&home);
        log.clear("two".into());
        assert!(!log.exists().unwrap());
        log.say(LineAuthor::User, "hi", NOW).unwrap();
        assert_eq!(resumed(&home, "two").unwrap().heard(), 1);
        assert_eq!(resumed(&home, "one").unwrap().heard(), 1);
    }
}
