//! Catching up with what happened but could not be recorded, because the disk was full for example.

use std::time::Duration;

use segue_core::flows::observe::{self, FollowUp};
use segue_core::model::{LaunchEnd, LaunchId};
use segue_core::rules::lifecycle::Kept;
use segue_core::{Error, Result};

use super::{Actor, Message};

/// How long it is until the first other try; each next one takes twice as long.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(5 * 60);

/// What an actor has yet to record. While it has nothing to, nothing is tried.
#[derive(Debug, Default)]
pub(super) struct Behind {
    /// How long the last pause was; none while everything is recorded.
    pause: Option<Duration>,
    /// Another try is on its way.
    due: bool,
    /// How a launch ended: nobody else may know it.
    end: Option<(LaunchId, LaunchEnd, Kept)>,
    /// The launch that somebody asked to end, while its end could not be learned: its holder may
    /// have ended without being able to write it down.
    asked_to_end: Option<LaunchId>,
}

impl Behind {
    fn next_pause(&mut self) -> Duration {
        let pause = self.pause.map_or(FIRST_PAUSE, |last| (last * 2).min(LONGEST_PAUSE));
        *self.pause.insert(pause)
    }
}

impl Actor {
    /// Follows a launch that runs. What cannot be recorded about it now is recorded later.
    pub(super) async fn follow(&mut self) {
        if let Err(error) = self.after_start().await {
            self.fall_behind(&error);
        }
    }

    /// Tries again, after a while, to record what could not be.
    pub(super) fn fall_behind(&mut self, error: &Error) {
        let session = self.state.session.address();
        tracing::error!(%session, %error, "something that happened could not be recorded");
        if !self.behind.due {
            self.behind.due = true;
            let pause = self.behind.next_pause();
            self.tell_later(pause, Message::CatchUp);
        }
    }

    /// Looks at everything again that may have happened since something could not be recorded.
    pub(super) async fn catch_up(&mut self) -> Result<()> {
        self.behind.due = false;
        self.look_over().await?;
        self.behind.pause = None;
        Ok(())
    }

    async fn look_over(&mut self) -> Result<()> {
        if let Some((launch, end, environment)) = self.behind.end.take() {
            return self.launch_ended(launch, end, environment).await;
        }
        let Some(launch) = self.state.open().map(|launch| launch.id) else {
            return self.take_up_restart().await;
        };
        match self.ports.holders.find(launch).await? {
            // A launch that was found but could not be followed yet has no reader of its hooks.
            Some(held) if held.end.is_none() && self.hooks.is_some() => {
                self.record_processes(launch, held).await?;
                self.follow_files().await?;
                self.supervisor.scribe.write(&self.state.session.fleet).await?;
                self.look_again().await
            }
            Some(held) => self.found(launch, held).await,
            None => self.holder_gone(launch).await,
        }
    }

    /// Keeps in mind that a launch ends because somebody asked for it.
    pub(super) fn expect_end(&mut self, launch: LaunchId) {
        self.behind.asked_to_end = Some(launch);
    }

    /// Records how a launch ended, or keeps it in mind.
    pub(super) async fn record_end(
        &mut self,
        launch: LaunchId,
        end: LaunchEnd,
        environment: Kept,
    ) -> Result<Vec<FollowUp>> {
        let end = LaunchEnd { asked: end.asked || self.behind.asked_to_end == Some(launch), ..end };
        let recorded = observe::ended(&self.ports, &mut self.state, launch, end, environment).await;
        self.behind.end = recorded.is_err().then_some((launch, end, environment));
        recorded
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_but_not_for_ever() {
        let mut behind = Behind::default();
        let pauses: Vec<u64> = (0..12).map(|_| behind.next_pause().as_secs()).collect();
        assert_eq!(pauses[..5], [1, 2, 4, 8, 16]);
        assert_eq!(pauses[11], 300);
    }
}
