//! Follows a conversation. After each change of the transcript, the file is read from its end back
//! to the last turn that was returned.

use std::future::pending;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use segue_core::Result;
use segue_core::model::Turn;
use segue_core::ports::FolderChange;
use segue_host::watch::Watcher;
use tokio::time::{Instant, sleep_until};

use super::{ConversationReading, Numbered};

/// The follower remembers this many returned turns. One is not enough, because the same text can
/// occur twice.
const REMEMBERED_TURNS: usize = 8;

/// At most this many turns are read from the end in search of the last returned turn.
const MAX_TURNS_READ: usize = 1000;

/// At most this many bytes of text are held in memory during that search.
const MAX_HELD_BYTES: usize = 64 * 1024 * 1024;

/// After a transcript was rewritten, at most this many of its last turns are returned.
const MAX_REWRITTEN_TURNS: usize = 10;

/// Returns each new turn of a conversation once.
#[derive(Debug)]
pub struct Follower {
    reading: ConversationReading,
    watcher: Watcher,
    /// Hashes of the last turns that were returned, newest last.
    returned: Vec<u64>,
    /// The number of the next turn, if known.
    next: Option<u64>,
    /// The files of the database before the last reading. `None` if the conversation has a file of
    /// its own.
    read_from: Option<DatabaseState>,
    /// How often the database was read without news since its last change.
    retries: usize,
    /// When the database is read again, although nothing reports a change.
    retry_at: Option<Instant>,
}

/// A commit is visible to readers some time after the last write to the log, when the log is synced,
/// and nothing reports that. So a change without news is read again after these times.
const RETRY_AFTER: [Duration; 5] = [
    Duration::from_millis(20),
    Duration::from_millis(100),
    Duration::from_millis(500),
    Duration::from_secs(2),
    Duration::from_secs(10),
];

/// The lengths and the times of a database and its write-ahead log. A missing file has none.
type DatabaseState = Vec<Option<(u64, Timestamp)>>;

/// The ending of the write-ahead log of a database.
const LOG_ENDING: &str = "-wal";

/// The turns that were added since the last call.
#[derive(Debug, Default)]
pub struct News {
    pub turns: Vec<Numbered>,
    /// Whether the transcript contains none of the remembered turns any more.
    pub rewritten: bool,
}

impl Follower {
    fn new(reading: ConversationReading, watcher: Watcher, returned: Vec<u64>) -> Self {
        let (next, read_from, retry_at) = (None, None, None);
        Self { reading, watcher, returned, next, read_from, retries: 0, retry_at }
    }

    /// Starts to watch, and returns the last `count` turns, at most 1000.
    pub fn start(reading: ConversationReading, count: usize) -> Result<(Self, Vec<Numbered>)> {
        let (watcher, returned) = (Watcher::new()?, Vec::new());
        let mut follower = Self::new(reading, watcher, returned);
        // Watch before reading, so that no turn is missed in between.
        follower.watch()?;
        let mut turns = Vec::new();
        follower.reading.last(count.clamp(REMEMBERED_TURNS, MAX_TURNS_READ), &mut |turn| {
            turns.push(turn);
            ControlFlow::Continue(())
        })?;
        follower.remember(&turns);
        follower.plan_retry(true);
        if turns.is_empty() {
            follower.next = Some(1);
        }
        let older = turns.len().saturating_sub(count);
        Ok((follower, turns.split_off(older)))
    }

    /// Starts to watch after these turns, which are the last ones that were read. If there are none,
    /// all turns are new, except those that a handoff has brought.
    pub fn after(reading: ConversationReading, last: &[Turn]) -> Result<Self> {
        if last.is_empty() && reading.window.after.is_some() {
            return Self::start(reading, 0).map(|(follower, _)| follower);
        }
        let returned = last.iter().map(hash).collect();
        let mut follower = Self::new(reading, Watcher::new()?, returned);
        follower.watch()?;
        let older = follower.returned.len().saturating_sub(REMEMBERED_TURNS);
        follower.returned.drain(..older);
        Ok(follower)
    }

