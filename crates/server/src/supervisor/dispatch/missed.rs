//! Asks a forge for issues whose deliveries were missed.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use segue_core::Result;
use segue_core::flows::dispatch;
use segue_core::flows::dispatch::{missed_assignments, polled_events};
use segue_core::model::{ForgeSource, ForgeSubject, TrackedIssue};
use segue_core::ports::{Change, Commit, ForgeApi};

use super::worker::SourceWorker;

impl SourceWorker {
    /// Returns the time until the forge is to be asked again. `None` if the settings have no token for
    /// the source.
    pub(super) fn until_next_question(&self) -> Option<Duration> {
        let source = self.source().ok().flatten().filter(|source| source.has_token)?;
        let Some(asked_at) = self.asked_at else { return Some(Duration::ZERO) };
        let due =
            asked_at + SignedDuration::try_from(source.interval).unwrap_or(SignedDuration::MAX);
        let now = self.supervisor.ports.clock.now();
        Some(Duration::try_from(now.duration_until(due)).unwrap_or(Duration::ZERO))
    }

    /// Asks the forge for assigned issues without a task, and for closed issues, if that is due.
    pub(super) async fn ask_for_missed(&mut self) -> Result<()> {
        if self.until_next_question() != Some(Duration::ZERO) {
            return Ok(());
        }
        let Some(source) = self.source()? else { return Ok(()) };
        let Some(api) = self.paced_api(&source).await? else { return Ok(()) };
        let now = self.supervisor.ports.clock.now();
        self.start_assigned(&source, api.as_ref()).await?;
        if source.is_polled {
            self.poll_repositories(&source, api.as_ref()).await?;
            self.start_polled(&source, api.as_ref()).await?;
        }
        self.close_closed(api.as_ref()).await?;
        self.asked_at = Some(now);
        self.clean_up().await
    }

    /// Starts the tasks for issues that are assigned to the account and have no task.
    async fn start_assigned(&mut self, source: &ForgeSource, api: &dyn ForgeApi) -> Result<()> {
        let context = self.context(source).await?;
        let events = missed_assignments(&context, api).await?;
        for event in events {
            self.start_found(source, &event).await?;
        }
        Ok(())
    }

    /// Starts the tasks for comments and reviews since the last question.
    async fn start_polled(&mut self, source: &ForgeSource, api: &dyn ForgeApi) -> Result<()> {
        let ports = self.supervisor.ports.clone();
        let tracked = ports.store.tracked_issues(Some(&self.name)).await?;
        for issue in tracked.into_iter().filter(|it| it.closed_at.is_none()) {
            let now = ports.clock.now();
            let since = issue.seen_until.unwrap_or(now);
            for event in polled_events(api, &issue, since).await? {
                self.start_found(source, &event).await?;
            }
            self.record_seen(&issue, now).await?;
        }
        Ok(())
    }

    /// Records until when the comments on an issue are known. The events may have changed its record.
    async fn record_seen(&self, issue: &TrackedIssue, now: Timestamp) -> Result<()> {
        let ports = &self.supervisor.ports;
        let tracked = ports.store.tracked_issues(Some(&self.name)).await?;
        let Some(current) = tracked.into_iter().find(|it| it.key() == issue.key()) else {
            return Ok(());
        };
        let seen = TrackedIssue { seen_until: Some(now), ..current };
        let changes = vec![Change::PutTrackedIssue(Box::new(seen))];
        ports.store.commit(Commit { changes, events: Vec::new() }).await.map(drop)
    }

    /// Closes the issues that are closed on the forge.
    async fn close_closed(&self, api: &dyn ForgeApi) -> Result<()> {
        let ports = &self.supervisor.ports;
        let tracked = ports.store.tracked_issues(Some(&self.name)).await?;
        for issue in tracked.into_iter().filter(|it| it.closed_at.is_none()) {
            if is_closed(api, &issue).await? {
                let changes = vec![dispatch::closed(ports, &issue)];
                ports.store.commit(Commit { changes, events: Vec::new() }).await?;
            }
        }
        Ok(())
    }
}

async fn is_closed(api: &dyn ForgeApi, issue: &TrackedIssue) -> Result<bool> {
    Ok(match issue.subject {
        ForgeSubject::Issue(number) => !api.issue(&issue.address, number).await?.is_open,
        ForgeSubject::Pull(number) => {
            let pull = api.pull(&issue.address, number).await?;
            pull.state != segue_core::model::PullState::Open
        }
    })
}
