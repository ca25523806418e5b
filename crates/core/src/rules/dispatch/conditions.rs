//! Whether an event meets the conditions of a rule.

use crate::model::{DispatchConditions, DispatchRule, ForgeEvent, ForgeUser, TriggerKind};

/// Returns why a rule is not about an event. `None` if it is. `account` is the account of the
/// source's token.
pub fn mismatch(
    rule: &DispatchRule,
    event: &ForgeEvent,
    account: Option<&ForgeUser>,
) -> Option<String> {
    if rule.on != event.trigger {
        return Some(format!("it is about `{}`", rule.on.word()));
    }
    let DispatchConditions { label, branch, author, repository, assignee } = &rule.when;
    wrong_label(label.as_deref(), event)
        .or_else(|| wrong_branch(branch.as_deref(), event))
        .or_else(|| wrong_author(author.as_deref(), event))
        .or_else(|| wrong_repository(repository.as_deref(), event))
        .or_else(|| wrong_assignee(assignee.as_deref(), event, account))
}

fn wrong_label(wanted: Option<&str>, event: &ForgeEvent) -> Option<String> {
    let wanted = wanted?;
    let labels = match event.trigger {
        TriggerKind::IssueLabeled => &event.changes.labels,
        _ => labels_of(event)?,
    };
    let has_label = labels.iter().any(|label| label.eq_ignore_ascii_case(wanted));
    (!has_label).then(|| format!("it needs the label `{wanted}`"))
}

fn labels_of(event: &ForgeEvent) -> Option<&Vec<String>> {
    const NONE: &Vec<String> = &Vec::new();
    let of_pull = event.pull.as_ref().map(|it| &it.labels);
    Some(of_pull.or(event.issue.as_ref().map(|it| &it.labels)).unwrap_or(NONE))
}

fn wrong_branch(wanted: Option<&str>, event: &ForgeEvent) -> Option<String> {
    let wanted = wanted?;
    let of_pull = event.pull.as_ref().map(|pull| pull.head_branch.as_str());
    let of_run = event.ci.as_ref().and_then(|run| run.branch.as_deref());
    let branch = event.branch.as_deref().or(of_pull).or(of_run).unwrap_or_default();
    (!is_like(branch, wanted)).then(|| format!("it needs the branch `{wanted}`"))
}

fn wrong_author(wanted: Option<&str>, event: &ForgeEvent) -> Option<String> {
    let wanted = wanted?;
    let author = author_of(event).map(|author| author.login.as_str()).unwrap_or_default();
    (!author.eq_ignore_ascii_case(wanted)).then(|| format!("it needs the author `{wanted}`"))
}

/// Returns who wrote the newest object of an event.
fn author_of(event: &ForgeEvent) -> Option<&ForgeUser> {
    let of_comment = event.comment.as_ref().map(|it| it.author.as_ref());
    let of_review = event.review.as_ref().map(|it| it.author.as_ref());
    let of_pull = event.pull.as_ref().map(|it| it.author.as_ref());
    let of_issue = event.issue.as_ref().map(|it| it.author.as_ref());
    of_comment.or(of_review).or(of_pull).or(of_issue).flatten()
}

fn wrong_repository(wanted: Option<&str>, event: &ForgeEvent) -> Option<String> {
    let wanted = wanted?;
    let name = event.repository.full_name.to_ascii_lowercase();
    let is_same = is_like(&name, &wanted.to_ascii_lowercase());
    (!is_same).then(|| format!("it needs the repository `{wanted}`"))
}

/// An assignment or a request for a review is work for one user. Without a condition, that is the
/// account of the token; if the account is not known, it is any user.
fn wrong_assignee(
    wanted: Option<&str>,
    event: &ForgeEvent,
    account: Option<&ForgeUser>,
) -> Option<String> {
    let users = match event.trigger {
        TriggerKind::IssueAssigned => &event.changes.assignees,
        TriggerKind::PullReviewRequested => &event.changes.reviewers,
        _ => return None,
    };
    let is_meant = |user: &ForgeUser| match (wanted, account) {
        (Some(login), _) => user.login.eq_ignore_ascii_case(login),
        (None, Some(account)) => user.is_same(account),
        (None, None) => true,
    };
    let login = wanted.or(account.map(|account| account.login.as_str())).unwrap_or_default();
    (!users.iter().any(is_meant)).then(|| format!("it is work for `{login}`"))
}

/// Returns whether a text is like a pattern, in which `*` stands for any characters.
pub(super) fn is_like(text: &str, pattern: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}
