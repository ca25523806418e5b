//! Follows a conversation. When the kernel reports a change of the transcript, the end of the file
//! is read back to the last turn that was returned.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use segue_core::Result;
use segue_core::model::Turn;
use segue_core::ports::FolderChange;
use segue_host::watch::Watcher;

use super::{ConversationReading, Numbered};

/// How many returned turns are remembered. One is not enough, because the same text can occur
/// twice.
const REMEMBERED: usize = 8;

/// At most this many turns are read from the end in search of the last returned turn.
const MOST_READ: usize = 1000;

/// At most this many bytes of text are held in memory during that search.
const MOST_HELD: usize = 64 * 1024 * 1024;

/// Returns each new turn of a conversation once.
#[derive(Debug)]
pub struct Follower {
    reading: ConversationReading,
    watcher: Watcher,
    /// Hashes of the last turns that were returned, newest last.
    told: Vec<u64>,
    /// The number of the next turn, if known.
    next: Option<u64>,
}

/// What has changed since the last call.
#[derive(Debug, Default)]
pub struct News {
    pub turns: Vec<Numbered>,
    /// Whether the turns that were returned before are no longer in the transcript.
    pub rewritten: bool,
}

impl Follower {
    /// Starts to watch, and returns the last `count` turns, at most 1000.
    pub fn start(reading: ConversationReading, count: usize) -> Result<(Self, Vec<Numbered>)> {
        let mut follower = Self { reading, watcher: Watcher::new()?, told: Vec::new(), next: None };
        // Watch first, so that turns that are added before the reading are not missed.
        follower.watch()?;
        let mut turns = Vec::new();
        follower.reading.last(count.clamp(REMEMBERED, MOST_READ), &mut |turn| {
            turns.push(turn);
            ControlFlow::Continue(())
        })?;
        follower.remember(&turns);
        if turns.is_empty() {
            follower.next = Some(1);
        }
        let older = turns.len().saturating_sub(count);
        Ok((follower, turns.split_off(older)))
    }

    /// Waits until the transcript has changed.
    pub async fn changed(&mut self) -> Result<()> {
        loop {
            let bases = self.bases();
            let change = self.watcher.next().await?;
            if concerns(&change, &bases) {
                break;
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

    /// Returns the turns that were not returned yet.
    pub fn news(&mut self) -> Result<News> {
        // Watch a transcript that has appeared or moved.
        self.watch()?;
        let tail = self.read_back()?;
        // A file that is being replaced can be missing for a short time.
        if tail.turns.is_empty() {
            return Ok(News::default());
        }
        let news = match self.position_in(&tail.hashes, tail.whole) {
            Some(position) => self.told_up_to(position, tail),
            None => self.rewritten(tail),
        };
        self.remember(&news.turns);
        Ok(news)
    }

    /// Reads from the end back to the last returned turns, or up to the limits.
    fn read_back(&self) -> Result<ConversationTail> {
        let mut tail = ConversationTail { whole: true, ..ConversationTail::default() };
        let mut held = 0;
        self.reading.turns_back(&mut |turn| {
            held += turn.text.len();
            tail.hashes.push(hash(&turn));
            tail.turns.push(turn);
            let enough = tail.turns.len() == MOST_READ || held > MOST_HELD;
            tail.whole = !enough && !self.ends_with(&tail.hashes);
            if tail.whole { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        Ok(tail)
    }

    /// Returns whether the oldest of these turns are the last returned ones.
    fn ends_with(&self, newest_first: &[u64]) -> bool {
        let told = self.told.iter().rev();
        self.told.len() == REMEMBERED
            && newest_first.len() >= REMEMBERED
            && told.eq(&newest_first[newest_first.len() - REMEMBERED..])
    }

    /// Returns how many turns are newer than the returned ones, and how many of the returned ones
    /// are gone. The end of a transcript can be replaced or removed.
    fn position_in(&self, newest_first: &[u64], whole: bool) -> Option<FollowPosition> {
        let told: Vec<u64> = self.told.iter().rev().copied().collect();
        if told.is_empty() {
            return whole.then_some(FollowPosition { newer: newest_first.len(), gone: 0 });
        }
        let positions = (0..told.len()).flat_map(|gone| {
            (0..newest_first.len()).map(move |newer| FollowPosition { newer, gone })
        });
        let mut positions = positions.filter(|position| {
            let (wanted, there) = (&told[position.gone..], &newest_first[position.newer..]);
            // Turns before the start of the conversation cannot be compared.
            let length = wanted.len().min(there.len());
            wanted[..length] == there[..length] && (length == wanted.len() || whole)
        });
        positions.next()
    }

    fn told_up_to(&mut self, position: FollowPosition, mut tail: ConversationTail) -> News {
        self.told.truncate(self.told.len() - position.gone);
        self.next = self.next.map(|next| next - (position.gone as u64).min(next - 1));
        tail.turns.truncate(position.newer);
        tail.turns.reverse();
        let first = self.next;
        let number = |(place, turn)| Numbered { index: first.map(|first| first + place), turn };
        News { turns: (0..).zip(tail.turns).map(number).collect(), rewritten: false }
    }

    fn rewritten(&mut self, mut tail: ConversationTail) -> News {
        const SHOWN: usize = 10;
        self.told.clear();
        let all = tail.turns.len();
        tail.turns.truncate(SHOWN);
        tail.turns.reverse();
        let first = tail.whole.then_some((all - tail.turns.len()) as u64 + 1);
        self.next = first;
        let number = |(place, turn)| Numbered { index: first.map(|first| first + place), turn };
        News { turns: (0..).zip(tail.turns).map(number).collect(), rewritten: true }
    }

    fn remember(&mut self, turns: &[Numbered]) {
        self.told.extend(turns.iter().map(|it| hash(&it.turn)));
        let older = self.told.len().saturating_sub(REMEMBERED);
        self.told.drain(..older);
        if let Some(last) = turns.last() {
            self.next = last.index.map(|index| index + 1);
        }
    }

    fn watch(&mut self) -> Result<()> {
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

/// The position of the last returned turn, counted from the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FollowPosition {
    newer: usize,
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

/// Returns whether a change concerns one of these files, or a file next to a database such as its
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
