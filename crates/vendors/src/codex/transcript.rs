//! Reading rollouts: a bounded piece of the beginning, a bounded piece of the end.

use std::io;
use std::path::Path;

use jiff::Timestamp;
use segue_core::model::VendorSessionId;
use segue_core::ports::{Beginning, Conversation, Files, Kept, Place};
use segue_core::{Error, Result};

use super::records::{Line, Meta, Record, TurnEnd};
use super::{home, typing};
use crate::{lines, stored};

/// The header alone has some twenty thousand bytes of instructions.
const PIECE: usize = 64 * 1024;

/// How far the beginning and the end are read at most, whatever is in the file.
pub(super) const BUDGET: usize = 1024 * 1024;

/// How many of the newest conversations are looked at.
const NEWEST: usize = 200;

/// Reads what decisions need about one conversation; one in which nothing was said is none.
pub(super) fn conversation(
    files: &dyn Files,
    path: &Path,
    id: &VendorSessionId,
) -> Result<Option<Conversation>> {
    read(files, path, id).map_err(|error| unreadable(path, &error))
}

/// Lists the conversations of a folder, the oldest first; what cannot be read is left out.
pub(super) fn conversations(files: &dyn Files, place: &Place) -> Vec<Conversation> {
    let paths = home::newest_rollouts(files, &place.config_dir, NEWEST);
    let read = |path: &std::path::PathBuf| {
        let meta = meta(files, path).filter(|meta| meta.is_users() && meta.cwd == place.cwd)?;
        read(files, path, &VendorSessionId::new(meta.id)).ok().flatten()
    };
    let mut found: Vec<Conversation> = paths.iter().filter_map(read).collect();
    found.sort_by(|a, b| (a.began_at, &a.id).cmp(&(b.began_at, &b.id)));
    found
}

/// Lists the rollouts of all folders.
pub(super) fn kept(files: &dyn Files, config_dir: &Path) -> Vec<Kept> {
    let paths = home::newest_rollouts(files, config_dir, usize::MAX);
    let id_of =
        |path: &Path| home::id_of_rollout(path).map(|id| VendorSessionId::new(id.to_string()));
    stored::kept(files, paths, id_of)
}

/// Reads how a conversation begins that a person had.
pub(super) fn beginning(files: &dyn Files, path: &Path) -> io::Result<Option<Beginning>> {
    let Some(meta) = meta(files, path).filter(Meta::is_users) else { return Ok(None) };
    let first_message = first_message(files, path)?;
    let said = first_message.is_some();
    let beginning = Beginning { cwd: meta.cwd, began_at: meta.timestamp, first_message };
    Ok(said.then_some(beginning))
}

/// Reads the header of a rollout.
pub(super) fn meta(files: &dyn Files, path: &Path) -> Option<Meta> {
    // One more piece for instructions that a user has added.
    [PIECE, BUDGET].into_iter().find_map(|limit| {
        let bytes = files.head(path, limit).ok()?;
        header(&bytes)
    })
}

fn header(bytes: &[u8]) -> Option<Meta> {
    match Line::read(bytes.split(|byte| *byte == b'\n').next()?)?.record {
        Record::Meta(meta) => Some(meta),
        _ => None,
    }
}

fn unreadable(path: &Path, error: &io::Error) -> Error {
    Error::vendor(format!("cannot read the transcript `{}`", path.display())).caused_by(error)
}

fn read(files: &dyn Files, path: &Path, id: &VendorSessionId) -> io::Result<Option<Conversation>> {
    let Some(facts) = files.facts(path)? else { return Ok(None) };
    let Some(meta) = meta(files, path) else { return Ok(None) };
    let first_message = first_message(files, path)?;
    // What is too long to be read to its first words was not begun for nothing, and what goes on
    // from another rollout has words there.
    let is_short = facts.length <= BUDGET as u64 && meta.base().is_none();
    if first_message.is_none() && is_short {
        return Ok(None);
    }
    let tail = Tail::read(files, path, facts.length, BUDGET)?;
    Ok(Some(Conversation {
        id: id.clone(),
        transcript: path.to_owned(),
        cwd: meta.cwd,
        began_at: meta.timestamp,
        first_message,
        turn_open: tail.is_open(),
        last_answer: tail.end.and_then(|(_, end)| end.answer),
    }))
}

