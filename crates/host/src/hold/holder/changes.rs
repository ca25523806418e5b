//! What changes on the agent's screen: counted, and told of when it has come to rest.

use std::time::Duration;

use tokio::time::Instant;

use super::Holder;
use crate::hold::wire::Event;

/// An agent that has drawn nothing for so long has finished drawing.
pub(super) const QUIET: Duration = Duration::from_millis(150);
/// Drawing that never rests is told of all the same: a dialog can stand under a spinner.
const RESTLESS: Duration = Duration::from_secs(2);

/// The state of the screen as a number, and what has yet to be told of it.
#[derive(Debug, Default)]
pub(super) struct Changes {
    revision: u64,
    stir: Option<Stir>,
    /// Whether somebody was refused because the agent has unread input, and has to be told when it
    /// has read that.
    owed: bool,
}

/// Changes that nobody was told of yet.
#[derive(Clone, Copy, Debug)]
struct Stir {
    first: Instant,
    last: Instant,
}

impl Changes {
    pub(super) fn revision(&self) -> u64 {
        self.revision
    }

    /// Notes that something was drawn or typed.
    pub(super) fn count(&mut self) {
        self.revision += 1;
    }

    /// Returns when subscribers are to be told; none while there is nothing to tell.
    pub(super) fn due(&self) -> Option<Instant> {
        self.stir.map(|stir| (stir.last + QUIET).min(stir.first + RESTLESS))
    }

    /// Forgets what has not been told: the agent has ended.
    pub(super) fn forget(&mut self) {
        self.stir = None;
        self.owed = false;
    }

    fn stir(&mut self, now: Instant) {
        let first = self.stir.map_or(now, |stir| stir.first);
        self.stir = Some(Stir { first, last: now });
    }
}

impl Holder {
    /// Notes that the agent drew something.
    pub(super) fn drew(&mut self) {
        let now = Instant::now();
        self.changes.count();
        self.typist.drew(now);
        self.stir(now);
    }

    /// Lets whoever was refused hear when to look again.
    pub(super) fn refuse(&mut self) {
        if self.is_typing() {
            self.changes.owed = true;
        } else {
            self.stir(Instant::now());
        }
    }

    /// Tells those who were refused, now that the agent has read its input.
    pub(super) fn input_is_read(&mut self) {
        if self.changes.owed && !self.is_typing() {
            self.changes.owed = false;
            self.stir(Instant::now());
        }
    }

    /// Tells subscribers that the screen has come to rest, if the time for that has come.
    pub(super) fn settle(&mut self, now: Instant) {
        if self.changes.due().is_some_and(|due| due <= now) {
            self.changes.stir = None;
            self.clients.announce(&Event::Settled);
        }
    }

    /// Without a subscriber there is nobody to wake up for.
    fn stir(&mut self, now: Instant) {
        if self.clients.have_subscriber() {
            self.changes.stir(now);
        }
    }

    /// Tells whether the agent has input that it did not read yet.
    fn is_typing(&self) -> bool {
        self.typist.is_busy() || !self.input.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    #[test]
    fn what_rests_is_told_of_after_a_moment() {
        let now = Instant::now();
        let mut changes = Changes::default();
        assert_eq!(changes.due(), None);
        changes.stir(now);
        changes.stir(now + MS(100));
        assert_eq!(changes.due(), Some(now + MS(250)));
    }

    #[test]
    fn what_never_rests_is_told_of_every_two_seconds() {
        let now = Instant::now();
        let mut changes = Changes::default();
        for tick in 0..=20 {
            changes.stir(now + MS(tick * 100));
        }
        assert_eq!(changes.due(), Some(now + RESTLESS));
        changes.stir = None;
        changes.stir(now + MS(2100));
        assert_eq!(changes.due(), Some(now + MS(2250)));
    }
}
