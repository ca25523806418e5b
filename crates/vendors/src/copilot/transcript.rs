//! Reads transcripts: a limited part of the beginning and a limited part of the end.

use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use segue_core::model::VendorSessionId;
use segue_core::ports::{Beginning, Conversation, Files, Place, StoredConversation};
use segue_core::{Error, Result};

use super::records::{CopilotEvent, CopilotRecord};
use super::{home, typing};
use crate::shared::reading::{self, FirstRecords, StopReason};
use crate::shared::stored;

/// How many bytes of the beginning are read, one attempt after the other. The first attempt is
/// small, because the first message is nearly always near the beginning.
const BEGINNINGS: [usize; 3] = [16 * 1024, 1024 * 1024, 8 * 1024 * 1024];

/// Beginning of the element that is recorded in place of a long pasted text.
const PASTED: &str = "<pasted_content file=\"";
const LONGEST_PASTE: usize = 8 * 1024 * 1024;

/// Reads what decisions need about one conversation. `None` if the file is missing or has no
/// record.
pub(super) fn conversation(
    files: &dyn Files,
    path: &Path,
    id: &VendorSessionId,
) -> Result<Option<Conversation>> {
    read(files, path, id).map_err(|error| reading::unreadable(path, error))
}

/// Lists the conversations that were begun in this folder, the oldest first. Conversations that
/// cannot be read are left out.
pub(super) fn conversations(files: &dyn Files, place: &Place) -> Result<Vec<Conversation>> {
    let folder = home::conversations(&place.config_dir);
    let folders = files.list(&folder).map_err(|error| {
        Error::vendor(format!("cannot list the conversations in `{}`", folder.display()))
            .caused_by(error)
    })?;
    let names = folders.iter().filter_map(|folder| folder.file_name()?.to_str());
    let ids = names.filter(|name| home::is_id(name)).map(VendorSessionId::new);
    Ok(stored::oldest_first(ids.filter_map(|id| begun_in(files, place, &id))))
}

/// Lists the transcripts of all working folders. A conversation without a message has no
/// transcript.
pub(super) fn kept(files: &dyn Files, home: &Path) -> io::Result<Vec<StoredConversation>> {
    let folders = files.list(&home::conversations(home))?;
    let paths = folders.iter().map(|folder| home::transcript_in(folder));
    Ok(stored::kept(files, paths, |path| home::id_of(path).map(VendorSessionId::new)))
}

/// Reads the beginning of a conversation. `None` if it has no message or names no working folder.
pub(super) fn beginning_of(
    files: &dyn Files,
    kept: &StoredConversation,
) -> io::Result<Option<Beginning>> {
    let found = first_records(files, &kept.transcript)?;
    Ok(found.and_then(|found| found.of_conversation(kept)))
}

/// Reads a conversation if it was begun in this folder. Only the beginning of other conversations
/// is read.
fn begun_in(files: &dyn Files, place: &Place, id: &VendorSessionId) -> Option<Conversation> {
    let path = home::transcript(&place.config_dir, id.as_str());
    files.facts(&path).ok()??;
    let beginning = first_records(files, &path).ok()??;
    (beginning.cwd.as_deref() == Some(&place.cwd)).then_some(())?;
    read(files, &path, id).ok()?
}

/// Returns the messages that a person sent, from this byte offset on.
pub(super) fn user_messages_since(
    files: &dyn Files,
    path: &Path,
    offset: u64,
) -> Result<Vec<String>> {
    reading::messages_since(files, path, offset, |line| match CopilotRecord::read(line)?.event {
        CopilotEvent::Said(text) => Some(typing::normal(&with_pastes(files, path, &text))),
        _ => None,
    })
}

/// Replaces references to pasted texts by the texts. Copilot stores a long pasted text in a file in
/// the conversation's folder. A reference to any other file stays as it is.
pub(super) fn with_pastes(files: &dyn Files, transcript: &Path, text: &str) -> String {
    let (mut whole, mut rest) = (String::new(), text);
    while let Some((before, element)) = rest.split_once(PASTED) {
        let parts =
            element.split_once('"').and_then(|(file, it)| Some((file, it.split_once("/>")?)));
        let own = home::pastes(transcript);
        let Some((file, (_, after))) = parts else { break };
        let is_own = own.is_some_and(|own| Path::new(file).parent() == Some(&own));
        let Some(pasted) = files.head(Path::new(file), LONGEST_PASTE).ok().filter(|_| is_own)
        else {
            break;
        };
        whole.push_str(before);
        whole.push_str(&String::from_utf8_lossy(&pasted));
        rest = after;
    }
    whole + rest
}

fn read(files: &dyn Files, path: &Path, id: &VendorSessionId) -> io::Result<Option<Conversation>> {
    let Some(facts) = files.facts(path)? else { return Ok(None) };
    let Some(beginning) = first_records(files, path)? else { return Ok(None) };
    let (turn_open, last_answer) = read_end(files, path, facts.length)?;
    Ok(Some(Conversation {
        id: id.clone(),
        transcript: path.to_owned(),
        cwd: beginning.cwd.unwrap_or_default(),
        began_at: beginning.began_at.unwrap_or(facts.modified),
        first_message: beginning.first_message,
        turn_open,
        last_answer,
    }))
}

fn first_records(files: &dyn Files, path: &Path) -> io::Result<Option<FirstRecords>> {
    FirstRecords::read(files, path, &BEGINNINGS, |found, line| {
        let Some(record) = CopilotRecord::read(line) else { return false };
        found.began_at = found.began_at.or(record.at);
        match record.event {
            CopilotEvent::Began(cwd) => found.cwd = found.cwd.take().or(cwd),
            CopilotEvent::Said(text) => found.first_message = Some(text),
            _ => {}
        }
        true
    })
}

#[derive(Default)]
struct CopilotTranscriptEnd {
    is_open: Option<bool>,
    last_answer: Option<String>,
}

impl CopilotTranscriptEnd {
    /// Takes the next record from the end of the file. Breaks when the last answer is known.
    fn take(&mut self, event: CopilotEvent) -> ControlFlow<()> {
        let is_open = match &event {
            CopilotEvent::Said(_) => true,
            CopilotEvent::Message(said) => !said.calls.is_empty(),
            CopilotEvent::Aborted | CopilotEvent::Failed(_) => false,
            _ => return ControlFlow::Continue(()),
        };
        self.is_open.get_or_insert(is_open);
        if let CopilotEvent::Message(said) = event
            && said.calls.is_empty()
        {
            self.last_answer = Some(said.text).filter(|text| !text.is_empty());
        }
        let is_enough = self.last_answer.is_some();
        if is_enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// Reads backwards until the last answer is found. Returns whether the last turn is still open, and
/// that answer.
fn read_end(files: &dyn Files, path: &Path, length: u64) -> io::Result<(bool, Option<String>)> {
    let mut end = CopilotTranscriptEnd::default();
    let ended = reading::each_tail_line(files, path, length, |line| {
        CopilotRecord::read(line).map_or(ControlFlow::Continue(()), |record| end.take(record.event))
    })?;
    // If the read limit was reached before any line decided, no end of the turn was seen. The turn
    // counts as open.
    Ok((end.is_open.unwrap_or(ended == StopReason::TooFar), end.last_answer))
}

#[cfg(test)]
mod tests;
