//! The worker of one source.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use segue_core::flows::deliveries;
use segue_core::flows::dispatch::{DispatchContext, PermissionCache};
use segue_core::model::{EventPayload, ForgeSource, ForgeUser, NewEvent, SourceName};
use segue_core::ports::{Commit, ForgeApi};
use segue_core::{Error, Kind, Result};
use tokio::time::sleep;

use super::super::Supervisor;
use super::WorkerBell;
use super::polling::RepositoryEtags;

/// The first pause after a failure. Each further failure doubles it.
const FIRST_PAUSE: Duration = Duration::from_secs(2);

/// The longest pause after a failure.
const LONGEST_PAUSE: Duration = Duration::from_secs(300);

/// Works for one source.
#[derive(Debug)]
pub(super) struct SourceWorker {
    pub(super) supervisor: Arc<Supervisor>,
    pub(super) name: SourceName,
    bell: Arc<WorkerBell>,
    permissions: Arc<PermissionCache>,
    /// The account of the token, once the forge has told it.
    account: Option<ForgeUser>,
    /// The ETags of answers about repositories, once a polled forge has sent them.
    pub(super) etags: RepositoryEtags,
    /// How often the last passes failed in a row.
    failures: u32,
    /// When the forge was last asked for missed deliveries.
    pub(super) asked_at: Option<Timestamp>,
}

impl SourceWorker {
    pub(super) fn new(
        supervisor: &Arc<Supervisor>,
        name: SourceName,
        bell: Arc<WorkerBell>,
    ) -> Self {
        Self {
            supervisor: Arc::clone(supervisor),
            name,
            bell,
            permissions: Arc::default(),
            account: None,
            etags: RepositoryEtags::default(),
            failures: 0,
            asked_at: None,
        }
    }

    /// Works until the daemon ends.
    pub(super) async fn run(mut self) {
        loop {
            let passed = self.pass().await;
            let pause = self.after(passed).await;
            tokio::select! {
                () = self.bell.work.notified(), if self.failures == 0 => {}
                () = self.bell.settings.notified() => self.forget_answers(),
                () = sleep(pause.unwrap_or_default()), if pause.is_some() => {}
            }
        }
    }

    /// Forgets what the forge has answered to the token of the earlier settings.
    fn forget_answers(&mut self) {
        (self.account, self.permissions) = (None, Arc::default());
        self.etags.clear();
    }

    /// Does everything that can be done now.
    async fn pass(&mut self) -> Result<()> {
        self.process_deliveries().await?;
        self.clean_up().await?;
        self.write_replies().await?;
        self.ask_for_missed().await
    }

    /// Records that the source has failed, or that it works again. Returns the time until the next
    /// pass. `None` if only an event starts it.
    async fn after(&mut self, passed: Result<()>) -> Option<Duration> {
        match passed {
            Ok(()) => {
                if std::mem::take(&mut self.failures) > 0 {
                    self.record(None).await;
                }
                self.until_next_question()
            }
            Err(error) => {
                tracing::warn!(source = %self.name, %error, "a forge cannot be asked now");
                if self.failures == 0 {
                    self.record(Some(error.to_string())).await;
                }
                self.failures += 1;
                Some(pause_after(self.failures))
            }
        }
    }

    async fn record(&self, failure: Option<String>) {
        let ports = &self.supervisor.ports;
        let payload = EventPayload::SourceChanged { source: self.name.clone(), failure };
        let event = NewEvent { at: ports.clock.now(), session: None, launch: None, payload };
        let commit = Commit { changes: Vec::new(), events: vec![event] };
        if let Err(error) = ports.store.commit(commit).await {
            tracing::warn!(%error, "an event about a source cannot be recorded");
        }
    }

    /// Returns the source, as the settings have it now. `None` if they no longer have it.
    pub(super) fn source(&self) -> Result<Option<ForgeSource>> {
        match deliveries::find_source(&self.supervisor.ports, &self.name) {
            Ok(source) => Ok(Some(source)),
            Err(error) if error.kind == Kind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns the API of the source. `None` if the settings have no token.
    pub(super) async fn api(&self, source: &ForgeSource) -> Result<Option<Arc<dyn ForgeApi>>> {
        match source.has_token {
            true => self.supervisor.ports.sources.api(&self.name).await.map(Some),
            false => Ok(None),
        }
    }

    /// Returns a client whose requests have pauses between them. `None` if the settings have no token.
    pub(super) async fn paced_api(
        &self,
        source: &ForgeSource,
    ) -> Result<Option<Arc<dyn ForgeApi>>> {
        match source.has_token {
            true => self.supervisor.ports.sources.paced_api(&self.name).await.map(Some),
            false => Ok(None),
        }
    }

    /// Returns the account of the token.
    pub(super) async fn account(&mut self, api: &dyn ForgeApi) -> Result<ForgeUser> {
        if let Some(account) = &self.account {
            return Ok(account.clone());
        }
        let account = api.own_account().await?;
        self.account = Some(account.clone());
        Ok(account)
    }

    /// Collects what is needed to decide about events of the source.
    pub(super) async fn context(&mut self, source: &ForgeSource) -> Result<DispatchContext> {
        let api = self.api(source).await?;
        let account = match &api {
            Some(api) => Some(self.account(api.as_ref()).await?),
            None => None,
        };
        let permissions = Arc::clone(&self.permissions);
        context(&self.supervisor, &self.name, (api, account), permissions).await
    }
}

/// Collects what is needed to decide about events of a source.
pub(super) async fn context(
    supervisor: &Arc<Supervisor>,
    name: &SourceName,
    (api, account): (Option<Arc<dyn ForgeApi>>, Option<ForgeUser>),
    permissions: Arc<PermissionCache>,
) -> Result<DispatchContext> {
    let ports = &supervisor.ports;
    let mut rules = ports.sources.rules()?;
    rules.retain(|rule| rule.source == *name);
    // Only a rule starts programs, and reading the login shell takes time.
    let environment = match rules.is_empty() {
        true => segue_core::model::Environment::default(),
        false => supervisor.login_shell().await.map_err(unreadable_shell)?,
    };
    let tracked = ports.store.tracked_issues(Some(name)).await?;
    Ok(DispatchContext { rules, api, account, environment, permissions, tracked })
}

/// A shell that cannot be read may be readable later, so the delivery waits.
fn unreadable_shell(error: Error) -> Error {
    Error { kind: Kind::Unavailable, ..error }
}

fn pause_after(failures: u32) -> Duration {
    let factor = 2u32.saturating_pow(failures.saturating_sub(1).min(16));
    FIRST_PAUSE.saturating_mul(factor).min(LONGEST_PAUSE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pause_doubles_with_each_failure_up_to_five_minutes() {
        let table = [(1, 2), (2, 4), (5, 32), (8, 256), (9, 300), (1000, 300)];
        for (failures, seconds) in table {
            assert_eq!(pause_after(failures), Duration::from_secs(seconds), "{failures}");
        }
    }
}