/// Reads little first: the first message is nearly always near.
fn first_message(files: &dyn Files, path: &Path) -> io::Result<Option<String>> {
    for limit in [PIECE, BUDGET] {
        let bytes = files.head(path, limit)?;
        let lines = bytes.split(|byte| *byte == b'\n');
        let said = lines.filter_map(Line::read).find_map(|line| match line.record {
            Record::Said(text) | Record::Heard(text) => Some(text),
            _ => None,
        });
        if said.is_some() || bytes.len() < limit {
            return Ok(said);
        }
    }
    Ok(None)
}

/// Tells whether a conversation can be begun under this id: nothing is in its place, or only what
/// a launch prepared that never got to a word.
pub(super) fn is_free(files: &dyn Files, path: &Path, id: &VendorSessionId) -> bool {
    match files.facts(path) {
        Ok(None) => true,
        Ok(Some(_)) => {
            let own = meta(files, path).is_some_and(|meta| meta.id == id.as_str());
            own && matches!(read(files, path, id), Ok(None))
        }
        Err(_) => false,
    }
}

/// What the end of a rollout says about its last turn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Tail {
    /// When it began, where it has no end.
    pub(super) began: Option<Timestamp>,
    pub(super) end: Option<(Timestamp, TurnEnd)>,
    /// A tool was called and has not answered: it runs, or waits for a permission.
    pub(super) in_tool: bool,
    /// It is longer than what was read.
    pub(super) endless: bool,
}

impl Tail {
    /// Reads backwards until a line says whether the last turn has ended.
    pub(super) fn read(
        files: &dyn Files,
        path: &Path,
        length: u64,
        budget: usize,
    ) -> io::Result<Self> {
        let mut tail = Vec::new();
        let mut start = length;
        while start > 0 && tail.len() < budget {
            let piece = start.min(PIECE as u64);
            start -= piece;
            let mut bytes = files.read_at(path, start, usize::try_from(piece).unwrap_or(PIECE))?;
            bytes.append(&mut tail);
            tail = bytes;
            if let Some(found) = last_turn(&tail, start == 0) {
                return Ok(found);
            }
        }
        Ok(Self { endless: start > 0, ..Self::default() })
    }

    fn is_open(&self) -> bool {
        self.endless || self.began.is_some()
    }
}

fn last_turn(bytes: &[u8], from_the_start: bool) -> Option<Tail> {
    let whole = if from_the_start {
        bytes
    } else {
        let line_end = bytes.iter().position(|byte| *byte == b'\n')?;
        &bytes[line_end + 1..]
    };
    let (mut calls, mut answers) = (0, 0);
    let mut lines = whole.rsplit(|byte| *byte == b'\n').filter_map(Line::read);
    while let Some(line) = lines.next() {
        let found = Tail { in_tool: calls > answers, ..Tail::default() };
        match line.record {
            Record::TurnBegan => return Some(Tail { began: Some(line.at), ..found }),
            Record::TurnEnded(end) => {
                let resets_at = end.error.as_ref().and_then(|_| limit_before(lines));
                let end = TurnEnd { resets_at, ..end };
                return Some(Tail { end: Some((line.at, end)), ..Tail::default() });
            }
            Record::Called(_) => calls += 1,
            Record::Answered(_) => answers += 1,
            _ => {}
        }
    }
    None
}

/// Returns when the limit ends that is told of last in the turn that these lines go back through.
fn limit_before(lines: impl Iterator<Item = Line>) -> Option<Timestamp> {
    let turn = lines.take_while(|line| !matches!(line.record, Record::TurnBegan));
    let mut told = turn.filter_map(|line| match line.record {
        Record::Limits(until) => Some(until),
        _ => None,
    });
    told.next().flatten()
}

/// Returns what the user said from this byte on.
pub(super) fn said_since(files: &dyn Files, path: &Path, offset: u64) -> Result<Vec<String>> {
    let mut said = Vec::new();
    let each = |line: &[u8]| {
        if let Some(Line { record: Record::Said(text), .. }) = Line::read(line) {
            said.push(typing::normal(&text));
        }
    };
    lines::each_from(files, path, offset, each).map_err(|error| unreadable(path, &error))?;
    Ok(said)
}

#[cfg(test)]
mod tests;
