//! Writes the agent's transcript, and reads it on a resume.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::super::paths;
use super::super::records::{DemoRecord, DemoWords};
use super::effect::LineAuthor;
use super::memory::Memory;

/// The transcript of the agent's conversation.
///
/// The file does not exist before the first message, and the agent does not lock it. Each line is
/// appended with one write and without `fsync`. The agent does not repair a truncated line, so the
/// next line is appended to it. Real agents do the same.
#[derive(Debug)]
pub(super) struct DemoTranscript {
    config_dir: PathBuf,
    cwd: PathBuf,
    id: String,
    file: Option<File>,
    /// The words of the current turn.
    words: DemoWords,
}

impl DemoTranscript {
    /// Returns a new conversation, which has no file yet.
    pub(super) fn new(config_dir: &Path, cwd: &Path, id: String) -> Self {
        Self {
            config_dir: config_dir.to_owned(),
            cwd: cwd.to_owned(),
            id,
            file: None,
            words: DemoWords::default(),
        }
    }

    /// Opens a conversation and reads its messages. `None` if it does not exist or has no header.
    pub(super) fn resume(
        config_dir: &Path,
        cwd: &Path,
        id: &str,
    ) -> io::Result<Option<(Self, Memory)>> {
        let mut transcript = Self::new(config_dir, cwd, id.to_owned());
        if !paths::is_id(id) || !transcript.exists()? {
            return Ok(None);
        }
        let Some(memory) = read_memory(&transcript.path())? else { return Ok(None) };
        transcript.file = Some(OpenOptions::new().append(true).open(transcript.path())?);
        Ok(Some((transcript, memory)))
    }

    pub(super) fn id(&self) -> &str {
        &self.id
    }

    /// Returns whether the file of this conversation exists. The file may be invalid.
    pub(super) fn exists(&self) -> io::Result<bool> {
        self.path().try_exists()
    }

    /// Appends a line of the conversation.
    pub(super) fn append_line(
        &mut self,
        author: LineAuthor,
        text: &str,
        at: Timestamp,
    ) -> io::Result<()> {
        let text = text.to_owned();
        let words = text.split_whitespace().count() as u64;
        match author {
            LineAuthor::User | LineAuthor::ToolResult => self.words.read += words,
            LineAuthor::Assistant | LineAuthor::ToolCall => self.words.written += words,
        }
        self.append(&match author {
            LineAuthor::User => DemoRecord::User { text, at },
            LineAuthor::Assistant => DemoRecord::Assistant { text, at },
            LineAuthor::ToolCall => DemoRecord::ToolCall { text, at },
            LineAuthor::ToolResult => DemoRecord::ToolResult { text, at },
        })
    }

    /// Records the end of the turn, and how many words it had.
    pub(super) fn end_turn(&mut self, at: Timestamp) -> io::Result<()> {
        let words = Some(std::mem::take(&mut self.words));
        self.append(&DemoRecord::TurnEnd { at, words })
    }

    /// Continues in a new conversation with this id, which has no file yet.
    pub(super) fn clear(&mut self, id: String) {
        self.id = id;
        self.file = None;
    }

    /// Continues in a copy of the conversation, with this id.
    pub(super) fn fork(&mut self, id: String, at: Timestamp) -> io::Result<()> {
        let has_file = self.file.is_some();
        let source = self.path();
        self.clear(id);
        if !has_file {
            return Ok(());
        }
        let mut old = BufReader::new(File::open(source)?);
        old.skip_until(b'\n')?;
        let mut copy = self.create()?;
        copy.write_all(&encode(&self.header(at))?)?;
        io::copy(&mut old, &mut copy)?;
        self.file = Some(copy);
        Ok(())
    }

    fn path(&self) -> PathBuf {
        paths::transcript(&self.config_dir, &self.cwd, &self.id)
    }

