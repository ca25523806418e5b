//! Finds what has happened in a repository of a forge that cannot send deliveries.

mod kinds;

use std::collections::BTreeSet;

use jiff::Timestamp;

use self::kinds::{PolledIssues, PolledKind, PolledPulls};
use super::decide::DispatchContext;
use super::polled::subject_events;
use crate::error::Result;
use crate::model::{
    DispatchRule, ForgeEvent, ForgeRepository, ForgeSubject, PolledList, PolledObject,
    PolledRepository, RepositoryAddress, SourceName, TriggerKind,
};
use crate::ports::{ForgeApi, ForgeResult, ListPage, ListQuery, ListScope};
use crate::rules::dispatch::PolledChange;

/// The most pages of a list that one pass reads.
const MAX_PAGES: usize = 20;

/// The ETags of the last answers about a repository, for conditional requests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListEtags {
    pub issues: Option<String>,
    pub pulls: Option<String>,
}

/// What a forge has answered about a repository.
#[derive(Clone, Debug)]
pub struct RepositoryNews {
    /// What has happened since the last answers, oldest first. Empty after the first answers.
    pub events: Vec<ForgeEvent>,
    /// The open pull requests of the first answer. They may be from branches of agents.
    pub open_pulls: Vec<ForgeEvent>,
    /// The record for the next comparison. It is stored after the events are processed.
    pub record: PolledRepository,
    /// Valid together with the record.
    pub etags: ListEtags,
}

/// Returns the repositories that rules name without `*`.
pub fn named_repositories(rules: &[DispatchRule]) -> BTreeSet<&str> {
    let named = rules.iter().filter_map(|rule| rule.when.repository.as_deref());
    named.filter(|name| !name.contains('*') && name.contains('/')).collect()
}

/// Asks a forge what has happened in a repository since the last answers. The first answers start
/// nothing: what happened before is not known.
pub async fn polled_news(
    context: &DispatchContext,
    api: &dyn ForgeApi,
    (source, address): (&SourceName, &RepositoryAddress),
    (known, etags): (Option<PolledRepository>, ListEtags),
) -> Result<RepositoryNews> {
    match known {
        Some(record) => compare(context, api, record, etags).await,
        None => begin(api, source, address).await,
    }
}

/// Records the state of a repository.
async fn begin(
    api: &dyn ForgeApi,
    source: &SourceName,
    address: &RepositoryAddress,
) -> Result<RepositoryNews> {
    let place = (api, address);
    let (issues, _) = first_list::<PolledIssues>(place).await?;
    let (pulls, open) = first_list::<PolledPulls>(place).await?;
    let repository = api.repository(address).await?;
    let event = |pull| PolledPulls::event(pull, TriggerKind::PullSynchronized, &repository);
    let (source, address) = (source.clone(), repository.address());
    let runs = std::collections::BTreeMap::new();
    Ok(RepositoryNews {
        events: Vec::new(),
        open_pulls: open.iter().map(event).collect(),
        record: PolledRepository { source, address, issues, pulls, runs },
        etags: ListEtags::default(),
    })
}

/// Returns the first record of a list, and its open objects.
async fn first_list<K: PolledKind>(
    place: (&dyn ForgeApi, &RepositoryAddress),
) -> Result<(PolledList, Vec<K::Item>)> {
    let first = K::page(place, ListScope::All, &ListQuery::default()).await?;
    let first = match first {
        ListPage::Page { items, .. } => newest::<K>(&items),
        ListPage::NotModified => None,
    };
    // Not every forge sorts its lists by the last change.
    let later = changed::<K>(place, first, None).await?;
    let newest = first.max(later.and_then(|(items, _)| newest::<K>(&items)));
    let open = pages::<K>(place, (ListScope::Open, None, None)).await?;
    let open = open.map(|(items, _)| items).unwrap_or_default();
    let known = open.iter().map(remembered::<K>).collect();
    Ok((PolledList::begun(newest, known), open))
}

fn newest<K: PolledKind>(items: &[K::Item]) -> Option<Timestamp> {
    items.iter().filter_map(|it| K::remembered(it).updated_at).max()
}

fn remembered<K: PolledKind>(item: &K::Item) -> (u64, PolledObject) {
    (K::subject(item).number(), K::remembered(item))
}

/// Returns the objects that have changed since a time, and the ETag of the answer. `None` if nothing
/// has changed since the answer with that ETag.
async fn changed<K: PolledKind>(
    place: (&dyn ForgeApi, &RepositoryAddress),
    since: Option<Timestamp>,
    etag: Option<String>,
) -> ForgeResult<Option<(Vec<K::Item>, Option<String>)>> {
    let found = pages::<K>(place, (ListScope::All, since, etag)).await?;
    Ok(found.map(|(mut items, etag)| {
        items.retain(|it| since.is_none() || K::remembered(it).updated_at >= since);
        (items, etag)
    }))
}

