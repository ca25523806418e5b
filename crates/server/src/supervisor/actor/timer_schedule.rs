//! Sends the timer messages of a session. The actor waits only for the timer that is due next.

use std::time::Duration;

use segue_core::Result;
use segue_core::flows::messages;
use segue_core::model::{LaunchId, Status, Timer};
use segue_core::ports::{Change, Commit};
use segue_core::rules::timers;

use tokio::time::Instant;

use super::{Actor, SessionTimeout};

/// The longest wait: 100 years. A longer wait could overflow an `Instant`.
const MAX_WAIT: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

/// The timers of a session, and when they are due.
#[derive(Debug, Default)]
pub(super) struct TimerSchedule {
    /// `None` until the timers are read from the store.
    timers: Option<Vec<Timer>>,
    /// When each timer is due. An `Instant` is not affected if the system clock is set.
    due: Vec<Instant>,
    /// The number of the newest wait. Older waits are ignored when they end.
    round: u64,
}

impl Actor {
    /// Replaces the timers of the session.
    pub(super) async fn set_timers(&mut self, timers: Vec<Timer>) -> Result<()> {
        if self.timers().await? == timers {
            return Ok(());
        }
        let change = Change::SetTimers { session: self.id(), timers: timers.clone() };
        let commit = Commit { changes: vec![change], events: Vec::new() };
        self.state.commit(&self.ports, commit).await?;
        self.timer_schedule.timers = Some(timers);
        self.schedule_timers().await
    }

    async fn timers(&mut self) -> Result<Vec<Timer>> {
        if let Some(timers) = &self.timer_schedule.timers {
            return Ok(timers.clone());
        }
        let timers = self.ports.store.timers(self.id()).await?;
        Ok(self.timer_schedule.timers.insert(timers).clone())
    }

    /// Computes when each timer is due, and waits for the first. Times count from the start of the
    /// launch, so another daemon keeps the same schedule. Timers that fell due while no daemon ran
    /// are skipped.
    pub(super) async fn schedule_timers(&mut self) -> Result<()> {
        let timers = self.timers().await?;
        let Some(launch) = self.state.open() else { return Ok(()) };
        let (launch, began, now) = (launch.id, launch.created_at, self.ports.clock.now());
        let due = |timer: &Timer| instant_after(timers::until_due(began, timer.every, now));
        self.timer_schedule.due = timers.iter().map(due).collect();
        self.wait_for_next(launch);
        Ok(())
    }

    fn wait_for_next(&mut self, launch: LaunchId) {
        self.timer_schedule.round += 1;
        let Some(first) = self.timer_schedule.due.iter().min() else { return };
        let after = first.saturating_duration_since(Instant::now());
        self.send_later(
            after,
            SessionTimeout::TimerDue { launch, round: self.timer_schedule.round },
        );
    }

    pub(super) async fn timer_due(&mut self, launch: LaunchId, round: u64) -> Result<()> {
        if !self.is_open(launch) || round != self.timer_schedule.round {
            return Ok(());
        }
        let now = Instant::now();
        let mut queued = Ok(());
        for (number, timer) in self.timers().await?.into_iter().enumerate() {
            if self.timer_schedule.due.get(number).is_some_and(|due| *due <= now) {
                // Keep the schedule, and skip the intervals that passed meanwhile.
                let late = now.saturating_duration_since(self.timer_schedule.due[number]);
                let intervals = late.as_nanos() / timer.every.as_nanos().max(1) + 1;
                let intervals = u32::try_from(intervals).unwrap_or(u32::MAX);
                let until_next = timer.every.saturating_mul(intervals).min(MAX_WAIT);
                self.timer_schedule.due[number] += until_next;
                queued = queued.and(self.queue_message(timer).await);
            }
        }
        self.wait_for_next(launch);
        queued
    }

    /// Queues the timer's message, unless the same text is queued already.
    async fn queue_message(&mut self, timer: Timer) -> Result<()> {
        if self.state.outbox.iter().any(|message| message.text == timer.prompt) {
            return Ok(());
        }
        let recorded_with = (None, Commit::default());
        messages::add(&self.ports, &mut self.state, timer.prompt, recorded_with).await?;
        if timer.interrupt && self.state.session.status == Status::Working {
            return self.interrupt().await;
        }
        Ok(())
    }
}

fn instant_after(after: Duration) -> Instant {
    Instant::now() + after.min(MAX_WAIT)
}
