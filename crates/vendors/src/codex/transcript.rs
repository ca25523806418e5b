//! Reads rollouts: a limited number of bytes at the beginning, and at the end.

use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use segue_core::Result;
use segue_core::model::VendorSessionId;
use segue_core::ports::{
    Beginning, Conversation, EachTurn, Files, Live, Place, StoredConversation, TranscriptFiles,
    TranscriptStorage, Transcripts,
};

use super::records::{CodexTurnEnd, RolloutHeader, RolloutLine, RolloutRecord};
use super::{Codex, lineage, lock, paths, turns, typing};
use crate::shared::reading::{self, ReadDirection, StopReason};
use crate::shared::transcripts;

/// How many bytes of the beginning are read first. The header alone has some twenty thousand bytes.
const FIRST_READ_BYTES: usize = 64 * 1024;

/// How many bytes are read at most at the beginning, and at the end.
pub(super) const READ_LIMIT_BYTES: usize = 1024 * 1024;

/// How many of the newest conversations are read at most.
const MOST_CONVERSATIONS: usize = 200;

impl Transcripts for Codex {
    fn storage(&self) -> TranscriptStorage<'_> {
        TranscriptStorage::Files(self)
    }

    fn transcript(&self, files: &dyn Files, place: &Place, id: &VendorSessionId) -> PathBuf {
        paths::rollout(files, &place.config_dir, id)
    }

    fn is_free(&self, files: &dyn Files, place: &Place, id: &VendorSessionId) -> bool {
        is_free_at(files, &self.transcript(files, place, id), id)
    }

    fn conversation(
        &self,
        files: &dyn Files,
        place: &Place,
        id: &VendorSessionId,
    ) -> Result<Option<Conversation>> {
        conversation_at(files, &self.transcript(files, place, id), id)
    }

    fn conversations(&self, files: &dyn Files, place: &Place) -> Result<Vec<Conversation>> {
        let rollouts = paths::newest_rollouts(files, &place.config_dir, MOST_CONVERSATIONS);
        let read = |path: &PathBuf| {
            let header = header(files, path)
                .filter(|header| header.is_with_user() && header.cwd == place.cwd)?;
            read(files, path, &VendorSessionId::new(header.id)).ok().flatten()
        };
        Ok(transcripts::oldest_first(rollouts.iter().filter_map(read)))
    }

    fn list(&self, files: &dyn Files, config_dir: &Path) -> io::Result<Vec<StoredConversation>> {
        let rollouts = paths::newest_rollouts(files, config_dir, usize::MAX);
        let id_of =
            |path: &Path| paths::id_of_rollout(path).map(|id| VendorSessionId::new(id.to_string()));
        Ok(transcripts::kept(files, rollouts, id_of))
    }

    fn beginning(
        &self,
        files: &dyn Files,
        kept: &StoredConversation,
    ) -> io::Result<Option<Beginning>> {
        let path = &kept.transcript;
        let Some(header) = header(files, path).filter(RolloutHeader::is_with_user) else {
            return Ok(None);
        };
        let first_message = first_message(files, path)?;
        let has_message = first_message.is_some();
        let beginning = Beginning { cwd: header.cwd, began_at: header.timestamp, first_message };
        Ok(has_message.then_some(beginning))
    }

    fn open_conversations(&self, files: &dyn Files, place: &Place) -> Result<Vec<Live>> {
        Ok(lock::live(files, place))
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

    fn repeatable_part<'text>(&self, result: &'text str) -> &'text str {
        turns::repeatable_part(result)
    }

    fn turns(&self, files: &dyn Files, transcript: &Path, each: &mut EachTurn<'_>) -> Result<()> {
        turns::read(files, transcript, ReadDirection::Forward, each)
    }
}

impl TranscriptFiles for Codex {
    fn ancestors(&self, files: &dyn Files, transcript: &Path) -> Vec<PathBuf> {
        lineage::ancestors(files, transcript)
    }
}

/// Reads a conversation. `None` if it has no message.
fn conversation_at(
    files: &dyn Files,
    path: &Path,
    id: &VendorSessionId,
) -> Result<Option<Conversation>> {
    read(files, path, id).map_err(|error| reading::unreadable(path, error))
}

/// Reads the header of a rollout.
pub(super) fn header(files: &dyn Files, path: &Path) -> Option<RolloutHeader> {
    // The header is longer than the first limit if a user has added instructions.
    [FIRST_READ_BYTES, READ_LIMIT_BYTES].into_iter().find_map(|limit| {
        let bytes = files.head(path, limit).ok()?;
        parse_header(&bytes)
    })
}

fn parse_header(bytes: &[u8]) -> Option<RolloutHeader> {
    match RolloutLine::read(bytes.split(|byte| *byte == b'\n').next()?)?.record {
        RolloutRecord::Meta(header) => Some(header),
        _ => None,
    }
}

