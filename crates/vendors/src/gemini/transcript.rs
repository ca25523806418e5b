//! Reads transcripts: a bounded number of bytes from the beginning, and from the end.

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

use super::records::{GeminiLine, GeminiMeaning, GeminiMessage, WriterProcess};
use super::{Gemini, neighbours, paths, process, turns, typing};
use crate::shared::reading::{self, ReadDirection, StopReason};
use crate::shared::transcripts;

/// How many bytes of the beginning are read, one size after the other, until the first message is
/// found. It is nearly always near the beginning.
const BEGINNINGS: [usize; 3] = [64 * 1024, 1024 * 1024, 8 * 1024 * 1024];

impl Transcripts for Gemini {
    fn storage(&self) -> TranscriptStorage<'_> {
        TranscriptStorage::Files(self)
    }

    fn transcript(&self, files: &dyn Files, place: &Place, id: &VendorSessionId) -> PathBuf {
        paths::transcript(files, place, id)
    }

    /// Returns whether a conversation can begin under this id: there is no transcript, or one
    /// without messages.
    fn is_free(&self, files: &dyn Files, place: &Place, id: &VendorSessionId) -> bool {
        let path = paths::transcript(files, place, id);
        match files.facts(&path) {
            Ok(None) => true,
            Ok(Some(_)) => matches!(read(files, place, &path, id), Ok(None)),
            Err(_) => false,
        }
    }

    /// Reads the facts about one conversation that decisions need. `None` if it has no message.
    fn conversation(
        &self,
        files: &dyn Files,
        place: &Place,
        id: &VendorSessionId,
    ) -> Result<Option<Conversation>> {
        let path = paths::transcript(files, place, id);
        read(files, place, &path, id).map_err(|error| reading::unreadable(&path, error))
    }

    /// Lists the conversations of a folder, the oldest first. Transcripts that cannot be read are
    /// skipped.
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
        let Some((at, first_message)) = first_words(files, path)? else { return Ok(None) };
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
        neighbours::endangered(files, place)
    }
}

/// Returns the messages that a person sent, from this byte offset on. When Gemini changes earlier
/// messages, it writes all of them again. So messages between a context and the change are copies,
/// and are skipped.
fn messages_since(files: &dyn Files, path: &Path, offset: u64) -> Result<Vec<String>> {
    let mut copies = false;
    reading::messages_since(files, path, offset, |line| {
        let line = GeminiLine::read(line)?;
        copies &= line.replacement().is_none();
        match line.message()?.meaning() {
            GeminiMeaning::Context => copies = true,
            GeminiMeaning::Said(text) if !copies => return Some(typing::normal(&text)),
            _ => {}
        }
        None
    })
}

/// Returns whether a transcript has a message of a person.
pub(super) fn has_words(files: &dyn Files, path: &Path) -> bool {
    matches!(first_words(files, path), Ok(Some(_)))
}

fn read(
    files: &dyn Files,
    place: &Place,
    path: &Path,
    id: &VendorSessionId,
) -> io::Result<Option<Conversation>> {
    let Some(facts) = files.facts(path)? else { return Ok(None) };
    let Some((at, first_message)) = first_words(files, path)? else { return Ok(None) };
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

/// Returns when a conversation began, and its first message.
fn first_words(files: &dyn Files, path: &Path) -> io::Result<Option<(Option<Timestamp>, String)>> {
    reading::find_in_beginning(files, path, &BEGINNINGS, |lines| {
        let mut at = None;
        lines.filter_map(GeminiLine::read).find_map(|line| {
            at = at.or(line.start_time);
            line.messages().iter().find_map(|message| match message.meaning() {
                GeminiMeaning::Said(text) => Some((at, typing::normal(&text))),
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
    /// When the newest message of an open turn was written. `None` if the message has no line of
    /// its own.
    pub(super) goes_on: Option<Timestamp>,
    /// How the turn ended, and when. `None` if the message that ends it has no line of its own.
    pub(super) turn: Option<(Timestamp, GeminiTurnEnd)>,
    pub(super) last_answer: Option<String>,
    /// What is known about the process that wrote the last line. Summaries do not count.
    pub(super) written: Option<WriterProcess>,
    is_known: bool,
}

impl GeminiTranscriptEnd {
    /// Reads backwards until it is known whether the last turn has ended, and what the last answer
    /// is.
    pub(super) fn read(files: &dyn Files, path: &Path, length: u64) -> io::Result<Self> {
        let mut end = Self::default();
        let ended = reading::each_tail_line(files, path, length, |line| {
            GeminiLine::read(line).map_or(ControlFlow::Continue(()), |line| end.take(&line))
        })?;
        // A last line that is longer than the read limit hides the end of the turn: the turn counts
        // as open.
        end.is_open |= !end.is_known && ended == StopReason::LimitReached;
        Ok(end)
    }

    fn take(&mut self, line: &GeminiLine) -> ControlFlow<()> {
        self.written = self.written.or_else(|| line.written());
        if let Some(all) = line.replacement() {
            // This line replaces everything before it, so no earlier line counts.
            all.iter().rev().for_each(|message| self.add(message, false));
            return ControlFlow::Break(());
        }
        if let Some(message) = line.message() {
            self.add(message, true);
        }
        let is_enough = self.is_known && self.last_answer.is_some();
        if is_enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn add(&mut self, message: &GeminiMessage, is_news: bool) {
        let (is_open, turn) = match message.meaning() {
            GeminiMeaning::Nothing | GeminiMeaning::Context => return,
            GeminiMeaning::Said(_) | GeminiMeaning::ToolResult | GeminiMeaning::Continues => {
                (true, None)
            }
            GeminiMeaning::Answered(text) => {
                self.last_answer.get_or_insert_with(|| text.clone());
                (false, Some(GeminiTurnEnd::Answered(text)))
            }
            GeminiMeaning::Failed(words) => (false, Some(GeminiTurnEnd::Failed(words))),
            GeminiMeaning::Cancelled => (false, Some(GeminiTurnEnd::Cancelled)),
        };
        if self.is_known {
            return;
        }
        (self.is_known, self.is_open) = (true, is_open);
        let at = message.timestamp.filter(|_| is_news);
        self.goes_on = at.filter(|_| is_open);
        self.turn = at.zip(turn);
    }
}

#[cfg(test)]
mod tests;
