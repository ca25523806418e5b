//! Writes a conversation in the format of its next vendor, and removes it again on failure.

use std::collections::VecDeque;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::gather::{first_task, turn_cleaner};
use super::read_back::read_back;
use super::{ConversationExcerpt, SourceConversation};
use crate::error::{Error, Result};
use crate::failpoint;
use crate::model::{Role, Turn, VendorSessionId};
use crate::ports::{
    Files, NewContents, NewFile, Place, Ports, Taken, Target, Transcription, TranscriptionOrder,
    TurnWriter, Vendor,
};
use crate::rules::redaction::{KnownSecrets, Redactor, Removed};

/// The buffer is written to the file when it has at least this many bytes.
const BUFFER_BYTES: usize = 256 * 1024;

/// This many of the newest turns are read back, to check that the vendor's reader understands them.
const READ_BACK_TURNS: usize = 20;

/// Where a conversation is written.
#[derive(Clone, Debug)]
pub struct Destination {
    pub vendor: Arc<dyn Vendor>,
    pub place: Place,
    pub id: VendorSessionId,
    pub title: String,
    pub model: Option<String>,
    /// The transcript to which the turns are appended. `None` creates a new transcript.
    pub append_to: Option<PathBuf>,
    /// The path for a document that the vendor's program imports.
    pub import: PathBuf,
}

/// The result of writing a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenConversation {
    pub path: PathBuf,
    /// The vendor's program must import the file.
    pub is_import: bool,
    pub turns: u64,
    pub characters: u64,
    /// Additional files that were created.
    pub extra_files: Vec<PathBuf>,
    /// The secrets that were removed from the turns.
    pub removed: Removed,
    /// The length of an extended transcript in bytes, before and after. `None` if the file is new
    /// or imported.
    pub grown: Option<(u64, u64)>,
}

/// Writes turns in the format of the destination's vendor. `None` if that vendor cannot take over
/// conversations.
pub fn write(
    ports: &Ports,
    excerpt: &ConversationExcerpt,
    to: &Destination,
) -> Result<Option<WrittenConversation>> {
    let Some(mut transcript) = TranscriptWriter::begin(ports, to)? else { return Ok(None) };
    for turn in &excerpt.turns {
        transcript.turn(turn)?;
    }
    transcript.finish(excerpt.removed.clone()).map(Some)
}

/// Converts a whole conversation and keeps only a few turns in memory at a time. `None` if the
/// destination's vendor cannot take over conversations. Reads the conversation twice, because a
/// secret that only a later turn identifies is removed from the earlier turns, too.
pub fn convert(
    ports: &Ports,
    source: &SourceConversation,
    to: &Destination,
    known: &KnownSecrets,
) -> Result<Option<WrittenConversation>> {
    let Some(mut transcript) = TranscriptWriter::begin(ports, to)? else { return Ok(None) };
    let task = first_task(ports, source)?;
    let mut redactor = Redactor::new(known.clone());
    let (transcripts, files) = (source.transcripts()?, ports.files.as_ref());
    transcripts.turns(files, &source.transcript, &mut |turn| {
        redactor.learn(&turn.text);
        ControlFlow::Continue(())
    })?;
    let mut cleaner = turn_cleaner(ports, source, task.as_ref()).with_redactor(redactor);
    let mut clean = Vec::new();
    let mut failure = None;
    transcripts.turns(files, &source.transcript, &mut |turn| {
        cleaner.turn(turn, &mut clean);
        match clean.drain(..).try_for_each(|turn| transcript.turn(&turn)) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                failure = Some(error);
                ControlFlow::Break(())
            }
        }
    })?;
    if let Some(error) = failure {
        return Err(error);
    }
    cleaner.end(&mut clean);
    clean.iter().try_for_each(|turn| transcript.turn(turn))?;
    transcript.finish(cleaner.removed().clone()).map(Some)
}

/// Returns exactly the bytes that would be written. `None` if the vendor cannot take over
/// conversations.
pub(super) fn content_of(
    ports: &Ports,
    excerpt: &ConversationExcerpt,
    to: &Destination,
) -> Result<Option<Vec<u8>>> {
    let Some(Transcription { mut writer, .. }) = to.transcription(ports)? else { return Ok(None) };
    let mut out = Vec::new();
    writer.begin(&mut out);
    excerpt.turns.iter().for_each(|turn| writer.turn(turn, &mut out));
    writer.end(&mut out);
    Ok(Some(out))
}

impl Destination {
    /// Returns whether the vendor can take over a conversation in its own format.
    pub(super) fn takes_native(&self, ports: &Ports) -> Result<bool> {
        Ok(self.transcription(ports)?.is_some())
    }

    fn transcription(&self, ports: &Ports) -> Result<Option<Transcription>> {
        let Some(conversion) = self.vendor.conversion() else { return Ok(None) };
        let transcription = conversion.transcription(&TranscriptionOrder {
            files: ports.files.as_ref(),
            place: &self.place,
            id: &self.id,
            title: &self.title,
            model: self.model.as_deref(),
            now: ports.clock.now(),
            append_to: self.append_to.as_deref(),
        })?;
        Ok(Some(transcription))
    }
}

