//! What has happened to an issue or a pull request between two answers of a polled forge.

use jiff::Timestamp;

use crate::model::{
    EventChanges, ForgeUser, ListedIssue, ListedPull, PolledObject, PullState, SubjectChange,
    TriggerKind,
};

/// A change that the second of two answers shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolledChange {
    pub trigger: TriggerKind,
    pub changes: EventChanges,
    /// When the object was opened or closed. `None` for the time of its last change.
    pub at: Option<Timestamp>,
    /// Whose author is looked for. `None` if the author of the object made the change.
    pub author_of: Option<SubjectChange>,
    /// Whether the change is only certain if its author is found.
    pub needs_proof: bool,
}

impl PolledChange {
    fn new(trigger: TriggerKind, author_of: Option<SubjectChange>) -> Self {
        let changes = EventChanges::default();
        Self { trigger, changes, at: None, author_of, needs_proof: false }
    }
}

/// Returns the changes of an issue. `since` is the time of the newest change that was known before.
pub fn issue_changes(
    known: Option<&PolledObject>,
    listed: &ListedIssue,
    since: Option<Timestamp>,
) -> Vec<PolledChange> {
    let ListedIssue { issue, created_at, closed_at } = listed;
    let was_open = known.map(|known| known.state == PullState::Open);
    let is_new = known.is_none() && is_at_or_after(*created_at, since);
    let mut found = Vec::new();
    if was_open == Some(false) && issue.is_open || was_open.is_none() && issue.is_open && !is_new {
        let reopened = PolledChange::new(TriggerKind::IssueReopened, Some(SubjectChange::Reopened));
        found.push(PolledChange { needs_proof: known.is_none(), ..reopened });
    }
    if known.is_some() || is_new {
        let labels = gained(&issue.labels, known.map_or(&[], |it| &it.labels));
        found.extend(labels.map(|label| labeled(label)));
        let assignees = gained_users(&issue.assignees, known.map_or(&[], |it| &it.assignees));
        found.extend(assignees.map(assigned));
    }
    if !issue.is_open && was_closed_now(was_open, *closed_at, since) {
        let closed = PolledChange::new(TriggerKind::IssueClosed, Some(SubjectChange::Closed));
        found.push(PolledChange { at: *closed_at, ..closed });
    }
    found
}

/// Returns the changes of a pull request. `since` is the time of the newest change that was known
/// before.
pub fn pull_changes(
    known: Option<&PolledObject>,
    listed: &ListedPull,
    since: Option<Timestamp>,
) -> Vec<PolledChange> {
    let ListedPull { pull, created_at, closed_at, reviewers } = listed;
    let is_open = pull.state == PullState::Open;
    let is_new = known.is_none() && is_at_or_after(*created_at, since);
    let mut found = Vec::new();
    let is_ready = known.is_some_and(|known| known.is_draft) && !pull.is_draft;
    if is_open && (is_ready || is_new && !pull.is_draft) {
        let opened = PolledChange::new(TriggerKind::PullOpened, None);
        found.push(PolledChange { at: created_at.filter(|_| is_new), ..opened });
    }
    let heads = known.and_then(|known| known.head.as_ref()).zip(pull.head_sha.as_ref());
    if is_open && heads.is_some_and(|(before, now)| before != now) {
        found.push(PolledChange::new(TriggerKind::PullSynchronized, None));
    }
    if is_open && (known.is_some() || is_new) {
        let requested = gained_users(reviewers, known.map_or(&[], |it| &it.reviewers));
        found.extend(requested.map(review_requested));
    }
    let was_open = known.map(|known| known.state == PullState::Open);
    if !is_open && was_closed_now(was_open, *closed_at, since) {
        let trigger = match pull.state {
            PullState::Merged => TriggerKind::PullMerged,
            PullState::Open | PullState::Closed => TriggerKind::PullClosed,
        };
        let closed = PolledChange::new(trigger, Some(SubjectChange::Closed));
        found.push(PolledChange { at: *closed_at, ..closed });
    }
    found
}

/// Returns whether a closed object was closed since the last answer. An object that is not known was
/// closed before, or was opened and closed since.
fn was_closed_now(
    was_open: Option<bool>,
    closed_at: Option<Timestamp>,
    since: Option<Timestamp>,
) -> bool {
    was_open.unwrap_or_else(|| is_at_or_after(closed_at, since))
}

fn is_at_or_after(at: Option<Timestamp>, since: Option<Timestamp>) -> bool {
    since.is_none() || at.is_some() && at >= since
}

fn gained<'a>(now: &'a [String], before: &'a [String]) -> impl Iterator<Item = &'a String> {
    now.iter().filter(|name| !before.contains(name))
}

fn gained_users<'a>(
    now: &'a [ForgeUser],
    before: &'a [String],
) -> impl Iterator<Item = &'a ForgeUser> {
    now.iter().filter(|user| !before.contains(&user.login))
}

fn labeled(label: &str) -> PolledChange {
    let change = SubjectChange::Labeled(label.to_owned());
    let changes = EventChanges { labels: vec![label.to_owned()], ..EventChanges::default() };
    PolledChange { changes, ..PolledChange::new(TriggerKind::IssueLabeled, Some(change)) }
}

fn assigned(user: &ForgeUser) -> PolledChange {
    let change = SubjectChange::Assigned(user.clone());
    let changes = EventChanges { assignees: vec![user.clone()], ..EventChanges::default() };
    PolledChange { changes, ..PolledChange::new(TriggerKind::IssueAssigned, Some(change)) }
}

fn review_requested(user: &ForgeUser) -> PolledChange {
    let change = SubjectChange::ReviewRequested(user.clone());
    let changes = EventChanges { reviewers: vec![user.clone()], ..EventChanges::default() };
    PolledChange { changes, ..PolledChange::new(TriggerKind::PullReviewRequested, Some(change)) }
}

/// Returns how an issue is remembered.
pub fn polled_issue(ListedIssue { issue, .. }: &ListedIssue) -> PolledObject {
    PolledObject {
        state: if issue.is_open { PullState::Open } else { PullState::Closed },
        is_draft: false,
        head: None,
        labels: issue.labels.clone(),
        assignees: logins(&issue.assignees),
        reviewers: Vec::new(),
        updated_at: issue.updated_at,
        is_settled: false,
    }
}

/// Returns how a pull request is remembered.
pub fn polled_pull(ListedPull { pull, reviewers, .. }: &ListedPull) -> PolledObject {
    PolledObject {
        state: pull.state,
        is_draft: pull.is_draft,
        head: pull.head_sha.clone(),
        labels: Vec::new(),
        assignees: Vec::new(),
        reviewers: logins(reviewers),
        updated_at: pull.updated_at,
        is_settled: false,
    }
}

fn logins(users: &[ForgeUser]) -> Vec<String> {
    users.iter().map(|user| user.login.clone()).collect()
}

#[cfg(test)]
mod tests;