    /// Waits until the transcript has changed.
    pub async fn changed(&mut self) -> Result<()> {
        loop {
            let bases = self.bases();
            let retry_at = self.retry_at;
            let retry = async {
                match retry_at {
                    Some(at) => sleep_until(at).await,
                    None => pending().await,
                }
            };
            tokio::select! {
                change = self.watcher.next() => {
                    if concerns(&change?, &bases) && self.may_have_news() {
                        self.retries = 0;
                        break;
                    }
                }
                () = retry => return Ok(()),
            }
        }
        // Consume all events that have arrived: one reading covers them.
        loop {
            tokio::select! {
                biased;
                change = self.watcher.next() => drop(change?),
                () = std::future::ready(()) => return Ok(()),
            }
        }
    }

    /// Returns whether a change can be a change of the conversation. The reading of a database also
    /// changes its files, and would otherwise be the reason of the next reading.
    fn may_have_news(&self) -> bool {
        let now = self.database_state();
        now.is_none() || now != self.read_from
    }

    /// Returns the state of the database's files. `None` if the conversation has a file of its own.
    fn database_state(&self) -> Option<DatabaseState> {
        self.reading.vendor.transcript_database()?;
        let files = self.bases().into_iter().flat_map(|base| {
            let mut log = base.clone().into_os_string();
            log.push(LOG_ENDING);
            [base, log.into()]
        });
        let state = |file: PathBuf| {
            let facts = self.reading.files.facts(&file).ok().flatten()?;
            (facts.length > 0).then_some((facts.length, facts.modified))
        };
        Some(files.map(state).collect())
    }

    /// Returns the turns that were not returned yet.
    pub fn news(&mut self) -> Result<News> {
        let news = self.read_news()?;
        self.plan_retry(news.turns.is_empty());
        Ok(news)
    }

    /// Decides when a database is read again if nothing changes.
    fn plan_retry(&mut self, is_without_news: bool) {
        let delay = RETRY_AFTER.get(self.retries);
        let delay = delay.filter(|_| is_without_news && self.read_from.is_some());
        self.retries += usize::from(delay.is_some());
        self.retry_at = delay.map(|delay| Instant::now() + *delay);
    }

    fn read_news(&mut self) -> Result<News> {
        // The transcript may have appeared or moved.
        self.watch()?;
        let tail = self.read_back()?;
        // A file that is being replaced can be missing for a short time.
        if tail.turns.is_empty() {
            return Ok(News::default());
        }
        let news = match self.position_in(&tail.hashes, tail.whole) {
            Some(position) => self.added(position, tail),
            None => self.rewritten(tail),
        };
        self.remember(&news.turns);
        Ok(news)
    }