/// A transcript that is being written.
struct TranscriptWriter<'a> {
    ports: &'a Ports,
    to: &'a Destination,
    path: PathBuf,
    is_import: bool,
    extra_files: Vec<NewFile>,
    writer: Box<dyn TurnWriter>,
    contents: Box<dyn NewContents>,
    buffer: Vec<u8>,
    turns: u64,
    characters: u64,
    newest: VecDeque<(Role, String)>,
}

impl<'a> TranscriptWriter<'a> {
    fn begin(ports: &'a Ports, to: &'a Destination) -> Result<Option<Self>> {
        let Some(Transcription { target, extra_files, writer }) = to.transcription(ports)? else {
            return Ok(None);
        };
        let is_import = target == Target::Import;
        let path = match target {
            Target::Transcript(path) => path,
            Target::Import => to.import.clone(),
        };
        let failed = |error| unwritable(&path, &error);
        let mut contents = ports.files.begin(&path).map_err(failed)?;
        if let Some(transcript) = to.append_to.as_deref().filter(|_| !is_import) {
            contents.copy_lines(transcript).map_err(failed)?;
        }
        let mut transcript = Self {
            ports,
            to,
            path,
            is_import,
            extra_files,
            writer,
            contents,
            buffer: Vec::new(),
            turns: 0,
            characters: 0,
            newest: VecDeque::new(),
        };
        transcript.writer.begin(&mut transcript.buffer);
        Ok(Some(transcript))
    }

    fn turn(&mut self, turn: &Turn) -> Result<()> {
        self.turns += 1;
        self.characters += turn.text.chars().count() as u64;
        if self.newest.len() == READ_BACK_TURNS {
            self.newest.pop_front();
        }
        self.newest.push_back((turn.role, turn.text.clone()));
        self.writer.turn(turn, &mut self.buffer);
        if self.buffer.len() < BUFFER_BYTES { Ok(()) } else { self.flush() }
    }

    fn flush(&mut self) -> Result<()> {
        let written = self.contents.write(&self.buffer);
        self.buffer.clear();
        written.map_err(|error| unwritable(&self.path, &error))
    }

    fn finish(mut self, removed: Removed) -> Result<WrittenConversation> {
        self.writer.end(&mut self.buffer);
        self.flush()?;
        let files = self.ports.files.as_ref();
        let length = |path: &Path| files.facts(path).ok().flatten().map(|facts| facts.length);
        let before = self.to.append_to.as_deref().filter(|_| !self.is_import).and_then(length);
        let replaces = self.to.append_to.is_some() || self.is_import;
        let taken = if replaces { Taken::Replace } else { Taken::Refuse };
        let mut extra_files = Vec::new();
        let named = create_extra_files(files, &self.extra_files, &mut extra_files).and_then(|()| {
            failpoint::hit("handoff.beside.after");
            self.contents.finish(taken).map_err(|error| unwritable(&self.path, &error))
        });
        if let Err(error) = named {
            remove_all(files, &extra_files).map_err(|error| unwritable(&self.path, &error))?;
            return Err(error);
        }
        let written = WrittenConversation {
            extra_files,
            grown: before.zip(length(&self.path)),
            path: self.path,
            is_import: self.is_import,
            turns: self.turns,
            characters: self.characters,
            removed,
        };
        if let Err(error) = read_back(files, self.to, &written, &self.newest) {
            undo(self.ports, &written)?;
            return Err(error);
        }
        Ok(written)
    }
}

/// Creates the missing ones of these files, and adds their paths to `created`.
fn create_extra_files(
    files: &dyn Files,
    wanted: &[NewFile],
    created: &mut Vec<PathBuf>,
) -> Result<()> {
    for NewFile { path, contents } in wanted {
        let made = files.create(path, contents.as_bytes());
        if made.map_err(|error| unwritable(path, &error))? {
            created.push(path.clone());
        }
    }
    Ok(())
}

fn remove_all(files: &dyn Files, paths: &[PathBuf]) -> io::Result<()> {
    paths.iter().try_for_each(|path| files.remove(path))
}

/// Reverts a write. New files are deleted. An extended transcript is shortened to its earlier
/// length, unless the vendor has changed its length since.
pub fn undo(ports: &Ports, written: &WrittenConversation) -> Result<()> {
    failpoint::hit("handoff.undo.before");
    let files = ports.files.as_ref();
    let undone = match written.grown {
        Some((before, now)) => {
            let length = files.facts(&written.path).ok().flatten().map(|facts| facts.length);
            if length == Some(now) { shorten(files, &written.path, before) } else { Ok(()) }
        }
        None => files.remove(&written.path).and_then(|()| remove_all(files, &written.extra_files)),
    };
    failpoint::hit("handoff.undo.after");
    undone.map_err(|error| unwritable(&written.path, &error))
}

fn shorten(files: &dyn Files, path: &Path, length: u64) -> io::Result<()> {
    let mut contents = files.begin(path)?;
    contents.copy_start(path, length)?;
    contents.finish(Taken::Replace)
}

fn unwritable(path: &Path, error: &io::Error) -> Error {
    Error::vendor(format!("cannot write the conversation to `{}`", path.display())).caused_by(error)
}
