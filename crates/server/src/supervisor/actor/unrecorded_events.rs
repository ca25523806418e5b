//! Retries to record events that could not be stored, for example because the disk was full.

use std::time::Duration;

use segue_core::flows::observe::{self, FollowUp};
use segue_core::model::{LaunchEnd, LaunchId};
use segue_core::rules::lifecycle::EnvironmentKept;
use segue_core::{Error, Result};

use super::{Actor, SessionTimeout};

/// The pause before the first retry. Each further pause is twice as long.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const MAX_PAUSE: Duration = Duration::from_secs(5 * 60);

/// The events that the actor could not record. Nothing is retried while there are none.
#[derive(Debug, Default)]
pub(super) struct UnrecordedEvents {
    /// The length of the last pause. `None` if everything is recorded.
    pause: Option<Duration>,
    /// Whether a retry is scheduled.
    is_scheduled: bool,
    /// How a launch ended. It may be stored nowhere else.
    end: Option<(LaunchId, LaunchEnd, EnvironmentKept)>,
    /// The launch that a user asked to stop, as long as its end is unknown. Its holder may have
    /// ended without being able to record that.
    asked_to_end: Option<LaunchId>,
}

impl UnrecordedEvents {
    /// Returns whether everything that happened is recorded.
    pub(super) fn is_caught_up(&self) -> bool {
        self.pause.is_none()
            && !self.is_scheduled
            && self.end.is_none()
            && self.asked_to_end.is_none()
    }

    fn next_pause(&mut self) -> Duration {
        let pause = self.pause.map_or(FIRST_PAUSE, |last| (last * 2).min(MAX_PAUSE));
        *self.pause.insert(pause)
    }
}

impl Actor {
    /// Logs an error of recording, and schedules a retry.
    pub(super) fn retry_recording_later(&mut self, error: &Error) {
        let session = self.state.session.address();
        tracing::error!(%session, %error, "an event could not be recorded");
        if !self.unrecorded.is_scheduled {
            self.unrecorded.is_scheduled = true;
            let pause = self.unrecorded.next_pause();
            self.send_later(pause, SessionTimeout::RetryRecording);
        }
    }

    /// Retries to record all events since an error of recording.
    pub(super) async fn retry_recording(&mut self) -> Result<()> {
        self.unrecorded.is_scheduled = false;
        self.record_missing_events().await?;
        self.unrecorded.pause = None;
        Ok(())
    }

    async fn record_missing_events(&mut self) -> Result<()> {
        if let Some((launch, end, environment)) = self.unrecorded.end.take() {
            return self.launch_ended(launch, end, environment).await;
        }
        let Some(launch) = self.state.open().map(|launch| launch.id) else {
            return self.continue_restart().await;
        };
        match self.ports.holders.find(launch).await? {
            // Without a reader of its hooks, the actor does not follow the launch yet.
            Some(held) if held.end.is_none() && self.hooks.is_some() => {
                self.record_processes(launch, held).await?;
                self.follow_files().await?;
                self.supervisor.fleet_files.write(&self.state.session.fleet).await?;
                self.read_all_signals().await
            }
            Some(held) => self.found(launch, held).await,
            None => self.holder_gone(launch).await,
        }
    }

    /// Remembers that this launch ends because a user asked for it.
    pub(super) fn expect_end(&mut self, launch: LaunchId) {
        self.unrecorded.asked_to_end = Some(launch);
    }

    /// Records how a launch ended. If that fails, keeps the end for a retry.
    pub(super) async fn record_end(
        &mut self,
        launch: LaunchId,
        end: LaunchEnd,
        environment: EnvironmentKept,
    ) -> Result<Vec<FollowUp>> {
        let end = LaunchEnd {
            is_requested: end.is_requested || self.unrecorded.asked_to_end == Some(launch),
            ..end
        };
        let recorded = observe::ended(&self.ports, &mut self.state, launch, end, environment).await;
        self.unrecorded.end = recorded.is_err().then_some((launch, end, environment));
        recorded
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_pauses_double_up_to_five_minutes() {
        let mut unrecorded = UnrecordedEvents::default();
        let pauses: Vec<u64> = (0..12).map(|_| unrecorded.next_pause().as_secs()).collect();
        assert_eq!(pauses[..5], [1, 2, 4, 8, 16]);
        assert_eq!(pauses[11], 300);
    }
}
