//! Finds assigned issues for which no task was added, because their deliveries were missed.

use super::decide::DispatchContext;
use crate::error::Result;
use crate::model::{EventChanges, ForgeEvent, ForgeSubject, ForgeUser, TriggerKind};
use crate::ports::{AssignedIssue, ForgeApi, ListPage, ListQuery};

/// The most pages of assigned issues that one pass reads.
const MAX_PAGES: usize = 20;

/// Returns an event for each open issue that is assigned to the account and is not tracked.
pub async fn missed_assignments(
    context: &DispatchContext,
    api: &dyn ForgeApi,
) -> Result<Vec<ForgeEvent>> {
    let has_rule = context.rules.iter().any(|rule| rule.on == TriggerKind::IssueAssigned);
    let Some(account) = context.account.as_ref().filter(|_| has_rule) else {
        return Ok(Vec::new());
    };
    let mut events = Vec::new();
    let mut query = ListQuery::default();
    for _ in 0..MAX_PAGES {
        let ListPage::Page { items, next, .. } = api.assigned_issues(&query).await? else {
            break;
        };
        let missed = items.into_iter().filter(|it| it.issue.is_open && !is_tracked(context, it));
        for assigned in missed {
            events.push(event(assigned, account, api).await?);
        }
        match next {
            Some(_) => query.page = next,
            None => break,
        }
    }
    Ok(events)
}

fn is_tracked(
    context: &DispatchContext,
    AssignedIssue { repository, issue }: &AssignedIssue,
) -> bool {
    let subject = ForgeSubject::Issue(issue.number);
    context.tracked.iter().any(|it| it.address.id == repository.id && it.subject == subject)
}

/// Returns the event that the forge would have delivered. The forge does not tell who assigned the
/// issue, but only people with write access can assign one: the author of the event is unknown.
async fn event(
    AssignedIssue { repository, issue }: AssignedIssue,
    account: &ForgeUser,
    api: &dyn ForgeApi,
) -> Result<ForgeEvent> {
    let repository = api.repository(&repository).await?;
    let changes = EventChanges { assignees: vec![account.clone()], ..EventChanges::default() };
    let updated_at = issue.updated_at;
    let event = ForgeEvent::new(TriggerKind::IssueAssigned, repository);
    Ok(ForgeEvent { issue: Some(issue), changes, updated_at, ..event })
}
