//! Reads a conversation in the process of the client. The daemon only reports where the
//! conversation is stored.
//!
//! Turns are numbered from the start of their conversation, beginning with 1. A turn has no number
//! if only the end of a long transcript was read.

mod follow;
mod last;
mod page;
#[cfg(test)]
mod samples;

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

use jiff::Timestamp;
use segue_core::api::{ConversationPart, ConversationReport};
use segue_core::model::{Role, Turn, VendorSessionId};
use segue_core::ports::{EachTurn, Files, Place, TranscriptDatabase, Vendor};
use segue_core::rules::digest::is_digest;
use segue_core::{Error, Result};

use crate::wiring;

pub use follow::{Follower, News};
pub use page::TurnPage;

/// The raw content of a transcript is read in pieces of this many bytes.
const PIECE_BYTES: usize = 256 * 1024;

/// A turn, and its number in the conversation if that is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Numbered {
    pub index: Option<u64>,
    pub turn: Turn,
}

/// Called with each numbered turn. Returns whether to continue.
pub type EachNumbered<'a> = dyn FnMut(Numbered) -> ControlFlow<()> + 'a;

/// A conversation to read. Its transcript may be missing.
#[derive(Clone, Debug)]
pub struct ConversationReading {
    vendor: Arc<dyn Vendor>,
    files: Arc<dyn Files>,
    place: Place,
    id: Option<VendorSessionId>,
    /// The name of the conversation for users.
    name: String,
    transcript: Option<PathBuf>,
    /// Whether the conversation is known to have had a message.
    has_content: bool,
    window: Window,
}

/// A period of a conversation. After a handoff, a reading of several conversations shows only the
/// turns of each conversation's own period, so that no turn is shown twice.
#[derive(Clone, Copy, Debug, Default)]
struct Window {
    after: Option<Timestamp>,
    until: Option<Timestamp>,
}

impl Window {
    /// Returns whether a turn belongs to this period. A turn without a timestamp does, because a
    /// turn that was carried over has a timestamp or is in the digest message.
    fn contains(self, turn: &Turn) -> bool {
        if self.after.is_some() && turn.role == Role::User && is_digest(&turn.text) {
            return false;
        }
        let Some(at) = turn.at else { return true };
        self.after.is_none_or(|after| at > after) && self.until.is_none_or(|until| at <= until)
    }
}

/// Prepares to read the parts that the daemon found, in order.
pub fn readings(report: &ConversationReport) -> Result<Vec<ConversationReading>> {
    let taken_over = |part: &ConversationPart| part.taken_over.as_ref().map(|it| it.at);
    let mut readings: Vec<ConversationReading> = Vec::new();
    for (number, part) in report.parts.iter().enumerate() {
        // If the previous part cannot be read, also show the turns that were carried over from it.
        let is_previous_readable = readings.last().is_some_and(|before| before.path().is_some());
        let after = taken_over(part).filter(|_| is_previous_readable);
        let until = report.parts.get(number + 1).and_then(taken_over);
        readings.push(ConversationReading::of(part, Window { after, until })?);
    }
    Ok(readings)
}

impl ConversationReading {
    fn of(part: &ConversationPart, window: Window) -> Result<Self> {
        let vendors = wiring::vendors();
        let vendor = match &part.description {
            Some(description) => vendors.described(&part.vendor, description),
            None => vendors.get(&part.vendor)?,
        };
        let id = part.vendor_session_id.clone();
        let name = match (&part.session, &id) {
            (Some(session), _) => format!("{}/{}", session.fleet, session.name),
            (None, Some(id)) => format!("{}:{id}", part.vendor),
            (None, None) => part.vendor.to_string(),
        };
        Ok(Self {
            vendor,
            files: wiring::files(),
            place: Place { config_dir: part.config_dir.clone(), cwd: part.cwd.clone() },
            id,
            name,
            transcript: part.transcript.clone(),
            has_content: part.has_content,
            window,
        })
    }

