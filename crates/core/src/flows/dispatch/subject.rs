//! Finds the issue that an event is about, and the branch of an agent.

use crate::error::Result;
use crate::model::{AgentWorktree, ForgeEvent, ForgePull, ForgeSubject, IssueRef, TrackedIssue};
use crate::ports::{ForgeApi, Ports, TaskQuery, WorktreeQuery};
use crate::rules::pull_links;

/// What a task about an event works on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WorkSubject {
    /// The issue, or the pull request if it belongs to no issue.
    pub(super) subject: ForgeSubject,
    /// The pull request of the event.
    pub(super) pull: Option<u64>,
    /// Whether the event is about the branch of one of the agents.
    pub(super) is_own_branch: bool,
}

impl WorkSubject {
    /// Returns the issue as tasks name it. Some forges number issues and pull requests separately.
    pub(super) fn issue(&self) -> Result<IssueRef> {
        match self.subject {
            ForgeSubject::Issue(number) => IssueRef::parse(&number.to_string()),
            ForgeSubject::Pull(number) => IssueRef::parse(&format!("pull-{number}")),
        }
    }
}

/// Finds what an event is about. `None` if it is about no issue and no pull request.
///
/// A pull request belongs to an issue because an agent made its branch for the issue, because it says
/// that it closes the issue, or because it links to the issue.
pub(super) async fn find(
    ports: &Ports,
    event: &ForgeEvent,
    api: Option<&dyn ForgeApi>,
    tracked: &[TrackedIssue],
) -> Result<Option<WorkSubject>> {
    if let Some(own) = find_own(ports, event, tracked).await? {
        return Ok(Some(own));
    }
    let pull = pull_of(event);
    let is_here = |it: &&TrackedIssue| it.address.id == event.repository.id;
    let known = |number: u64| tracked.iter().filter(is_here).find(|it| it.pulls.contains(&number));
    let of_issue = |subject| WorkSubject { subject, pull, is_own_branch: false };
    if let Some(known) = pull.and_then(known) {
        return Ok(Some(of_issue(known.subject)));
    }
    match (&event.pull, &event.issue) {
        (Some(pull), _) => Ok(Some(of_issue(subject_of_pull(event, pull, api).await?))),
        (None, Some(issue)) => Ok(Some(of_issue(ForgeSubject::Issue(issue.number)))),
        (None, None) => Ok(None),
    }
}

/// Finds what an event about the branch of an agent is about. `None` if it is about another branch.
pub(super) async fn find_own(
    ports: &Ports,
    event: &ForgeEvent,
    tracked: &[TrackedIssue],
) -> Result<Option<WorkSubject>> {
    let issue = own_branch(ports, event, tracked).await?;
    let pull = pull_of(event);
    Ok(issue.map(|it| WorkSubject { subject: it.subject, pull, is_own_branch: true }))
}

fn pull_of(event: &ForgeEvent) -> Option<u64> {
    let of_run = || event.ci.as_ref().and_then(|run| run.pulls.first().copied());
    event.pull.as_ref().map(|pull| pull.number).or_else(of_run)
}

async fn subject_of_pull(
    event: &ForgeEvent,
    pull: &ForgePull,
    api: Option<&dyn ForgeApi>,
) -> Result<ForgeSubject> {
    let linked = pull_links::issues_of(pull, &event.repository);
    if let Some(&issue) = linked.first() {
        return Ok(ForgeSubject::Issue(issue));
    }
    let closed = match api {
        Some(api) => api.closed_by(&event.repository.address(), pull.number).await?,
        None => Vec::new(),
    };
    Ok(closed.first().map_or(ForgeSubject::Pull(pull.number), |&issue| ForgeSubject::Issue(issue)))
}

/// Returns the issue for which an agent made the branch of an event. A branch of a fork is never that
/// of an agent, whatever its name is.
async fn own_branch(
    ports: &Ports,
    event: &ForgeEvent,
    tracked: &[TrackedIssue],
) -> Result<Option<TrackedIssue>> {
    if event.pull.as_ref().is_some_and(|pull| pull.is_fork) {
        return Ok(None);
    }
    let of_pull = event.pull.as_ref().map(|pull| pull.head_branch.as_str());
    let of_run = event.ci.as_ref().and_then(|run| run.branch.as_deref());
    let Some(branch) = of_pull.or(of_run).or(event.branch.as_deref()) else { return Ok(None) };
    let is_here = |it: &&TrackedIssue| it.address.id == event.repository.id;
    let candidates: Vec<&TrackedIssue> = tracked.iter().filter(is_here).collect();
    if branch.is_empty() || candidates.is_empty() {
        return Ok(None);
    }
    let has_branch = |it: &AgentWorktree| it.branch.as_str() == branch;
    let worktrees = ports.store.worktrees(&WorktreeQuery::default()).await?;
    for worktree in worktrees.iter().filter(|it| has_branch(it)) {
        if let Some(found) = issue_of(ports, worktree, &candidates).await? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// Returns the issue for which a worktree was made.
async fn issue_of(
    ports: &Ports,
    worktree: &AgentWorktree,
    candidates: &[&TrackedIssue],
) -> Result<Option<TrackedIssue>> {
    let Some(session) = worktree.session else { return Ok(None) };
    let query = TaskQuery { session: Some(session), newest: Some(1), ..TaskQuery::default() };
    let Some(placed) = ports.store.tasks(&query).await?.pop() else { return Ok(None) };
    let order = placed.task.order;
    let is_meant = |it: &&&TrackedIssue| {
        Some(&it.issue) == order.issue.as_ref() && Some(&it.repository) == order.repository.as_ref()
    };
    Ok(candidates.iter().find(is_meant).map(|it| (**it).clone()))
}
