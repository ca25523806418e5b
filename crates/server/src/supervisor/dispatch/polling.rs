//! Asks a forge that cannot send deliveries what has happened in its repositories.

use std::collections::{BTreeMap, HashMap};

use jiff::SignedDuration;
use segue_core::flows::dispatch::{
    self, ListEtags, RepositoryNews, finished_runs, linked_pull, polled_news,
};
use segue_core::model::{ForgeEvent, ForgeSource, PolledRepository, RepositoryAddress};
use segue_core::ports::{Change, Commit, ForgeApi, ForgeFault};
use segue_core::{Kind, Result, failpoint};

use super::worker::SourceWorker;

/// A repository whose issues were all closed is asked about for this long: an issue may be reopened.
const CLOSED_INTEREST: SignedDuration = SignedDuration::from_hours(24 * 30);

/// The ETags of the last answers, by the id of the repository.
pub(super) type RepositoryEtags = HashMap<u64, ListEtags>;

impl SourceWorker {
    /// Starts the tasks for what has happened in the known repositories since the last question.
    pub(super) async fn poll_repositories(
        &mut self,
        source: &ForgeSource,
        api: &dyn ForgeApi,
    ) -> Result<()> {
        let known = self.supervisor.ports.store.polled_repositories(&self.name).await?;
        let mut known: BTreeMap<u64, PolledRepository> =
            known.into_iter().map(|it| (it.address.id, it)).collect();
        for address in self.known_repositories(source, api, &known).await? {
            let record = known.remove(&address.id);
            match self.poll_repository(source, api, &address, record).await {
                Err(error) if error.kind == Kind::NotFound => {
                    let repository = &address.full_name;
                    tracing::warn!(source = %self.name, repository, %error, "a repository is gone");
                }
                polled => polled?,
            }
        }
        Ok(())
    }

    /// Returns the repositories of tracked issues, and those that rules name.
    async fn known_repositories(
        &mut self,
        source: &ForgeSource,
        api: &dyn ForgeApi,
        polled: &BTreeMap<u64, PolledRepository>,
    ) -> Result<Vec<RepositoryAddress>> {
        let context = self.context(source).await?;
        let since = self.supervisor.ports.clock.now() - CLOSED_INTEREST;
        let of_issues =
            context.tracked.iter().filter(|it| it.closed_at.is_none_or(|at| at > since));
        let mut found: BTreeMap<u64, RepositoryAddress> =
            of_issues.map(|it| (it.address.id, it.address.clone())).collect();
        for name in dispatch::named_repositories(&context.rules) {
            let is_named = |it: &&RepositoryAddress| it.full_name.eq_ignore_ascii_case(name);
            let known = found.values().chain(polled.values().map(|it| &it.address)).find(is_named);
            let address = match known {
                Some(known) => known.clone(),
                None => match api.repository_named(name).await {
                    Ok(repository) => repository.address(),
                    Err(failure) if failure.fault == ForgeFault::NotFound => {
                        tracing::warn!(source = %self.name, %failure, "a rule names no repository");
                        continue;
                    }
                    Err(failure) => return Err(failure.into()),
                },
            };
            found.insert(address.id, address);
        }
        Ok(found.into_values().collect())
    }

    async fn poll_repository(
        &mut self,
        source: &ForgeSource,
        api: &dyn ForgeApi,
        address: &RepositoryAddress,
        known: Option<PolledRepository>,
    ) -> Result<()> {
        let ports = self.supervisor.ports.clone();
        let context = self.context(source).await?;
        let etags = self.etags.get(&address.id).cloned().unwrap_or_default();
        let before = known.clone();
        let news = polled_news(&context, api, (&self.name, address), (known, etags)).await?;
        let RepositoryNews { events, open_pulls, mut record, etags } = news;
        let runs = finished_runs(&ports, &context, api, &mut record).await?;
        self.link(source, &open_pulls).await?;
        for event in events.iter().chain(&runs) {
            self.start_found(source, event).await?;
        }
        if before.as_ref() != Some(&record) {
            failpoint::hit("repository.polled.before");
            let changes = vec![Change::PutPolledRepository(Box::new(record))];
            ports.store.commit(Commit { changes, events: Vec::new() }).await?;
            failpoint::hit("repository.polled.after");
        }
        self.etags.insert(address.id, etags);
        Ok(())
    }

    /// Links pull requests that are from branches of agents to the issues of these agents.
    async fn link(&mut self, source: &ForgeSource, pulls: &[ForgeEvent]) -> Result<()> {
        for event in pulls {
            let context = self.context(source).await?;
            let linked = linked_pull(&self.supervisor.ports, &context, event).await?;
            if let Some(linked) = linked {
                self.put(Change::PutTrackedIssue(Box::new(linked))).await?;
            }
        }
        Ok(())
    }

    /// Does what the rules say about an event that Segue itself has found. Fails only if the forge
    /// cannot be asked: another failure would stop all questions.
    pub(super) async fn start_found(
        &mut self,
        source: &ForgeSource,
        event: &ForgeEvent,
    ) -> Result<()> {
        match self.start(source, event).await {
            Ok(actions) => {
                for action in actions {
                    tracing::info!(source = %self.name, %action, "found by asking the forge");
                }
                Ok(())
            }
            Err(error) if error.kind == Kind::Unavailable => Err(error),
            Err(error) => {
                let trigger = event.trigger.word();
                tracing::warn!(source = %self.name, trigger, %error, "an event starts nothing");
                Ok(())
            }
        }
    }
}
