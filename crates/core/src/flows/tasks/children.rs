//! Tasks that agents add: what they may ask for, and the limits of their number.

use std::collections::BTreeSet;

use jiff::SignedDuration;

use crate::api::TaskAddRequest;
use crate::error::{Error, Kind, Result};
use crate::flows::usage;
use crate::model::{
    Principal, Session, SessionId, Task, TaskId, TaskMode, TaskSpawner, TaskState, TaskStateKind,
    Usage, WorkRef,
};
use crate::ports::{
    Change, Conflict, PlacedTask, Ports, SessionActivity, SessionQuery, TaskQuery, UsageQuery,
};
use crate::rules::scope::RestrictedAction;
use crate::rules::task_tree::{TreeFacts, TreeLimits, TreeRefusal, refusal};

use super::find;

/// The beginning of the keys of tasks that agents add.
pub(crate) const AGENT_KEY_PREFIX: &str = "agent:";

/// Recent starts are those within this time.
const RECENT: SignedDuration = SignedDuration::from_mins(1);

/// At most this many children of a session are looked at, the newest ones.
const MAX_CHILDREN_READ: u32 = 1_000;

/// Returns the request of an agent as it is carried out. Fails if it asks for something that only a
/// person may ask for: a verify command runs without the agent's limits, and a worktree, another
/// conversation or a place ahead in the queue concern others.
pub(super) fn restricted(own: &Session, request: TaskAddRequest) -> Result<TaskAddRequest> {
    let asked = [
        ("--verify", request.verify.is_some()),
        ("--repo", request.repo.is_some()),
        ("--branch", request.branch.is_some()),
        ("--from-fork", request.from_fork.is_some() || request.setup_fork),
        ("--issue", request.issue.is_some()),
        ("--session", request.session.is_some()),
        ("--parent", request.parent.is_some()),
        ("--interactive", request.mode == TaskMode::Interactive),
        ("--priority", request.priority > 0),
    ];
    if let Some((flag, _)) = asked.into_iter().find(|(_, is_asked)| *is_asked) {
        return Err(Error::usage(format!("an agent may not use `{flag}` of `segue task add`"))
            .caused_by(format!("this command was called from inside `{}`", own.address()))
            .hint("leave it out"));
    }
    let key = request.key.map(|key| agent_key(own.id, &key));
    Ok(TaskAddRequest { key, ..request })
}

/// Returns the key of a task that an agent adds. Agents do not share keys with others.
pub(super) fn agent_key(own: SessionId, key: &str) -> String {
    format!("{AGENT_KEY_PREFIX}{own}:{key}")
}

/// Returns the agent that adds a task, and the task on which it works.
pub(super) async fn spawner(ports: &Ports, own: &Session) -> Result<(TaskSpawner, Option<TaskId>)> {
    let spawner = TaskSpawner { session: own.id, permission: own.permission };
    Ok((spawner, current_task(ports, own.id).await?.map(|task| task.id)))
}

/// Returns the task on which a session works.
pub(crate) async fn current_task(ports: &Ports, session: SessionId) -> Result<Option<Task>> {
    let states = Some(vec![TaskStateKind::Running, TaskStateKind::Waiting]);
    let query = TaskQuery { session: Some(session), states, ..TaskQuery::default() };
    let open = ports.store.tasks(&query).await?.into_iter().map(|it| it.task);
    Ok(open.max_by_key(|task| task.state == TaskState::Running))
}

/// Fails if an agent may not start a child now. The user may always.
pub async fn check_limits(ports: &Ports, principal: &Principal, limits: &TreeLimits) -> Result<()> {
    let Principal::Agent(own) = principal else { return Ok(()) };
    let facts = facts(ports, own, limits).await?;
    refusal(limits, &facts).map_or(Ok(()), |refusal| Err(refused(own, refusal)))
}

/// Returns the change that checks the number of children in the commit that adds a child: requests that
/// arrive together all pass a check before. Empty for the user, who may always start something.
pub fn limit_in_commit(principal: &Principal, child: WorkRef, limits: &TreeLimits) -> Vec<Change> {
    let Principal::Agent(own) = principal else { return Vec::new() };
    vec![Change::CheckChildren { parent: own.id, child, limit: limits.children }]
}

/// Returns the error of a start. If the commit found too many children, it is the error for an agent
/// that may not start a child now.
pub fn explained(principal: &Principal, error: Error) -> Error {
    match (principal, error.conflict.as_deref()) {
        (Principal::Agent(own), Some(Conflict::TooManyChildren { limit, .. })) => {
            refused(own, TreeRefusal::TooManyChildren { limit: *limit })
        }
        _ => error,
    }
}

