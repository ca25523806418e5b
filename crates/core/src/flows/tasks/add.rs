//! Adds a task to the queue.

use std::path::Path;

use crate::api::TaskAddRequest;
use crate::error::{Error, Result};
use crate::failpoint;
use crate::flows::{run, select};
use crate::model::{
    IssueRef, Principal, RepositoryId, SessionId, Task, TaskId, TaskKey, TaskMode, TaskOrder,
    TaskPriority, TaskProgress, TaskState,
};
use crate::ports::{Change, Commit, Conflict, PlacedTask, Ports, TaskQuery};
use crate::rules::scope::RestrictedAction;

use super::record::event;
use super::start::agent_request;
use super::{by_id, find, prompt};

/// The largest prompt of a task.
const MAX_PROMPT_BYTES: usize = 16 * 1024 * 1024;

/// Adds a task. `same_commit` returns changes that are recorded in the same commit. Returns the known task
/// if the request has its key; then nothing is recorded.
///
/// The agent must exist, and the project that defines it must be trusted, so that a mistake is
/// reported here and not when the task starts.
pub async fn add(
    ports: &Ports,
    principal: &Principal,
    request: TaskAddRequest,
    same_commit: impl FnOnce(&Task) -> Result<Vec<Change>>,
) -> Result<PlacedTask> {
    principal.allow(RestrictedAction::Tasks)?;
    let key = request.key.as_deref().map(TaskKey::parse).transpose()?;
    if let Some(known) = with_key(ports, key.as_ref()).await? {
        return Ok(known);
    }
    let task = Task {
        id: TaskId::new(ports.clock.new_id()),
        key,
        order: order(ports, principal, request).await?,
        state: TaskState::Queued,
        attempts: 0,
        progress: TaskProgress::default(),
        session: None,
        result: None,
        created_at: ports.clock.now(),
        started_at: None,
        ended_at: None,
    };
    prompt::check(ports, &task).await?;
    let mut changes = vec![Change::AddTask(Box::new(task.clone()))];
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
        Err(error) => Err(error),
        Ok(_) => by_id(ports, task.id).await,
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
async fn order(ports: &Ports, principal: &Principal, request: TaskAddRequest) -> Result<TaskOrder> {
    refuse_unbuilt(&request)?;
    check_prompt(&request.prompt)?;
    let TaskAddRequest { caller, prompt, verify, mode, .. } = &request;
    let priority = TaskPriority::new(request.priority)?;
    let issue = request.issue.as_deref().map(IssueRef::parse).transpose()?;
    let parent = match &request.parent {
        Some(parent) => Some(find(ports, parent).await?.task.id),
        None => None,
    };
    let (continues, mode) = continued_session(ports, principal, &request, *mode).await?;
    let work = (caller.cwd.as_path(), prompt.as_str());
    let wanted = agent_request(&request.agent, work, mode, &caller.environment);
    let plan = run::plan(ports, principal, &wanted).await.map_err(in_worktree)?;
    if plan.worktree.is_some() {
        return Err(worktrees_are_not_built(&request.agent));
    }
    let folder = ports.machine.folder(&caller.cwd)?.real_path;
    let repository = issue.is_some().then(|| repository(ports, &folder));
    Ok(TaskOrder {
        fleet: plan.fleet().clone(),
        agent: plan.agent_name()?.clone(),
        account: plan.account(),
        folder,
        repository,
        issue,
        branch: None,
        prompt: prompt.clone(),
        parent,
        priority,
        verify: verify.clone(),
        mode,
        continues,
    })
}

/// Returns the repository of the folder in which an agent works: the folder of its project.
fn repository(ports: &Ports, folder: &Path) -> RepositoryId {
    let root = ports.projects.root(folder);
    RepositoryId::of_folder(root.as_deref().unwrap_or(folder))
}

/// A plan for an agent with a worktree also fails if a session works there.
fn in_worktree(error: Error) -> Error {
    match error.conflict.as_deref() {
        Some(Conflict::WorktreeLeased { .. }) => worktrees_are_not_built("this agent"),
        _ => error,
    }
}

fn worktrees_are_not_built(agent: &str) -> Error {
    Error::config(format!("tasks of agents with a `worktree` are not built yet: {agent}"))
        .hint("use an agent without the key `worktree`, which works in the folder of the project")
}

fn refuse_unbuilt(request: &TaskAddRequest) -> Result<()> {
    let flags = [("--repo", request.repo.is_some()), ("--branch", request.branch.is_some())];
    match flags.iter().find(|(_, is_given)| *is_given) {
        Some((flag, _)) => Err(Error::config(format!("`segue task add {flag}` is not built yet"))
            .hint("leave it out: the agent works in the folder of its project")),
        None => Ok(()),
    }
}

fn check_prompt(prompt: &str) -> Result<()> {
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

/// Returns the session that the request continues, and the mode of that session.
async fn continued_session(
    ports: &Ports,
    principal: &Principal,
    request: &TaskAddRequest,
    mode: TaskMode,
) -> Result<(Option<SessionId>, TaskMode)> {
    let Some(name) = &request.session else { return Ok((None, mode)) };
    let found = select::find(ports, principal, name, &request.caller.cwd).await?.session;
    if found.agent.as_ref().map(|agent| agent.as_str()) != Some(request.agent.as_str()) {
        let address = found.address();
        return Err(Error::usage(format!("`{address}` is no session of `{}`", request.agent))
            .hint("name a session of the agent, or leave `--session` out"));
    }
    let mode = if found.headless { TaskMode::Headless } else { TaskMode::Interactive };
    Ok((Some(found.id), mode))
}
