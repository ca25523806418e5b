//! Counts the changes of the agent's screen, and notifies subscribers when the screen has settled.

use std::time::Duration;

use tokio::time::Instant;

use super::Holder;
use crate::hold::wire::WireEvent;

/// After this time without output, the agent has finished drawing.
pub(super) const QUIET: Duration = Duration::from_millis(150);
/// Subscribers are notified after this time even if the agent never stops drawing. An agent can show
/// a dialog together with a spinner.
const MAX_DELAY: Duration = Duration::from_secs(2);

/// The revision of the screen, and the pending notification of its changes.
#[derive(Debug, Default)]
pub(super) struct ScreenChanges {
    revision: u64,
    unreported: Option<UnreportedChanges>,
    /// Whether a request was refused because the agent has unread input. Then subscribers must be
    /// notified when the agent has read it, so that they try again.
    is_retry_awaited: bool,
}

/// Changes that subscribers have not been notified of yet.
#[derive(Clone, Copy, Debug)]
struct UnreportedChanges {
    first: Instant,
    last: Instant,
}

impl ScreenChanges {
    pub(super) fn revision(&self) -> u64 {
        self.revision
    }

    /// Counts a change: output that the agent has drawn, or input for it.
    pub(super) fn count_change(&mut self) {
        self.revision += 1;
    }

    /// Returns when subscribers must be notified. `None` if there is nothing to report.
    pub(super) fn due(&self) -> Option<Instant> {
        self.unreported.map(|it| (it.last + QUIET).min(it.first + MAX_DELAY))
    }

    /// Drops the pending notification, because the agent has ended.
    pub(super) fn forget(&mut self) {
        self.unreported = None;
        self.is_retry_awaited = false;
    }

    fn record(&mut self, now: Instant) {
        let first = self.unreported.map_or(now, |it| it.first);
        self.unreported = Some(UnreportedChanges { first, last: now });
    }
}

impl Holder {
    /// Records that the agent has drawn.
    pub(super) fn drew(&mut self) {
        let now = Instant::now();
        self.changes.count_change();
        self.message_typing.drew(now);
        self.schedule_settled(now);
    }

    /// Schedules the notification of a client whose request was refused: at once, or when the agent
    /// has read its input ([`Self::send_retry_notification`]).
    pub(super) fn schedule_retry_notification(&mut self) {
        if self.is_typing() {
            self.changes.is_retry_awaited = true;
        } else {
            self.schedule_settled(Instant::now());
        }
    }

    /// Schedules the notification of clients whose requests were refused, if the agent has read all
    /// of its input meanwhile.
    pub(super) fn send_retry_notification(&mut self) {
        if self.changes.is_retry_awaited && !self.is_typing() {
            self.changes.is_retry_awaited = false;
            self.schedule_settled(Instant::now());
        }
    }

    /// Notifies subscribers that the screen has settled, if that is due.
    pub(super) fn announce_settled(&mut self, now: Instant) {
        if self.changes.due().is_some_and(|due| due <= now) {
            self.changes.unreported = None;
            self.clients.announce(&WireEvent::Settled);
        }
    }

    /// Schedules a notification. Without a subscriber, the holder does not wake up for it.
    fn schedule_settled(&mut self, now: Instant) {
        if self.clients.have_subscriber() {
            self.changes.record(now);
        }
    }

    /// Returns whether the agent has input that it has not read yet.
    fn is_typing(&self) -> bool {
        self.message_typing.is_busy() || !self.input.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    #[test]
    fn settled_is_due_150_ms_after_the_last_change() {
        let now = Instant::now();
        let mut changes = ScreenChanges::default();
        assert_eq!(changes.due(), None);
        changes.record(now);
        changes.record(now + MS(100));
        assert_eq!(changes.due(), Some(now + MS(250)));
    }

    #[test]
    fn settled_is_due_every_two_seconds_if_drawing_never_stops() {
        let now = Instant::now();
        let mut changes = ScreenChanges::default();
        for tick in 0..=20 {
            changes.record(now + MS(tick * 100));
        }
        assert_eq!(changes.due(), Some(now + MAX_DELAY));
        changes.unreported = None;
        changes.record(now + MS(2100));
        assert_eq!(changes.due(), Some(now + MS(2250)));
    }
}
