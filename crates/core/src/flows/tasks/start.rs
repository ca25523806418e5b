//! Starts a task: the session that it begins or continues, and the record of its start.

use std::path::Path;

use crate::api::{Caller, RunRequest};
use crate::error::Result;
use crate::model::{
    AgentName, Environment, MessageId, SessionId, Task, TaskMode, TaskOrder, TaskProgress,
    TaskState, VerifyReport,
};
use crate::ports::{Change, Commit, Ports};

use super::place::worktree_request;
use super::record::change;

/// Returns the request that starts a new session for an order. Its prompt is not rendered: templates
/// have facts of the worktree, which is made later.
pub fn run_request(ports: &Ports, order: &TaskOrder, environment: &Environment) -> RunRequest {
    let work = (order.folder.as_path(), order.prompt.as_str());
    let mut request = agent_request(order.agent.as_str(), work, order.mode, environment);
    if let Some(vendor) = &order.vendor {
        (request.agent, request.vendor) = (None, Some(vendor.to_string()));
    }
    let worktree = order.worktree.as_ref().map(worktree_request);
    RunRequest { name: Some(session_name(ports, &order.agent)), worktree, ..request }
}

/// Returns the request that starts a session of an agent in a folder.
///
/// An interactive session gets its prompt as a message after its start, so that the end of the turn
/// is observed in the same way as for later messages.
pub(crate) fn agent_request(
    agent: &str,
    (folder, prompt): (&Path, &str),
    mode: TaskMode,
    environment: &Environment,
) -> RunRequest {
    let headless = mode == TaskMode::Headless;
    RunRequest {
        caller: Caller { cwd: folder.to_owned(), environment: environment.clone() },
        prompt: headless.then(|| prompt.to_owned()),
        agent: Some(agent.to_owned()),
        headless,
        ..RunRequest::default()
    }
}

/// Returns a name for the session of a task. It is not the name of the agent, which belongs to the
/// session that `segue up` starts.
fn session_name(ports: &Ports, agent: &AgentName) -> String {
    let random = ports.clock.random_id().simple().to_string();
    // The name of a session has at most 64 characters.
    let agent: String = agent.as_str().chars().take(48).collect();
    format!("{agent}-task-{}", random.get(..8).unwrap_or(&random))
}

/// Returns the session that a task continues. `None` if it begins a conversation of its own: the
/// task has no session yet, names none, and is not about an issue that its agent has worked on.
pub async fn session_of(ports: &Ports, task: &Task) -> Result<Option<SessionId>> {
    let wants_new = task.progress.is_fresh_retry && task.session.is_none();
    if wants_new {
        return Ok(None);
    }
    match (task.session.or(task.order.continues), task.order.issue_key()) {
        (Some(session), _) => Ok(Some(session)),
        (None, Some(key)) => ports.store.issue_session(&key).await,
        (None, None) => Ok(None),
    }
}

/// Returns the commit that records the start of a task in a new session. It belongs into the commit
/// of the session's first launch.
pub fn started(ports: &Ports, task: &Task, session: SessionId) -> Commit {
    let progress = TaskProgress { has_new_conversation: true, ..task.progress.clone() };
    let task = &Task { progress, ..task.clone() };
    // The log of the new session reports that an earlier conversation was lost.
    let reason = task.progress.lost_conversation.clone();
    let mut commit = running(ports, task, (session, None), reason);
    if let Some(key) = task.order.issue_key() {
        let session = Some(session);
        commit.changes.push(Change::SetIssueSession { key, session });
    }
    commit
}

/// Returns the commit that records that a task goes on with a message to an existing session. It
/// belongs into the commit that queues the message.
pub fn continued(
    ports: &Ports,
    task: &Task,
    (session, message): (SessionId, MessageId),
    reason: Option<String>,
) -> Commit {
    let has_new_conversation =
        task.progress.has_new_conversation && task.state != TaskState::Queued;
    let progress = TaskProgress { has_new_conversation, ..task.progress.clone() };
    let task = Task { progress, ..task.clone() };
    running(ports, &task, (session, Some(message)), reason)
}

/// Returns the commit that records that the output of a failed verify command goes back to the agent
/// with a message.
pub fn sent_back(
    ports: &Ports,
    task: &Task,
    (session, message): (SessionId, MessageId),
    verify: &VerifyReport,
) -> Commit {
    let progress = TaskProgress { failed_verifies: verify.runs, ..task.progress.clone() };
    let task = Task { progress, ..task.clone() };
    let reason = format!("`{}` failed, run {}", verify.command, verify.runs);
    running(ports, &task, (session, Some(message)), Some(reason))
}

fn running(
    ports: &Ports,
    task: &Task,
    (session, message): (SessionId, Option<MessageId>),
    reason: Option<String>,
) -> Commit {
    let is_new_attempt = task.state == TaskState::Queued;
    let mut progress = task.progress.clone();
    progress.message = message;
    if !progress.sessions.contains(&session) {
        progress.sessions.push(session);
    }
    let running = Task {
        state: TaskState::Running,
        attempts: task.attempts + u32::from(is_new_attempt),
        progress,
        session: Some(session),
        started_at: task.started_at.or_else(|| Some(ports.clock.now())),
        ..task.clone()
    };
    change(ports, &running, task.state.kind(), reason)
}
