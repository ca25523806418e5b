//! Adds a task to the queue.

use crate::api::TaskAddRequest;
use crate::error::{Error, Result};
use crate::failpoint;
use crate::flows::run::RunPlan;
use crate::flows::{select, unattended, worktrees};
use crate::model::{
    BranchName, IssueRef, Principal, Session, Task, TaskId, TaskKey, TaskMode, TaskOrder,
    TaskPriority, WorkRef,
};
use crate::ports::{Change, Commit, Conflict, PlacedTask, Ports, TaskQuery};
use crate::rules::scope::RestrictedAction;
use crate::rules::task_tree::TreeLimits;

use super::children::{self, AGENT_KEY_PREFIX};
use super::record::event;
use super::{by_id, find, place, prompt};

/// The beginning of the keys of tasks of plans.
pub(crate) const PLAN_KEY_PREFIX: &str = "plan:";

/// The largest prompt of a task.
const MAX_PROMPT_BYTES: usize = 16 * 1024 * 1024;

/// Adds a task. An agent adds a child, within limits. `same_commit` returns changes that are recorded
/// in the same commit. If a task with the key of the request exists, returns that task and records
/// nothing.
///
/// The agent must exist, and the project that defines it must be trusted, so that a mistake is
/// reported here and not when the task starts.
pub async fn add(
    ports: &Ports,
    principal: &Principal,
    request: TaskAddRequest,
    limits: &TreeLimits,
    same_commit: impl FnOnce(&Task) -> Result<Vec<Change>>,
) -> Result<PlacedTask> {
    let request = match principal {
        Principal::Agent(own) => children::restricted(own, request)?,
        _ => {
            principal.allow(RestrictedAction::Tasks)?;
            refuse_reserved_key(request.key.as_deref())?;
            request
        }
    };
    let key = request.key.as_deref().map(TaskKey::parse).transpose()?;
    if let Some(known) = with_key(ports, key.as_ref()).await? {
        return Ok(known);
    }
    children::check_limits(ports, principal, limits).await?;
    let id = TaskId::new(ports.clock.new_id());
    let order = order(ports, principal, request, id).await?;
    let task = Task { key, ..Task::queued(id, order, ports.clock.now()) };
    prompt::check(ports, &task).await?;
    let mut changes = children::limit_in_commit(principal, WorkRef::Task(id), limits);
    changes.push(Change::AddTask(Box::new(task.clone())));
    changes.extend(same_commit(&task)?);
    let commit = Commit { changes, events: vec![event(ports, &task, None)] };
    failpoint::hit("task.add.before");
    let added = ports.store.commit(commit).await;
    failpoint::hit("task.add.after");
    match added {
        // Another request with the same key was faster.
        Err(error) if is_key_taken(&error) => {
            with_key(ports, task.key.as_ref()).await?.ok_or(error)
        }
        Err(error) => Err(children::explained(principal, error)),
        Ok(_) => by_id(ports, task.id).await,
    }
}

/// Fails if a person uses a key of a task that a plan or an agent could add.
fn refuse_reserved_key(key: Option<&str>) -> Result<()> {
    let reserved = [PLAN_KEY_PREFIX, AGENT_KEY_PREFIX];
    match reserved.into_iter().find(|it| key.is_some_and(|key| key.starts_with(it))) {
        None => Ok(()),
        Some(prefix) => Err(Error::usage(format!("`--key` must not begin with `{prefix}`"))
            .caused_by("these keys are for the tasks of plans and agents")),
    }
}

async fn with_key(ports: &Ports, key: Option<&TaskKey>) -> Result<Option<PlacedTask>> {
    let Some(key) = key else { return Ok(None) };
    Ok(ports.store.tasks(&TaskQuery::key(key)).await?.pop())
}

fn is_key_taken(error: &Error) -> bool {
    matches!(error.conflict.as_deref(), Some(Conflict::TaskKeyTaken { .. }))
}

