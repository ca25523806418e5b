//! Issues and pull requests in lists.

use async_trait::async_trait;
use jiff::Timestamp;

use crate::model::{
    ForgeEvent, ForgeRepository, ForgeSubject, ForgeUser, ListedIssue, ListedPull, PolledObject,
    PullState, RepositoryAddress, TriggerKind,
};
use crate::ports::{ForgeApi, ForgeResult, ListPage, ListQuery, ListScope};
use crate::rules::dispatch::{
    PolledChange, issue_changes, polled_issue, polled_pull, pull_changes,
};

/// A kind of objects that a polled forge lists.
#[async_trait]
pub(super) trait PolledKind {
    type Item: Send + Sync;

    /// The triggers of comments and reviews.
    const COMMENT_TRIGGERS: &'static [TriggerKind];

    async fn page(
        place: (&dyn ForgeApi, &RepositoryAddress),
        scope: ListScope,
        query: &ListQuery,
    ) -> ForgeResult<ListPage<Self::Item>>;

    fn subject(item: &Self::Item) -> ForgeSubject;

    fn is_open(item: &Self::Item) -> bool;

    /// Returns the user who opened the object.
    fn author(item: &Self::Item) -> Option<ForgeUser>;

    /// Returns what is remembered until the next answer.
    fn remembered(item: &Self::Item) -> PolledObject;

    fn changes(
        known: Option<&PolledObject>,
        item: &Self::Item,
        since: Option<Timestamp>,
    ) -> Vec<PolledChange>;

    /// Returns an event about the object.
    fn event(item: &Self::Item, trigger: TriggerKind, repository: &ForgeRepository) -> ForgeEvent;
}

pub(super) enum PolledIssues {}

#[async_trait]
impl PolledKind for PolledIssues {
    type Item = ListedIssue;

    const COMMENT_TRIGGERS: &'static [TriggerKind] = &[TriggerKind::IssueCommented];

    async fn page(
        (api, address): (&dyn ForgeApi, &RepositoryAddress),
        scope: ListScope,
        query: &ListQuery,
    ) -> ForgeResult<ListPage<ListedIssue>> {
        api.changed_issues(address, scope, query).await
    }

    fn subject(item: &ListedIssue) -> ForgeSubject {
        ForgeSubject::Issue(item.issue.number)
    }

    fn is_open(item: &ListedIssue) -> bool {
        item.issue.is_open
    }

    fn author(item: &ListedIssue) -> Option<ForgeUser> {
        item.issue.author.clone()
    }

    fn remembered(item: &ListedIssue) -> PolledObject {
        polled_issue(item)
    }

    fn changes(
        known: Option<&PolledObject>,
        item: &ListedIssue,
        since: Option<Timestamp>,
    ) -> Vec<PolledChange> {
        issue_changes(known, item, since)
    }

    fn event(item: &ListedIssue, trigger: TriggerKind, repository: &ForgeRepository) -> ForgeEvent {
        let (issue, updated_at) = (Some(item.issue.clone()), item.issue.updated_at);
        ForgeEvent { issue, updated_at, ..ForgeEvent::new(trigger, repository.clone()) }
    }
}

pub(super) enum PolledPulls {}

#[async_trait]
impl PolledKind for PolledPulls {
    type Item = ListedPull;

    const COMMENT_TRIGGERS: &'static [TriggerKind] =
        &[TriggerKind::PullCommented, TriggerKind::PullReviewSubmitted];

    async fn page(
        (api, address): (&dyn ForgeApi, &RepositoryAddress),
        scope: ListScope,
        query: &ListQuery,
    ) -> ForgeResult<ListPage<ListedPull>> {
        api.changed_pulls(address, scope, query).await
    }

    fn subject(item: &ListedPull) -> ForgeSubject {
        ForgeSubject::Pull(item.pull.number)
    }

    fn is_open(item: &ListedPull) -> bool {
        item.pull.state == PullState::Open
    }

    fn author(item: &ListedPull) -> Option<ForgeUser> {
        item.pull.author.clone()
    }

    fn remembered(item: &ListedPull) -> PolledObject {
        polled_pull(item)
    }

    fn changes(
        known: Option<&PolledObject>,
        item: &ListedPull,
        since: Option<Timestamp>,
    ) -> Vec<PolledChange> {
        pull_changes(known, item, since)
    }

    fn event(item: &ListedPull, trigger: TriggerKind, repository: &ForgeRepository) -> ForgeEvent {
        let (pull, updated_at) = (item.pull.clone(), item.pull.updated_at);
        let branch = Some(pull.head_branch.clone()).filter(|branch| !branch.is_empty());
        let event = ForgeEvent::new(trigger, repository.clone());
        ForgeEvent { pull: Some(pull), branch, updated_at, ..event }
    }
}
