//! Hands a conversation over: reads it from one vendor and writes it in another vendor's format.

mod writing;

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

use jiff::Timestamp;

use crate::error::{Error, Result};
use crate::model::{Role, Turn, VendorSessionId};
use crate::ports::{Files, Place, Ports, Transcripts, Vendor};
use crate::rules::carry::{Carried, Cleaner, Gathering, News};
use crate::rules::redaction::{KnownSecrets, Redactor, Removed};

pub use writing::{Destination, Written, convert, preview, takes_native, undo, write};

/// Omitted turns are counted only if the transcript has at most this many bytes, because counting
/// reads the whole transcript.
const COUNTED: u64 = 16 * 1024 * 1024;

/// A conversation to hand over.
#[derive(Clone, Debug)]
pub struct Source {
    pub vendor: Arc<dyn Vendor>,
    pub place: Place,
    pub id: VendorSessionId,
    /// The file to read: the vendor's own transcript, a guard or a copy from the archive.
    pub transcript: PathBuf,
}

impl Source {
    fn transcripts(&self) -> Result<&dyn Transcripts> {
        transcripts_of(self.vendor.as_ref())
    }
}

/// Returns a vendor's transcripts, or an error if it has none that can be read.
fn transcripts_of(vendor: &dyn Vendor) -> Result<&dyn Transcripts> {
    let none = || Error::vendor(format!("`{}` keeps no transcript that is known", vendor.id()));
    vendor.transcripts().ok_or_else(none)
}

/// How much of a conversation is handed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Amount {
    /// Maximum size in characters.
    pub budget: usize,
    /// Only turns after this timestamp. The target has the earlier turns already.
    pub since: Option<Timestamp>,
}

/// The part of a conversation that is handed over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Oldest first, in a form that every vendor accepts.
    pub turns: Vec<Turn>,
    /// The first message of the conversation.
    pub task: Option<Turn>,
    pub is_cut: bool,
    /// The number of omitted turns. `None` if they were not counted.
    pub left_out: Option<u64>,
    /// The secrets that were removed from the turns.
    pub removed: Removed,
}

impl Packet {
    /// Returns whether there is a message of the user or of the agent.
    pub fn has_words(&self) -> bool {
        self.turns.iter().any(|turn| matches!(turn.role, Role::User | Role::Assistant))
    }

    pub fn characters(&self) -> u64 {
        self.turns.iter().map(|turn| turn.text.chars().count() as u64).sum()
    }
}

/// Reads the newest turns of a conversation that fit into the budget, and removes secrets from
/// them.
pub fn pack(
    ports: &Ports,
    source: &Source,
    amount: Amount,
    known: &KnownSecrets,
) -> Result<Packet> {
    let files = ports.files.as_ref();
    let mut gathering = Gathering::knowing(amount.budget, known.clone());
    let (mut taken, mut is_full) = (0, false);
    let mut news = amount.since.map(News::new);
    source.transcripts()?.turns_back(files, &source.transcript, &mut |turn| {
        if !is_news(&mut news, &turn) {
            return ControlFlow::Break(());
        }
        let told = gathering.take(turn);
        if told.is_continue() {
            taken += 1;
        }
        is_full = told.is_break();
        told
    })?;
    let task = first_task(ports, source)?;
    let total = if is_full { count(files, source, amount.since)? } else { Some(taken) };
    let first = task.clone().filter(|_| amount.since.is_none());
    let Carried { turns, is_cut, mut removed } =
        gathering.finish(first, total.map(|total| total.saturating_sub(taken)));
    let left_out = total.map(|total| total.saturating_sub(turns.len() as u64));
    let mut redactor = Redactor::new(known.clone());
    // A secret that only a later turn identifies is removed from the earlier turns, too.
    turns.iter().for_each(|turn| redactor.learn(&turn.text));
    let task = task.map(|task| Turn { text: redactor.redact(&task.text).into_owned(), ..task });
    redactor.take_removed();
    let mut cleaner = cleaner(ports, source, task.as_ref()).with_redactor(redactor);
    let mut clean = Vec::new();
    turns.into_iter().for_each(|turn| cleaner.turn(turn, &mut clean));
    cleaner.end(&mut clean);
    removed.merge(cleaner.removed());
    Ok(Packet { turns: clean, task, is_cut, left_out, removed })
}

/// Returns whether a turn is handed over. If `news` is `None`, all turns are.
fn is_news(news: &mut Option<News>, turn: &Turn) -> bool {
    news.as_mut().is_none_or(|news| news.is_news(turn))
}

fn first_task(ports: &Ports, source: &Source) -> Result<Option<Turn>> {
    let known =
        source.transcripts()?.conversation(ports.files.as_ref(), &source.place, &source.id)?;
    let began = known.as_ref().map(|it| it.began_at);
    let text = known.and_then(|it| it.first_message);
    Ok(text.map(|text| Turn::new(Role::User, text).at(began)))
}

/// Counts the turns of a conversation. `None` if its transcript is longer than [`COUNTED`].
fn count(files: &dyn Files, source: &Source, since: Option<Timestamp>) -> Result<Option<u64>> {
    let facts = files.facts(&source.transcript).ok().flatten();
    if facts.is_none_or(|facts| facts.length > COUNTED) {
        return Ok(None);
    }
    let mut total = 0;
    let mut news = since.map(News::new);
    source.transcripts()?.turns_back(files, &source.transcript, &mut |turn| {
        if !is_news(&mut news, &turn) {
            return ControlFlow::Break(());
        }
        total += 1;
        ControlFlow::Continue(())
    })?;
    Ok(Some(total))
}

/// Returns the timestamp of the newest turn that has one. `None` if no turn has a timestamp.
pub fn newest(ports: &Ports, source: &Source) -> Result<Option<Timestamp>> {
    let mut newest = None;
    source.transcripts()?.turns_back(ports.files.as_ref(), &source.transcript, &mut |turn| {
        newest = turn.at;
        if newest.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    Ok(newest)
}

/// Returns whether a conversation contains a message or a summary.
pub fn has_words(ports: &Ports, source: &Source) -> Result<bool> {
    let mut has_words = false;
    source.transcripts()?.turns_back(ports.files.as_ref(), &source.transcript, &mut |turn| {
        has_words |= matches!(turn.role, Role::User | Role::Assistant | Role::Summary);
        if has_words { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    Ok(has_words)
}

/// Returns the cleaner that converts turns into a form for any vendor. Turns without a timestamp
/// get that of the first message.
fn cleaner(ports: &Ports, source: &Source, task: Option<&Turn>) -> Cleaner {
    let began = task.and_then(|task| task.at).unwrap_or_else(|| ports.clock.now());
    Cleaner::new(&prefix(&source.id), began)
}

/// Returns the prefix for the ids of tool calls. It comes from the source's id, so that another
/// handoff of the same conversation creates other ids.
fn prefix(id: &VendorSessionId) -> String {
    let plain: String = id.as_str().chars().filter(char::is_ascii_alphanumeric).collect();
    let end = plain.len().saturating_sub(8);
    format!("call_{}", &plain[end..])
}
