//! Reads transcripts: a limited number of bytes at the beginning, and at the end.

use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use segue_core::Result;
use segue_core::model::VendorSessionId;
use segue_core::ports::{
    Beginning, Conversation, EachTurn, Files, Live, Place, StoredConversation, TranscriptFiles,
    TranscriptStorage, Transcripts, WriteMode,
};

use super::messages::{GeminiMeaning, GeminiMessage};
use super::records::{GeminiLine, WriterProcess};
use super::{Gemini, endangered, paths, process, turns, typing};
use crate::shared::reading::{self, ReadDirection, StopReason};
use crate::shared::transcripts;

/// How many bytes of the beginning are read. The next limit applies if the first message is not
/// found.
const BEGINNING_LIMITS_BYTES: [usize; 3] = [64 * 1024, 1024 * 1024, 8 * 1024 * 1024];

impl Transcripts for Gemini {
    fn storage(&self) -> TranscriptStorage<'_> {
        TranscriptStorage::Files(self)
    }

    fn transcript(&self, files: &dyn Files, place: &Place, id: &VendorSessionId) -> PathBuf {
        paths::transcript(files, place, id)
    }

    /// Returns whether a conversation can begin with this id: its transcript is missing or has no
    /// message.
    fn is_free(&self, files: &dyn Files, place: &Place, id: &VendorSessionId) -> bool {
        let path = paths::transcript(files, place, id);
        match files.facts(&path) {
            Ok(None) => true,
            Ok(Some(_)) => matches!(read(files, place, &path, id), Ok(None)),
            Err(_) => false,
        }
    }

    fn conversation(
        &self,
        files: &dyn Files,
        place: &Place,
        id: &VendorSessionId,
    ) -> Result<Option<Conversation>> {
        let path = paths::transcript(files, place, id);
        read(files, place, &path, id).map_err(|error| reading::unreadable(&path, error))
    }

    fn conversations(&self, files: &dyn Files, place: &Place) -> Result<Vec<Conversation>> {
        let id_of = |path: &Path| paths::id_of(files, path);
        let read = |path: &Path, id: &VendorSessionId| read(files, place, path, id);
        let folder = paths::chats(files, place);
        transcripts::conversations_in(files, (place, &folder), id_of, read)
    }

    fn list(&self, files: &dyn Files, config_dir: &Path) -> io::Result<Vec<StoredConversation>> {
        paths::kept(files, config_dir)
    }

    fn beginning(
        &self,
        files: &dyn Files,
        kept: &StoredConversation,
    ) -> io::Result<Option<Beginning>> {
        let path = &kept.transcript;
        let Some(facts) = files.facts(path)? else { return Ok(None) };
        let Some((at, first_message)) = first_user_message(files, path)? else { return Ok(None) };
        let beginning = |cwd| Beginning {
            cwd,
            began_at: at.unwrap_or(facts.modified),
            first_message: Some(first_message),
        };
        Ok(paths::cwd_of(files, path).map(beginning))
    }

    fn open_conversations(&self, files: &dyn Files, place: &Place) -> Result<Vec<Live>> {
        Ok(process::live(files, &paths::chats(files, place)))
    }

    fn user_messages_since(
        &self,
        files: &dyn Files,
        place: &Place,
        id: &VendorSessionId,
        offset: u64,
    ) -> Result<Vec<String>> {
        messages_since(files, &self.transcript(files, place, id), offset)
    }

    fn turns_back(
        &self,
        files: &dyn Files,
        transcript: &Path,
        each: &mut EachTurn<'_>,
    ) -> Result<()> {
        turns::read(files, transcript, ReadDirection::Back, each)
    }

    fn turns(&self, files: &dyn Files, transcript: &Path, each: &mut EachTurn<'_>) -> Result<()> {
        turns::read(files, transcript, ReadDirection::Forward, each)
    }
}

impl TranscriptFiles for Gemini {
    fn write_mode(&self) -> WriteMode {
        WriteMode::Append
    }

    fn restored_as(&self, files: &dyn Files, place: &Place, id: &VendorSessionId) -> PathBuf {
        paths::restored_as(files, place, id)
    }

    fn endangered(&self, files: &dyn Files, place: &Place) -> Vec<PathBuf> {
        endangered::endangered(files, place)
    }
}

/// Returns the user's messages from this byte offset on. When Gemini changes earlier messages, it
/// writes a context, copies of all messages, and a line that replaces them. The copies are skipped.
fn messages_since(files: &dyn Files, path: &Path, offset: u64) -> Result<Vec<String>> {
    let mut are_copies = false;
    reading::messages_since(files, path, offset, |line| {
        let line = GeminiLine::read(line)?;
        are_copies &= line.replacement().is_none();
        match line.message()?.meaning() {
            GeminiMeaning::Context => are_copies = true,
            GeminiMeaning::UserMessage(text) if !are_copies => {
                return Some(typing::normalize(&text));
            }
            _ => {}
        }
        None
    })
}