/// Returns the error for an agent that may not start a child now.
pub fn refused(own: &Session, refusal: TreeRefusal) -> Error {
    let address = own.address();
    Error::new(Kind::Conflict, format!("`{address}` may not start another agent now"))
        .caused_by(refusal.to_string())
        .hint("wait until its children have ended, or ask a person")
}

async fn facts(ports: &Ports, own: &Session, limits: &TreeLimits) -> Result<TreeFacts> {
    let since = ports.clock.now() - RECENT;
    let query = TaskQuery {
        spawner: Some(own.id),
        newest: Some(MAX_CHILDREN_READ),
        ..TaskQuery::default()
    };
    let tasks = ports.store.tasks(&query).await?;
    let of_tasks: BTreeSet<SessionId> =
        tasks.iter().flat_map(|it| it.task.progress.sessions.clone()).collect();
    let query = SessionQuery {
        reachable_from: Some(own.id),
        activity: Some(SessionActivity::UnsettledOrChangedSince(since)),
        ..SessionQuery::default()
    };
    let sessions = ports.store.sessions(&query).await?;
    let others = || {
        sessions.iter().filter(|it| it.session.id != own.id && !of_tasks.contains(&it.session.id))
    };
    let open = tasks.iter().filter(|it| !it.task.state.has_ended()).count()
        + others().filter(|it| it.open.is_some()).count();
    let recent = tasks.iter().filter(|it| it.task.created_at >= since).count()
        + others().filter(|it| it.session.created_at >= since).count();
    let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    let ancestors = ancestors(ports, own, limits.depth).await?;
    let has_budget = limits.tokens.is_some() || limits.cost.is_some();
    let usage = match has_budget {
        true => tree_usage(ports, ancestors.last().copied().unwrap_or(own.id), limits).await?,
        false => None,
    };
    let depth = count(ancestors.len());
    Ok(TreeFacts { depth, open_children: count(open), recent_starts: count(recent), usage })
}

/// Returns the sessions above a session, the nearest first, at most as many as the limit.
async fn ancestors(ports: &Ports, own: &Session, limit: u32) -> Result<Vec<SessionId>> {
    let (mut found, mut next) = (Vec::new(), own.parent);
    while let Some(parent) = next.filter(|it| !found.contains(it) && found.len() < limit as usize) {
        found.push(parent);
        next = ports.store.session(parent).await?.and_then(|session| session.parent);
    }
    Ok(found)
}

/// Returns what a session and all sessions below it have used.
async fn tree_usage(ports: &Ports, root: SessionId, limits: &TreeLimits) -> Result<Option<Usage>> {
    let (mut all, mut layer) = (BTreeSet::from([root]), vec![root]);
    for _ in 0..=limits.depth {
        let mut next = Vec::new();
        for session in layer {
            let query = SessionQuery { reachable_from: Some(session), ..SessionQuery::default() };
            let below = ports.store.sessions(&query).await?.into_iter().map(|it| it.session.id);
            next.extend(below.filter(|id| all.insert(*id)));
        }
        layer = next;
    }
    let sessions = Some(all.into_iter().collect());
    usage::sum(ports, &UsageQuery { sessions, ..UsageQuery::default() }).await
}

/// Finds a task that a caller may see: a person all of them, an agent the task on which it works and
/// the tasks that it added.
pub async fn find_for(ports: &Ports, principal: &Principal, text: &str) -> Result<PlacedTask> {
    let Principal::Agent(own) = principal else {
        principal.allow(RestrictedAction::ReadTasks)?;
        return find(ports, text).await;
    };
    let unknown = || {
        principal.allow(RestrictedAction::Tasks).err().unwrap_or_else(|| {
            Error::not_found(format!("no task has the id or the key `{}`", text.escape_debug()))
        })
    };
    let found = match find(ports, &agent_key(own.id, text)).await {
        Ok(found) => found,
        Err(_) => find(ports, text).await.map_err(|_| unknown())?,
    };
    let is_own = found.task.session == Some(own.id) || is_child(own, &found.task);
    if is_own { Ok(found) } else { Err(unknown()) }
}

/// Finds a task that a caller may change: a person all of them, an agent the tasks that it added.
pub async fn find_to_change(
    ports: &Ports,
    principal: &Principal,
    text: &str,
) -> Result<PlacedTask> {
    let found = find_for(ports, principal, text).await?;
    match principal {
        Principal::Agent(own) if is_child(own, &found.task) => Ok(found),
        _ => principal.allow(RestrictedAction::Tasks).map(|()| found),
    }
}

fn is_child(own: &Session, task: &Task) -> bool {
    task.order.spawner.as_ref().is_some_and(|spawner| spawner.session == own.id)
}
