//! Decides where a task works: in the folder of its project, or in a worktree.

use std::path::Path;

use crate::api::{TaskAddRequest, WorktreeRequest};
use crate::error::{Error, Result};
use crate::flows::run::{self, RunPlan};
use crate::flows::worktrees::{self, WorktreePlan};
use crate::model::{
    AgentWorktree, BranchName, BranchStart, IssueRef, Principal, RepositoryId, RepositorySource,
    Session, TaskId, TaskMode, TaskOrder, TaskWorktree, WorktreeOrder,
};
use crate::ports::Ports;

use super::start::agent_request;

/// Plans the first session of a task: the agent, and the worktree that the request or the project
/// file wants.
pub(super) async fn plan(
    ports: &Ports,
    principal: &Principal,
    (request, issue, id): (&TaskAddRequest, Option<&IssueRef>, TaskId),
    mode: TaskMode,
) -> Result<RunPlan> {
    let caller = &request.caller;
    let work = (caller.cwd.as_path(), request.prompt.as_str());
    let mut wanted = agent_request(&request.agent, work, mode, &caller.environment);
    let own = run::plan_unattended(ports, principal, &wanted).await?;
    if request.from_fork.is_some() && request.branch.is_none() {
        return Err(Error::usage("a branch from a fork needs a name")
            .hint("add `--branch` with the name of a new branch"));
    }
    if request.repo.is_none() && request.branch.is_none() {
        return Ok(own);
    }
    let worktree = wanted_worktree(request, own.worktree.as_ref(), (issue, id));
    wanted.worktree = Some(worktree);
    run::plan_unattended(ports, principal, &wanted).await
}

/// Returns the worktree that a request names. A missing branch, base or repository is that of the
/// agent's own worktree. Without any branch, the branch is named after the issue or the task.
fn wanted_worktree(
    request: &TaskAddRequest,
    own: Option<&WorktreePlan>,
    (issue, id): (Option<&IssueRef>, TaskId),
) -> WorktreeRequest {
    let own = own.map(|plan| worktree_request(&of_worktree(&plan.worktree, false)));
    let branch = request.branch.clone().or_else(|| own.as_ref().map(|own| own.branch.clone()));
    let own_base = own.as_ref().and_then(|own| own.base.clone());
    WorktreeRequest {
        branch: branch.unwrap_or_else(|| default_branch(&request.agent, issue, id)),
        base: own_base.filter(|_| request.from_fork.is_none()),
        from_fork: request.from_fork.clone(),
        setup_fork: request.setup_fork,
        repo: request.repo.clone().or_else(|| own.and_then(|own| own.repo)),
        ..WorktreeRequest::default()
    }
}

/// Returns the name of a branch for an issue, or for a task without an issue.
fn default_branch(agent: &str, issue: Option<&IssueRef>, id: TaskId) -> String {
    match issue {
        Some(issue) => format!("{agent}/issue-{}", issue.as_str()),
        None => {
            let id = id.to_string();
            // An id begins with a timestamp, which other tasks may share.
            let end = id.rsplit('-').next().unwrap_or(&id);
            format!("{agent}/task-{end}")
        }
    }
}

/// Returns the worktree of a session that a task continues, or of a new session.
/// `allows_commands_of_fork` is the choice of the user, which a worktree does not record.
pub(crate) fn of_worktree(worktree: &AgentWorktree, allows_commands_of_fork: bool) -> TaskWorktree {
    let url = match &worktree.source {
        RepositorySource::Url(url) => Some(url.clone()),
        RepositorySource::Folder(_) => None,
    };
    let (branch, start) = (worktree.branch.clone(), worktree.start.clone());
    let order = WorktreeOrder { branch, start, url, allows_commands_of_fork };
    TaskWorktree { agent: worktree.agent.clone(), order }
}

/// Returns the worktree that the first session of a task requests.
pub(super) fn worktree_request(TaskWorktree { agent, order }: &TaskWorktree) -> WorktreeRequest {
    let (base, from_fork) = match &order.start {
        BranchStart::DefaultBranch => (None, None),
        BranchStart::Base(base) => (Some(base.clone()), None),
        BranchStart::PullRequest(reference) => (None, Some(reference.to_string())),
    };
    WorktreeRequest {
        branch: order.branch.to_string(),
        base,
        from_fork,
        repo: order.url.as_ref().map(ToString::to_string),
        agent: Some(agent.clone()),
        setup_fork: order.allows_commands_of_fork,
    }
}

/// Returns the repository of a task: the one of its worktree's URL, or the project's folder.
pub(crate) fn repository(
    ports: &Ports,
    worktree: Option<&TaskWorktree>,
    folder: &Path,
) -> RepositoryId {
    if let Some(url) = worktree.and_then(|worktree| worktree.order.url.as_ref()) {
        return url.id();
    }
    let root = ports.projects.root(folder);
    RepositoryId::of_folder(root.as_deref().unwrap_or(folder))
}

/// Fails if a session with a terminal works in the worktree of a task: it may stay there for days. The
/// turn of a headless session ends, so the task waits for it.
pub(super) async fn refuse_reserved(ports: &Ports, plan: &RunPlan) -> Result<()> {
    let Some(WorktreePlan { worktree, .. }) = &plan.worktree else { return Ok(()) };
    match worktrees::owner(ports, worktree).await? {
        Some(owner) if !owner.session.headless => {
            let name = &owner.session.name;
            Err(worktrees::reserved(worktree, &owner.session)
                .hint(format!("add `--session {name}` to continue the conversation of `{name}`")))
        }
        _ => Ok(()),
    }
}

/// Fails if a task names another branch than the one on which the conversation that it continues
/// works.
pub async fn check_branch(ports: &Ports, order: &TaskOrder, session: &Session) -> Result<()> {
    let Some(wanted) = &order.branch else { return Ok(()) };
    let worktree = worktrees::of_session(ports, session).await?;
    let own = worktree.map(|worktree| worktree.branch);
    if own.as_ref() == Some(wanted) {
        return Ok(());
    }
    Err(another_branch(session, own.as_ref(), wanted))
}

fn another_branch(session: &Session, own: Option<&BranchName>, wanted: &BranchName) -> Error {
    let place = match own {
        Some(own) => format!("on branch `{own}`"),
        None => format!("in `{}`", session.cwd.display()),
    };
    let address = session.address();
    Error::conflict(format!(
        "the task continues `{address}`, which works {place}, not on `{wanted}`"
    ))
    .hint("leave `--branch` out to go on there")
    .hint(format!("run `segue rm {address}` to begin a new conversation about the issue"))
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn default_branch_is_named_after_the_issue_or_the_task() {
        let id = TaskId::new(Uuid::from_u128(0x0198_f9d2_0000_7000_8000_0123_4567_89ab));
        let issue = IssueRef::parse("#17").unwrap();
        assert_eq!(default_branch("coder", Some(&issue), id), "coder/issue-17");
        assert_eq!(default_branch("coder", None, id), "coder/task-0123456789ab");
    }
}