/// Returns whether a transcript contains a message of the user.
pub(super) fn has_user_message(files: &dyn Files, path: &Path) -> bool {
    matches!(first_user_message(files, path), Ok(Some(_)))
}

fn read(
    files: &dyn Files,
    place: &Place,
    path: &Path,
    id: &VendorSessionId,
) -> io::Result<Option<Conversation>> {
    let Some(facts) = files.facts(path)? else { return Ok(None) };
    let Some((at, first_message)) = first_user_message(files, path)? else { return Ok(None) };
    let end = GeminiTranscriptEnd::read(files, path, facts.length)?;
    Ok(Some(Conversation {
        id: id.clone(),
        transcript: path.to_owned(),
        cwd: place.cwd.clone(),
        began_at: at.unwrap_or(facts.modified),
        first_message: Some(first_message),
        turn_open: end.is_open,
        last_answer: end.last_answer,
    }))
}

/// Returns the start time of a conversation and its first message. `None` if there is no message.
fn first_user_message(
    files: &dyn Files,
    path: &Path,
) -> io::Result<Option<(Option<Timestamp>, String)>> {
    reading::find_in_beginning(files, path, &BEGINNING_LIMITS_BYTES, |lines| {
        let mut at = None;
        lines.filter_map(GeminiLine::read).find_map(|line| {
            at = at.or(line.start_time);
            line.messages().iter().find_map(|message| match message.meaning() {
                GeminiMeaning::UserMessage(text) => Some((at, typing::normalize(&text))),
                _ => None,
            })
        })
    })
}

/// How the last turn ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum GeminiTurnEnd {
    Answered(String),
    Failed(String),
    Cancelled,
}

/// The state of the last turn, read from the end of a transcript.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct GeminiTranscriptEnd {
    pub(super) is_open: bool,
    /// The timestamp of the last message of an open turn. `None` if the message is a copy.
    pub(super) working_since: Option<Timestamp>,
    /// When and how the last turn ended. `None` if its last message is a copy.
    pub(super) turn: Option<(Timestamp, GeminiTurnEnd)>,
    pub(super) last_answer: Option<String>,
    /// What is known about the process that wrote the last line, except summaries.
    pub(super) written: Option<WriterProcess>,
    is_known: bool,
}

impl GeminiTranscriptEnd {
    /// Reads lines from the end until the state of the last turn and the last answer are known.
    pub(super) fn read(files: &dyn Files, path: &Path, length: u64) -> io::Result<Self> {
        let mut end = Self::default();
        let stopped = reading::each_tail_line(files, path, length, |line| {
            GeminiLine::read(line).map_or(ControlFlow::Continue(()), |line| end.take(&line))
        })?;
        // If the last line is longer than the read limit, the turn counts as open.
        end.is_open |= !end.is_known && stopped == StopReason::LimitReached;
        Ok(end)
    }

    fn take(&mut self, line: &GeminiLine) -> ControlFlow<()> {
        self.written = self.written.or_else(|| line.written());
        if let Some(all) = line.replacement() {
            // This line replaces all earlier lines.
            all.iter().rev().for_each(|message| self.add(message, false));
            return ControlFlow::Break(());
        }
        if let Some(message) = line.message() {
            self.add(message, true);
        }
        let is_enough = self.is_known && self.last_answer.is_some();
        if is_enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn add(&mut self, message: &GeminiMessage, is_own_line: bool) {
        let (is_open, turn) = match message.meaning() {
            GeminiMeaning::NoEffect | GeminiMeaning::Context => return,
            GeminiMeaning::UserMessage(_)
            | GeminiMeaning::ToolResult
            | GeminiMeaning::Continues => (true, None),
            GeminiMeaning::Answered(text) => {
                self.last_answer.get_or_insert_with(|| text.clone());
                (false, Some(GeminiTurnEnd::Answered(text)))
            }
            GeminiMeaning::Failed(text) => (false, Some(GeminiTurnEnd::Failed(text))),
            GeminiMeaning::Cancelled => (false, Some(GeminiTurnEnd::Cancelled)),
        };
        if self.is_known {
            return;
        }
        (self.is_known, self.is_open) = (true, is_open);
        let at = message.timestamp.filter(|_| is_own_line);
        self.working_since = at.filter(|_| is_open);
        self.turn = at.zip(turn);
    }
}

#[cfg(test)]
mod tests;