/// Checks a request. Records the fleet of the agent, and nothing else.
async fn order(
    ports: &Ports,
    principal: &Principal,
    request: TaskAddRequest,
    id: TaskId,
) -> Result<TaskOrder> {
    check_prompt(&request.prompt)?;
    let priority = TaskPriority::new(request.priority)?;
    let issue = request.issue.as_deref().map(IssueRef::parse).transpose()?;
    let branch = request.branch.as_deref().map(BranchName::parse).transpose()?;
    let (spawner, parent) = match (principal, &request.parent) {
        (Principal::Agent(own), _) => {
            let (spawner, parent) = children::spawner(ports, own).await?;
            (Some(spawner), parent)
        }
        (_, Some(parent)) => (None, Some(find(ports, parent).await?.task.id)),
        (_, None) => (None, None),
    };
    let continued = continued_session(ports, principal, &request).await?;
    let mode = continued.as_ref().map_or(request.mode, TaskMode::of);
    let plan = place::plan(ports, principal, (&request, issue.as_ref(), id), mode).await?;
    let worktree = match &continued {
        Some(session) => worktrees::of_session(ports, session).await?,
        None => plan.worktree.as_ref().map(|plan| plan.worktree.clone()),
    };
    let worktree = worktree.map(|worktree| place::of_worktree(&worktree, request.setup_fork));
    let folder = ports.machine.folder(&request.caller.cwd)?.real_path;
    let has_repository = issue.is_some() || worktree.is_some();
    let order = TaskOrder {
        fleet: plan.fleet().clone(),
        agent: plan.agent_name()?.clone(),
        account: plan.account(),
        repository: has_repository.then(|| place::repository(ports, worktree.as_ref(), &folder)),
        folder,
        issue,
        branch,
        worktree,
        prompt: request.prompt,
        parent,
        priority,
        verify: request.verify,
        mode,
        continues: continued.map(|session| session.id),
        reply: request.reply,
        vendor: None,
        spawner,
        plan: None,
    };
    check_place(ports, &order, &plan).await?;
    Ok(order)
}

/// Fails if the task names another branch than that of the conversation about its issue, or if
/// another session works in its worktree.
async fn check_place(ports: &Ports, order: &TaskOrder, plan: &RunPlan) -> Result<()> {
    if order.continues.is_some() {
        return Ok(());
    }
    let known = match order.issue_key() {
        Some(key) => ports.store.issue_session(&key).await?,
        None => None,
    };
    let session = match known {
        Some(known) => ports.store.session(known).await?,
        None => None,
    };
    match session {
        Some(session) => place::check_branch(ports, order, &session).await,
        None => place::refuse_reserved(ports, plan).await,
    }
}

/// Fails if no agent could get this prompt.
pub(crate) fn check_prompt(prompt: &str) -> Result<()> {
    let hint = "put it into a file, and ask the agent to read that file";
    if prompt.trim().is_empty() {
        return Err(Error::usage("the prompt is empty").hint("write a text, or `-` for stdin"));
    }
    if prompt.len() > MAX_PROMPT_BYTES {
        let length = prompt.len();
        let message = format!("the prompt has {length} bytes, more than {MAX_PROMPT_BYTES}");
        return Err(Error::usage(message).hint(hint));
    }
    if prompt.contains('\0') {
        return Err(Error::usage("the prompt has a zero byte").hint(hint));
    }
    Ok(())
}

/// Returns the session that the request names. The task continues its conversation.
async fn continued_session(
    ports: &Ports,
    principal: &Principal,
    request: &TaskAddRequest,
) -> Result<Option<Session>> {
    let Some(name) = &request.session else { return Ok(None) };
    if request.repo.is_some() || request.branch.is_some() {
        return Err(Error::usage("a task that continues a session works where that session works")
            .hint("leave `--repo` and `--branch` out, or `--session`"));
    }
    let found = select::find(ports, principal, name, &request.caller.cwd).await?.session;
    if found.agent.as_ref().map(|agent| agent.as_str()) != Some(request.agent.as_str()) {
        let address = found.address();
        return Err(Error::usage(format!("`{address}` is not a session of `{}`", request.agent))
            .hint("name a session of the agent, or leave `--session` out"));
    }
    if found.headless {
        let vendor = ports.vendors.of(&found)?;
        let environment = &request.caller.environment;
        unattended::check(ports, vendor.as_ref(), found.permission, environment)?;
    }
    Ok(Some(found))
}