    /// Reads from the end back to the last returned turns, or up to the limits.
    fn read_back(&self) -> Result<ConversationTail> {
        let mut tail = ConversationTail { whole: true, ..ConversationTail::default() };
        let mut held_bytes = 0;
        self.reading.turns_back(&mut |turn| {
            held_bytes += turn.text.len();
            tail.hashes.push(hash(&turn));
            tail.turns.push(turn);
            let is_at_limit = tail.turns.len() == MAX_TURNS_READ || held_bytes > MAX_HELD_BYTES;
            tail.whole = !is_at_limit && !self.ends_with(&tail.hashes);
            if tail.whole { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        Ok(tail)
    }

    /// Returns whether the oldest of these turns are the last returned ones.
    fn ends_with(&self, newest_first: &[u64]) -> bool {
        let returned = self.returned.iter().rev();
        self.returned.len() == REMEMBERED_TURNS
            && newest_first.len() >= REMEMBERED_TURNS
            && returned.eq(&newest_first[newest_first.len() - REMEMBERED_TURNS..])
    }

    /// Finds the last returned turn that is still in the transcript. `None` if there is none: the
    /// end of a transcript can be replaced or removed.
    fn position_in(&self, newest_first: &[u64], whole: bool) -> Option<FollowPosition> {
        let returned: Vec<u64> = self.returned.iter().rev().copied().collect();
        if returned.is_empty() {
            return whole.then_some(FollowPosition { newer: newest_first.len(), gone: 0 });
        }
        let positions = (0..returned.len()).flat_map(|gone| {
            (0..newest_first.len()).map(move |newer| FollowPosition { newer, gone })
        });
        let mut positions = positions.filter(|position| {
            let (expected, found) = (&returned[position.gone..], &newest_first[position.newer..]);
            // The conversation may have fewer turns than are remembered.
            let length = expected.len().min(found.len());
            expected[..length] == found[..length] && (length == expected.len() || whole)
        });
        positions.next()
    }

    /// Returns the turns after the last returned one.
    fn added(&mut self, position: FollowPosition, mut tail: ConversationTail) -> News {
        self.returned.truncate(self.returned.len() - position.gone);
        self.next = self.next.map(|next| next - (position.gone as u64).min(next - 1));
        tail.turns.truncate(position.newer);
        News { turns: numbered(tail.turns, self.next), rewritten: false }
    }

    /// Returns the last turns of a transcript that was rewritten.
    fn rewritten(&mut self, mut tail: ConversationTail) -> News {
        self.returned.clear();
        let all = tail.turns.len();
        tail.turns.truncate(MAX_REWRITTEN_TURNS);
        self.next = tail.whole.then_some((all - tail.turns.len()) as u64 + 1);
        News { turns: numbered(tail.turns, self.next), rewritten: true }
    }

    fn remember(&mut self, turns: &[Numbered]) {
        self.returned.extend(turns.iter().map(|it| hash(&it.turn)));
        let older = self.returned.len().saturating_sub(REMEMBERED_TURNS);
        self.returned.drain(..older);
        if let Some(last) = turns.last() {
            self.next = last.index.map(|index| index + 1);
        }
    }

    /// Watches the files of the conversation, and remembers their state before they are read.
    fn watch(&mut self) -> Result<()> {
        self.read_from = self.database_state();
        for folder in self.bases().iter().filter_map(|base| base.parent()) {
            self.watcher.add(folder)?;
        }
        Ok(())
    }

    /// Returns the files whose changes can change the conversation.
    fn bases(&self) -> Vec<PathBuf> {
        let ConversationReading { vendor, files, place, id, transcript, .. } = &self.reading;
        let known = id.as_ref().zip(vendor.transcripts());
        let own = known.map(|(id, it)| it.transcript(files.as_ref(), place, id));
        let in_database = vendor.transcript_database().is_some();
        let base = |path: PathBuf| match path.parent() {
            // The path of a conversation in a database is the database's path with a name appended.
            Some(database) if in_database && database.is_file() => database.to_owned(),
            _ => path,
        };
        transcript.iter().cloned().chain(own).map(base).collect()
    }
}

/// Numbers turns that are sorted from the newest to the oldest. The oldest gets the number `first`.
fn numbered(newest_first: Vec<Turn>, first: Option<u64>) -> Vec<Numbered> {
    let oldest_first = newest_first.into_iter().rev();
    let number = |(place, turn)| Numbered { index: first.map(|first| first + place), turn };
    (0..).zip(oldest_first).map(number).collect()
}

/// The position of the last returned turn that is still in the transcript.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FollowPosition {
    /// The number of turns after it.
    newer: usize,
    /// The number of turns that were returned after it and are no longer in the transcript.
    gone: usize,
}

/// The end of a conversation, newest turn first.
#[derive(Debug, Default)]
struct ConversationTail {
    turns: Vec<Turn>,
    hashes: Vec<u64>,
    /// Whether it is the whole conversation.
    whole: bool,
}

/// Returns whether a change concerns one of these files, or a file of the same database such as the
/// write-ahead log.
fn concerns(change: &FolderChange, bases: &[PathBuf]) -> bool {
    let FolderChange::At { path, .. } = change else { return true };
    let name = |path: &Path| path.file_name().map(|name| name.as_encoded_bytes().to_vec());
    let Some(changed) = name(path) else { return true };
    let is_of = |base: &PathBuf| name(base).is_some_and(|base| changed.starts_with(&base));
    bases.iter().any(|base| base.starts_with(path) || base.parent() == path.parent() && is_of(base))
}

/// Returns a hash that identifies a turn. It excludes the cost, which may be recorded later.
fn hash(turn: &Turn) -> u64 {
    let mut hasher = DefaultHasher::new();
    let tool = turn.tool.as_ref().map(|tool| (&tool.id, &tool.name));
    (turn.role, &turn.text, tool, turn.at).hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests;
