//! Carrying a conversation over: reading it from one vendor, writing it down as another's.

mod writing;

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

use jiff::Timestamp;

use crate::error::Result;
use crate::model::{Role, Turn, VendorSessionId};
use crate::ports::{Files, Place, Ports, Vendor};
use crate::rules::carry::{Carried, Cleaner, Gathering, News};
use crate::rules::redaction::{KnownSecrets, Redactor, Removed};

pub use writing::{Destination, Written, convert, preview, takes_native, undo, write};

/// What is left out is counted when the transcript is no longer than this: it costs a reading of
/// the whole.
const COUNTED: u64 = 16 * 1024 * 1024;

/// A conversation that is to be carried.
#[derive(Clone, Debug)]
pub struct Source {
    pub vendor: Arc<dyn Vendor>,
    pub place: Place,
    pub id: VendorSessionId,
    /// Where it can be read: the vendor's own file, or what was kept of it.
    pub transcript: PathBuf,
}

/// How much of a conversation is carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Amount {
    /// In characters.
    pub budget: usize,
    /// Only what was said later; the rest is there already.
    pub since: Option<Timestamp>,
}

/// A conversation on its way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// The oldest first, as another vendor can take them.
    pub turns: Vec<Turn>,
    /// What it all began with.
    pub task: Option<Turn>,
    pub is_cut: bool,
    /// None where nobody counted them.
    pub left_out: Option<u64>,
    /// Secrets that are not in it.
    pub removed: Removed,
}

impl Packet {
    /// Tells whether anything was said.
    pub fn has_words(&self) -> bool {
        self.turns.iter().any(|turn| matches!(turn.role, Role::User | Role::Assistant))
    }

    pub fn characters(&self) -> u64 {
        self.turns.iter().map(|turn| turn.text.chars().count() as u64).sum()
    }
}

/// Reads what is carried, within its budget, without secrets.
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
    source.vendor.turns_back(files, &source.transcript, &mut |turn| {
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
    // What a later turn names is removed from the earlier ones, too.
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

/// Tells whether a turn is carried: all are, unless only those are that were said since.
fn is_news(news: &mut Option<News>, turn: &Turn) -> bool {
    news.as_mut().is_none_or(|news| news.is_news(turn))
}

fn first_task(ports: &Ports, source: &Source) -> Result<Option<Turn>> {
    let known = source.vendor.conversation(ports.files.as_ref(), &source.place, &source.id)?;
    let began = known.as_ref().map(|it| it.began_at);
    let text = known.and_then(|it| it.first_message);
    Ok(text.map(|text| Turn::new(Role::User, text).at(began)))
}

/// Counts the turns of a conversation that is not too long for it.
fn count(files: &dyn Files, source: &Source, since: Option<Timestamp>) -> Result<Option<u64>> {
    let facts = files.facts(&source.transcript).ok().flatten();
    if facts.is_none_or(|facts| facts.length > COUNTED) {
        return Ok(None);
    }
    let mut total = 0;
    let mut news = since.map(News::new);
    source.vendor.turns_back(files, &source.transcript, &mut |turn| {
        if !is_news(&mut news, &turn) {
            return ControlFlow::Break(());
        }
        total += 1;
        ControlFlow::Continue(())
    })?;
    Ok(Some(total))
}

/// Returns when the last thing was said that has a time; none where nothing was.
pub fn newest(ports: &Ports, source: &Source) -> Result<Option<Timestamp>> {
    let mut newest = None;
    source.vendor.turns_back(ports.files.as_ref(), &source.transcript, &mut |turn| {
        newest = turn.at;
        if newest.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    Ok(newest)
}

/// Tells whether anything was said in a conversation.
pub fn has_words(ports: &Ports, source: &Source) -> Result<bool> {
    let mut has_words = false;
    source.vendor.turns_back(ports.files.as_ref(), &source.transcript, &mut |turn| {
        has_words |= matches!(turn.role, Role::User | Role::Assistant | Role::Summary);
        if has_words { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    Ok(has_words)
}

/// Returns what makes turns fit for another vendor; those without a time are as old as the task.
fn cleaner(ports: &Ports, source: &Source, task: Option<&Turn>) -> Cleaner {
    let began = task.and_then(|task| task.at).unwrap_or_else(|| ports.clock.now());
    Cleaner::new(&prefix(&source.id), began)
}

/// Makes ids of tools that no other step of the same conversation makes.
fn prefix(id: &VendorSessionId) -> String {
    let plain: String = id.as_str().chars().filter(char::is_ascii_alphanumeric).collect();
    let end = plain.len().saturating_sub(8);
    format!("call_{}", &plain[end..])
}