    /// Returns an error if the conversation is not empty but cannot be read.
    pub fn check(&self) -> Result<()> {
        if self.path().is_some() || !self.has_content && self.vendor.transcripts().is_some() {
            return Ok(());
        }
        let Self { name, vendor, .. } = self;
        if vendor.transcripts().is_none() {
            let vendor = vendor.id();
            return Err(Error::not_found(format!("the conversation of `{name}` cannot be read"))
                .caused_by(format!("Segue cannot read transcripts of `{vendor}`"))
                .hint(format!("name it with `transcript = \"…\"` in `[vendors.{vendor}]`"))
                .hint(format!("run `segue attach {name}` to see its terminal")));
        }
        let id = self.id.as_ref().map(ToString::to_string).unwrap_or_default();
        Err(Error::not_found(format!("the conversation of `{name}` has no transcript"))
            .caused_by(format!("`{}` keeps nothing under `{id}` any more", vendor.id()))
            .hint(format!("run `segue resume {name} --plan` to see what can be done"))
            .hint("run `segue doctor` to see what else is gone"))
    }

    /// Returns the name of the conversation for users.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the vendor's id of the conversation. `None` if the vendor has not shown it.
    pub fn vendor_session(&self) -> Option<&VendorSessionId> {
        self.id.as_ref()
    }

    /// Reads all turns from the oldest to the newest.
    pub fn forwards(&self, each: &mut EachNumbered<'_>) -> Result<()> {
        let mut index = 0;
        self.turns(&mut |turn| {
            index += 1;
            if self.window.contains(&turn) {
                each(Numbered { index: Some(index), turn })
            } else {
                ControlFlow::Continue(())
            }
        })
    }

    /// Reads the last turns, oldest first. Reads only the end of a long transcript; its turns have
    /// numbers only if the start was reached.
    pub fn last(&self, count: usize, each: &mut EachNumbered<'_>) -> Result<()> {
        last::last(self, count, each)
    }

    /// Reads the raw content of the transcript. If the vendor stores conversations in a database,
    /// reads the export that its program could import.
    pub fn raw(&self, each: &mut dyn FnMut(&[u8]) -> ControlFlow<()>) -> Result<()> {
        let Some(path) = self.path() else { return Ok(()) };
        if let Some(database) = self.vendor.transcript_database()
            && !matches!(self.files.facts(&path), Ok(Some(_)))
        {
            return self.exported(database, each);
        }
        let mut offset = 0;
        loop {
            let piece = self.files.read_at(&path, offset, PIECE_BYTES).map_err(|error| {
                Error::vendor(format!("cannot read `{}`", path.display())).caused_by(error)
            })?;
            if piece.is_empty() || each(&piece).is_break() {
                return Ok(());
            }
            offset += piece.len() as u64;
        }
    }

    fn exported(
        &self,
        database: &dyn TranscriptDatabase,
        each: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
    ) -> Result<()> {
        let Some(id) = &self.id else { return Ok(()) };
        let exported = database.export(&self.place, id)?.ok_or_else(|| {
            Error::not_found(format!("`{}` has no file of its own", self.name))
                .caused_by(format!("`{}` exports no conversation", self.vendor.id()))
                .hint(format!("run `segue show {}` to read it", self.name))
        })?;
        let _enough = each(&exported);
        Ok(())
    }

    fn turns(&self, each: &mut EachTurn<'_>) -> Result<()> {
        match (self.path(), self.vendor.transcripts()) {
            (Some(path), Some(transcripts)) => transcripts.turns(self.files.as_ref(), &path, each),
            _ => Ok(()),
        }
    }

    fn turns_back(&self, each: &mut EachTurn<'_>) -> Result<()> {
        match (self.path(), self.vendor.transcripts()) {
            (Some(path), Some(transcripts)) => {
                transcripts.turns_back(self.files.as_ref(), &path, each)
            }
            _ => Ok(()),
        }
    }

    /// Returns the current path of the transcript. The file may have appeared, disappeared or moved
    /// since the daemon reported it.
    fn path(&self) -> Option<PathBuf> {
        let exists = |path: &&PathBuf| {
            self.vendor.transcript_database().is_some()
                || matches!(self.files.facts(path), Ok(Some(_)))
        };
        self.transcript.as_ref().filter(exists).cloned().or_else(|| {
            let (id, transcripts) = (self.id.as_ref()?, self.vendor.transcripts()?);
            transcripts.length(self.files.as_ref(), &self.place, id)?;
            Some(transcripts.transcript(self.files.as_ref(), &self.place, id))
        })
    }
}