    /// Appends a record. Writes the header together with the first message, in one write.
    fn append(&mut self, record: &DemoRecord) -> io::Result<()> {
        let mut bytes = Vec::new();
        if self.file.is_none() {
            if let DemoRecord::User { at, .. } = record {
                bytes = encode(&self.header(*at))?;
            }
            self.file = Some(self.create()?);
        }
        bytes.extend(encode(record)?);
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

/// Creates a folder and its missing parents, with access for the owner only.
pub(super) fn make_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

fn encode(record: &DemoRecord) -> io::Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec(record)?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// Reads the memory of the agent from a transcript. `None` if the transcript has no header.
fn read_memory(path: &Path) -> io::Result<Option<Memory>> {
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
            Some(DemoRecord::User { text, .. }) => memory.record_message(&text),
            Some(DemoRecord::ToolResult { text, .. }) => memory.record_file(&text),
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

    fn started_conversation(config_dir: &TempDir) -> DemoTranscript {
        let mut transcript =
            DemoTranscript::new(config_dir.path(), Path::new("/work"), "one".into());
        transcript.append_line(LineAuthor::User, "remember the word fox", NOW).unwrap();
        transcript
    }

    fn resumed(config_dir: &TempDir, id: &str) -> Option<Memory> {
        DemoTranscript::resume(config_dir.path(), Path::new("/work"), id)
            .unwrap()
            .map(|(_, memory)| memory)
    }

    #[test]
    fn file_is_created_with_the_first_message() {
        let config_dir = tempfile::tempdir().unwrap();
        let mut transcript =
            DemoTranscript::new(config_dir.path(), Path::new("/work"), "one".into());
        assert!(!transcript.exists().unwrap());
        transcript.append_line(LineAuthor::User, "hi", NOW).unwrap();
        let text = fs::read_to_string(transcript.path()).unwrap();
        let wanted = r#"{"type":"session","id":"one","cwd":"/work","at":"1970-01-01T00:00:00Z""#;
        assert!(text.starts_with(wanted), "{text}");
        let user = r#"{"type":"user","text":"hi","at":"1970-01-01T00:00:00Z"}"#;
        assert_eq!(text.lines().nth(1), Some(user));
    }

    #[test]
    fn resume_finds_a_conversation_only_in_its_own_folder() {
        let config_dir = tempfile::tempdir().unwrap();
        started_conversation(&config_dir).end_turn(NOW).unwrap();
        assert_eq!(resumed(&config_dir, "one").unwrap().answer("which word"), "The word is fox.");
        assert!(resumed(&config_dir, "two").is_none());
        assert!(resumed(&config_dir, "../-work/one").is_none());
        assert!(
            DemoTranscript::resume(config_dir.path(), Path::new("/other"), "one")
                .unwrap()
                .is_none()
        );
    }

    #[test]
    fn truncated_line_is_skipped_together_with_the_next_one() {
        let config_dir = tempfile::tempdir().unwrap();
        let transcript = started_conversation(&config_dir);
        let path = transcript.path();
        let mut bytes = fs::read(&path).unwrap();
        bytes.extend(b"{\"type\":\"assis");
        fs::write(&path, bytes).unwrap();
        let (mut transcript, memory) =
            DemoTranscript::resume(config_dir.path(), Path::new("/work"), "one").unwrap().unwrap();
        assert_eq!(memory.message_count(), 1);
        transcript.append_line(LineAuthor::User, "glued", NOW).unwrap();
        transcript.append_line(LineAuthor::User, "heard", NOW).unwrap();
        assert_eq!(resumed(&config_dir, "one").unwrap().message_count(), 2);
    }

    #[test]
    fn a_file_without_a_header_is_no_conversation() {
        let config_dir = tempfile::tempdir().unwrap();
        let path = started_conversation(&config_dir).path();
        fs::write(path, "").unwrap();
        assert!(resumed(&config_dir, "one").is_none());
    }

    #[test]
    fn fork_copies_the_history_under_a_new_id_and_keeps_the_original() {
        let config_dir = tempfile::tempdir().unwrap();
        let mut transcript = started_conversation(&config_dir);
        let original = fs::read(transcript.path()).unwrap();
        let path = transcript.path();
        transcript.fork("two".into(), NOW).unwrap();
        transcript.append_line(LineAuthor::User, "more", NOW).unwrap();
        assert_eq!(fs::read(path).unwrap(), original);
        assert_eq!(resumed(&config_dir, "two").unwrap().message_count(), 2);
        let text = fs::read_to_string(transcript.path()).unwrap();
        assert!(text.starts_with(r#"{"type":"session","id":"two""#), "{text}");
    }

    #[test]
    fn clear_creates_the_new_file_with_its_first_message() {
        let config_dir = tempfile::tempdir().unwrap();
        let mut transcript = started_conversation(&config_dir);
        transcript.clear("two".into());
        assert!(!transcript.exists().unwrap());
        transcript.append_line(LineAuthor::User, "hi", NOW).unwrap();
        assert_eq!(resumed(&config_dir, "two").unwrap().message_count(), 1);
        assert_eq!(resumed(&config_dir, "one").unwrap().message_count(), 1);
    }
}
