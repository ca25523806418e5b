//! Reading a conversation in the process of whoever wants to see it: the daemon has said where it is.
//!
//! Turns are numbered from the beginning of their conversation; the first is 1. Where it would take
//! long to find out, a turn has no number.

mod follow;
mod last;
#[cfg(test)]
mod samples;

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

use jiff::Timestamp;
use segue_core::api::{ConversationPart, ConversationReport};
use segue_core::model::{Role, Turn, VendorSessionId};
use segue_core::ports::{EachTurn, Files, Place, Vendor};
use segue_core::rules::digest::is_digest;
use segue_core::{Error, Result};

use crate::wiring;

pub use follow::{Follower, News};

/// How much of a transcript is read at once when its own bytes are wanted.
const PIECE: usize = 256 * 1024;

/// A turn and its number in the conversation, where that is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Numbered {
    pub index: Option<u64>,
    pub turn: Turn,
}

/// Is given one numbered turn after the other, and says whether it wants more.
pub type EachNumbered<'a> = dyn FnMut(Numbered) -> ControlFlow<()> + 'a;

/// A conversation that can be read, as far as there is anything to read.
#[derive(Clone, Debug)]
pub struct Reading {
    vendor: Arc<dyn Vendor>,
    files: Arc<dyn Files>,
    place: Place,
    id: Option<VendorSessionId>,
    /// What people call it.
    name: String,
    transcript: Option<PathBuf>,
    spoke: bool,
    window: Window,
}

/// Which turns of a conversation belong to its part of a story: what was carried over from another
/// conversation is told there.
#[derive(Clone, Copy, Debug, Default)]
struct Window {
    after: Option<Timestamp>,
    until: Option<Timestamp>,
}

impl Window {
    /// Tells whether a turn was said in it. One without a time was not carried: what is carried has
    /// one, or is in the message that tells of it.
    fn has(self, turn: &Turn) -> bool {
        if self.after.is_some() && turn.role == Role::User && is_digest(&turn.text) {
            return false;
        }
        let Some(at) = turn.at else { return true };
        self.after.is_none_or(|after| at > after) && self.until.is_none_or(|until| at <= until)
    }
}

/// Prepares to read each part of what the daemon found, in order.
pub fn readings(report: &ConversationReport) -> Result<Vec<Reading>> {
    let taken_over = |part: &ConversationPart| part.taken_over.as_ref().map(|it| it.at);
    let mut readings: Vec<Reading> = Vec::new();
    for (number, part) in report.parts.iter().enumerate() {
        // Where the one before cannot be read, what was carried is all there is of it.
        let is_told = readings.last().is_some_and(|before| before.path().is_some());
        let after = taken_over(part).filter(|_| is_told);
        let until = report.parts.get(number + 1).and_then(taken_over);
        readings.push(Reading::of(part, Window { after, until })?);
    }
    Ok(readings)
}

impl Reading {
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
            spoke: part.spoke,
            window,
        })
    }

    /// Says why nothing can be read of a conversation in which something was said.
    pub fn check(&self) -> Result<()> {
        if self.path().is_some() || !self.spoke && self.vendor.keeps_transcripts() {
            return Ok(());
        }
        let Self { name, vendor, .. } = self;
        if !vendor.keeps_transcripts() {
            let vendor = vendor.id();
            return Err(Error::not_found(format!("the conversation of `{name}` cannot be read"))
                .caused_by(format!("`{vendor}` keeps no transcript that is known"))
                .hint(format!("name it with `transcript = \"…\"` in `[vendors.{vendor}]`"))
                .hint(format!("run `segue attach {name}` to see its terminal")));
        }
        let id = self.id.as_ref().map(ToString::to_string).unwrap_or_default();
        Err(Error::not_found(format!("the conversation of `{name}` has no transcript"))
            .caused_by(format!("`{}` keeps nothing under `{id}` any more", vendor.id()))
            .hint(format!("run `segue resume {name} --plan` to see what can be done"))
            .hint("run `segue doctor` to see what else is gone"))
    }

    /// Returns what people call the conversation.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Reads all turns from the oldest to the newest.
    pub fn forwards(&self, each: &mut EachNumbered<'_>) -> Result<()> {
        let mut index = 0;
        self.turns(&mut |turn| {
            index += 1;
            if self.window.has(&turn) {
                each(Numbered { index: Some(index), turn })
            } else {
                ControlFlow::Continue(())
            }
        })
    }

    /// Reads the last turns, the oldest of them first. No more of a long transcript is read than
    /// they need; then only those have a number that are near the beginning.
    pub fn last(&self, count: usize, each: &mut EachNumbered<'_>) -> Result<()> {
        last::last(self, count, each)
    }

    /// Reads the transcript's own bytes; of a conversation without a file of its own, what its
    /// program would take in again.
    pub fn raw(&self, each: &mut dyn FnMut(&[u8]) -> ControlFlow<()>) -> Result<()> {
        let Some(path) = self.path() else { return Ok(()) };
        if !self.vendor.has_own_files() && !matches!(self.files.facts(&path), Ok(Some(_))) {
            return self.exported(each);
        }
        let mut offset = 0;
        loop {
            let piece = self.files.read_at(&path, offset, PIECE).map_err(|error| {
                Error::vendor(format!("cannot read `{}`", path.display())).caused_by(error)
            })?;
            if piece.is_empty() || each(&piece).is_break() {
                return Ok(());
            }
            offset += piece.len() as u64;
        }
    }

    fn exported(&self, each: &mut dyn FnMut(&[u8]) -> ControlFlow<()>) -> Result<()> {
        let Some(id) = &self.id else { return Ok(()) };
        let exported = self.vendor.export(&self.place, id)?.ok_or_else(|| {
            Error::not_found(format!("`{}` has no file of its own", self.name))
                .caused_by(format!("`{}` exports no conversation", self.vendor.id()))
                .hint(format!("run `segue show {}` to read it", self.name))
        })?;
        let _enough = each(&exported);
        Ok(())
    }

    fn turns(&self, each: &mut EachTurn<'_>) -> Result<()> {
        match self.path() {
            Some(path) => self.vendor.turns(self.files.as_ref(), &path, each),
            None => Ok(()),
        }
    }

    fn turns_back(&self, each: &mut EachTurn<'_>) -> Result<()> {
        match self.path() {
            Some(path) => self.vendor.turns_back(self.files.as_ref(), &path, each),
            None => Ok(()),
        }
    }

    /// Returns where the transcript is now: it may have come, gone or moved since the daemon looked.
    fn path(&self) -> Option<PathBuf> {
        let there = |path: &&PathBuf| {
            !self.vendor.has_own_files() || matches!(self.files.facts(path), Ok(Some(_)))
        };
        self.transcript.as_ref().filter(there).cloned().or_else(|| {
            let id = self.id.as_ref().filter(|_| self.vendor.keeps_transcripts())?;
            self.vendor.extent(self.files.as_ref(), &self.place, id)?;
            Some(self.vendor.transcript(self.files.as_ref(), &self.place, id))
        })
    }
}