/// Reads a list until an object is older than wanted. `None` if the first page has not changed.
async fn pages<K: PolledKind>(
    place: (&dyn ForgeApi, &RepositoryAddress),
    (scope, since, etag): (ListScope, Option<Timestamp>, Option<String>),
) -> ForgeResult<Option<(Vec<K::Item>, Option<String>)>> {
    let mut query = ListQuery { since, page: None, etag };
    let (mut all, mut first_etag) = (Vec::new(), None);
    for _ in 0..MAX_PAGES {
        let page = K::page(place, scope, &query).await?;
        let ListPage::Page { items, next, etag } = page else { return Ok(None) };
        first_etag = if query.page.is_none() { etag } else { first_etag };
        let is_old = |it: &K::Item| since.is_some() && K::remembered(it).updated_at < since;
        let has_old = items.iter().any(is_old);
        all.extend(items);
        if next.is_none() || has_old {
            break;
        }
        query = ListQuery { page: next, etag: None, ..query };
    }
    Ok(Some((all, first_etag)))
}

/// Compares the answers of a forge with the last ones.
async fn compare(
    context: &DispatchContext,
    api: &dyn ForgeApi,
    mut record: PolledRepository,
    mut etags: ListEtags,
) -> Result<RepositoryNews> {
    let address = record.address.clone();
    let place = (api, &address);
    let issues =
        changed::<PolledIssues>(place, record.issues.changed_at, etags.issues.clone()).await?;
    let pulls = changed::<PolledPulls>(place, record.pulls.changed_at, etags.pulls.clone()).await?;
    let mut events = Vec::new();
    if issues.is_some() || pulls.is_some() {
        let repository = api.repository(&address).await?;
        let asked = NewsQuestion { context, api, repository: &repository };
        if let Some((items, etag)) = issues {
            events.extend(asked.events::<PolledIssues>(&items, &record.issues).await?);
            record.issues.remember(items.iter().map(remembered::<PolledIssues>).collect());
            etags.issues = etag;
        }
        if let Some((items, etag)) = pulls {
            events.extend(asked.events::<PolledPulls>(&items, &record.pulls).await?);
            record.pulls.remember(items.iter().map(remembered::<PolledPulls>).collect());
            etags.pulls = etag;
        }
        record.address = repository.address();
    }
    events.sort_by_key(|event| event.updated_at);
    Ok(RepositoryNews { events, open_pulls: Vec::new(), record, etags })
}

/// What is needed to turn answers into events.
struct NewsQuestion<'a> {
    context: &'a DispatchContext,
    api: &'a dyn ForgeApi,
    repository: &'a ForgeRepository,
}

impl NewsQuestion<'_> {
    /// Returns the events that listed objects show.
    async fn events<K: PolledKind>(
        &self,
        items: &[K::Item],
        before: &PolledList,
    ) -> Result<Vec<ForgeEvent>> {
        let mut events = Vec::new();
        for item in items {
            let number = K::subject(item).number();
            let known = before.known.get(&number);
            for change in K::changes(known, item, before.changed_at) {
                events.extend(self.event::<K>(item, change, before.changed_at).await?);
            }
            let updated_at = K::remembered(item).updated_at;
            if K::is_open(item) && !before.is_settled(number, updated_at) {
                events.extend(self.comments::<K>(item, before.changed_at).await?);
            }
        }
        Ok(events)
    }

    /// Returns the event of a change. `None` if it is not certain, or if another question finds it.
    async fn event<K: PolledKind>(
        &self,
        item: &K::Item,
        change: PolledChange,
        since: Option<Timestamp>,
    ) -> Result<Option<ForgeEvent>> {
        if self.is_assigned_to_account(&change) {
            return Ok(None);
        }
        let has_rule = self.has_rule(&[change.trigger]);
        let subject = K::subject(item);
        if change.needs_proof && !has_rule && !self.is_tracked(subject) {
            return Ok(None);
        }
        let event = K::event(item, change.trigger, self.repository);
        let actor = match &change.author_of {
            None => K::author(item),
            Some(of) if has_rule || change.needs_proof => {
                let address = self.repository.address();
                self.api.author_of_change(&address, subject, of, since).await?
            }
            Some(_) => None,
        };
        if change.needs_proof && actor.is_none() {
            return Ok(None);
        }
        let updated_at = change.at.or(event.updated_at);
        Ok(Some(ForgeEvent { actor, changes: change.changes, updated_at, ..event }))
    }

    /// Returns whether a change is an assignment to the account, which `missed_assignments` finds.
    fn is_assigned_to_account(&self, change: &PolledChange) -> bool {
        let account = self.context.account.as_ref();
        change.changes.assignees.iter().any(|it| account.is_some_and(|account| it.is_same(account)))
    }

    /// Returns the comments and reviews on an object that is not tracked. Those on tracked issues are
    /// asked for one by one.
    async fn comments<K: PolledKind>(
        &self,
        item: &K::Item,
        since: Option<Timestamp>,
    ) -> Result<Vec<ForgeEvent>> {
        let subject = K::subject(item);
        if !self.has_rule(K::COMMENT_TRIGGERS) || self.is_tracked(subject) {
            return Ok(Vec::new());
        }
        let address = self.repository.address();
        subject_events(self.api, (&address, self.repository), subject, since).await
    }

    fn has_rule(&self, triggers: &[TriggerKind]) -> bool {
        self.context.rules.iter().any(|rule| triggers.contains(&rule.on))
    }

    fn is_tracked(&self, subject: ForgeSubject) -> bool {
        let here = self.context.tracked.iter().filter(|it| it.address.id == self.repository.id);
        let is_pull = |pulls: &[u64]| match subject {
            ForgeSubject::Pull(number) => pulls.contains(&number),
            ForgeSubject::Issue(_) => false,
        };
        here.into_iter().any(|it| it.subject == subject || is_pull(&it.pulls))
    }
}