fn read(files: &dyn Files, path: &Path, id: &VendorSessionId) -> io::Result<Option<Conversation>> {
    let Some(facts) = files.facts(path)? else { return Ok(None) };
    let Some(header) = header(files, path) else { return Ok(None) };
    let first_message = first_message(files, path)?;
    // A rollout without a known message has messages if it is longer than the part that was
    // searched, or if it continues another rollout.
    let is_read_completely = facts.length <= READ_LIMIT_BYTES as u64 && header.base().is_none();
    if first_message.is_none() && is_read_completely {
        return Ok(None);
    }
    let tail = RolloutEnd::read(files, path, facts.length, READ_LIMIT_BYTES)?;
    Ok(Some(Conversation {
        id: id.clone(),
        transcript: path.to_owned(),
        cwd: header.cwd,
        began_at: header.timestamp,
        first_message,
        turn_open: tail.is_open(),
        last_answer: tail.end.and_then(|(_, end)| end.answer),
    }))
}

fn first_message(files: &dyn Files, path: &Path) -> io::Result<Option<String>> {
    reading::find_in_beginning(files, path, &[FIRST_READ_BYTES, READ_LIMIT_BYTES], |lines| {
        lines.filter_map(RolloutLine::read).find_map(|line| match line.record {
            RolloutRecord::UserMessage(text) | RolloutRecord::HistoryUserMessage(text) => {
                Some(text)
            }
            _ => None,
        })
    })
}

/// Returns whether a conversation can begin under this id: there is no file, or only a rollout that
/// a launch prepared and that has no message.
fn is_free_at(files: &dyn Files, path: &Path, id: &VendorSessionId) -> bool {
    match files.facts(path) {
        Ok(None) => true,
        Ok(Some(_)) => {
            let has_own_id = header(files, path).is_some_and(|header| header.id == id.as_str());
            has_own_id && matches!(read(files, path, id), Ok(None))
        }
        Err(_) => false,
    }
}

/// The state of the last turn, read from the end of a rollout.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RolloutEnd {
    /// When the turn began, if it has not ended.
    pub(super) began: Option<Timestamp>,
    pub(super) end: Option<(Timestamp, CodexTurnEnd)>,
    /// A tool was called and has no result: it runs, or waits for a permission.
    pub(super) is_in_tool: bool,
    /// The turn is longer than the bytes that were read.
    pub(super) exceeds_limit: bool,
}

impl RolloutEnd {
    /// Reads from the end until a line shows whether the last turn has ended, at most about `limit`
    /// bytes.
    pub(super) fn read(
        files: &dyn Files,
        path: &Path,
        length: u64,
        limit: usize,
    ) -> io::Result<Self> {
        let (found, stopped) = reading::find_in_tail(files, path, (length, limit), last_turn)?;
        let exceeds_limit = stopped == StopReason::LimitReached;
        Ok(found.unwrap_or(Self { exceeds_limit, ..Self::default() }))
    }

    fn is_open(&self) -> bool {
        self.exceeds_limit || self.began.is_some()
    }
}

fn last_turn(bytes: &[u8]) -> Option<RolloutEnd> {
    let (mut calls, mut answers) = (0, 0);
    let mut lines = bytes.rsplit(|byte| *byte == b'\n').filter_map(RolloutLine::read);
    while let Some(line) = lines.next() {
        let found = RolloutEnd { is_in_tool: calls > answers, ..RolloutEnd::default() };
        match line.record {
            RolloutRecord::TurnBegan => return Some(RolloutEnd { began: Some(line.at), ..found }),
            RolloutRecord::TurnEnded(end) => {
                let resets_at = end.error.as_ref().and_then(|_| last_usage_limit(lines));
                let end = CodexTurnEnd { resets_at, ..end };
                return Some(RolloutEnd { end: Some((line.at, end)), ..RolloutEnd::default() });
            }
            RolloutRecord::ToolCalled(_) => calls += 1,
            RolloutRecord::ToolReturned(_) => answers += 1,
            _ => {}
        }
    }
    None
}

/// Returns the end of the usage limit that was reported last in a turn. The lines of the turn come
/// in order from the last to the first.
fn last_usage_limit(lines: impl Iterator<Item = RolloutLine>) -> Option<Timestamp> {
    let turn = lines.take_while(|line| !matches!(line.record, RolloutRecord::TurnBegan));
    let mut limits = turn.filter_map(|line| match line.record {
        RolloutRecord::UsageLimits(until) => Some(until),
        _ => None,
    });
    limits.next().flatten()
}

/// Returns the messages of the user from this byte offset on.
fn messages_since(files: &dyn Files, path: &Path, offset: u64) -> Result<Vec<String>> {
    reading::messages_since(files, path, offset, |line| match RolloutLine::read(line)?.record {
        RolloutRecord::UserMessage(text) => Some(typing::normalize(&text)),
        _ => None,
    })
}

#[cfg(test)]
mod tests;
