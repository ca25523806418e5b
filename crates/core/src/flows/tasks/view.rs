//! Converts tasks into the form that users and scripts see.

use std::collections::{BTreeMap, BTreeSet};

use crate::api::{
    PlaceCursor, TaskListQuery, TaskListRequest, TaskSummaryView, TaskView, page_size, parse_cursor,
};
use crate::error::{Error, Result};
use crate::model::{AgentName, IssueRef, Session, SessionId, Task, TaskId};
use crate::ports::{
    IssueFilter, PlacedTask, Ports, SessionQuery, TaskPage, TaskQuery, TaskSummary,
};

/// Returns the tasks that a request describes, in the order of the queue.
pub async fn list(ports: &Ports, request: &TaskListRequest) -> Result<Vec<PlacedTask>> {
    ports.store.tasks(&query(request)?).await
}

/// Returns a page of the tasks that a query describes, in the order of the queue, and the position
/// behind it. `None` if no further task matches.
pub async fn page(
    ports: &Ports,
    query: &TaskListQuery,
) -> Result<(Vec<PlacedTask>, Option<PlaceCursor>)> {
    let size = page_size(query.limit)?;
    let cursor: Option<PlaceCursor> = parse_cursor(query.cursor.as_deref())?;
    let about = match (&query.issue, &query.repository) {
        (Some(issue), repository) => {
            Some(IssueFilter { issue: IssueRef::parse(issue)?, repository: repository.clone() })
        }
        (None, None) => None,
        (None, Some(_)) => return Err(Error::usage("`repository` needs `issue`")),
    };
    let conditions = TaskQuery {
        states: query.state.map(|state| vec![state]),
        agent: query.agent.as_deref().map(AgentName::parse).transpose()?,
        about,
        page: Some(TaskPage { after: cursor.map(|it| it.0), size: size + 1 }),
        ..TaskQuery::default()
    };
    let mut found = ports.store.tasks(&conditions).await?;
    let has_more = found.len() > size as usize;
    found.truncate(size as usize);
    let next = found.last().filter(|_| has_more).map(|it| PlaceCursor(it.place));
    Ok((found, next))
}

/// Returns the tasks that a request describes as the table of `segue task ls` shows them, in the
/// order of the queue.
pub async fn summaries(ports: &Ports, request: &TaskListRequest) -> Result<Vec<TaskSummaryView>> {
    let found = ports.store.task_summaries(&query(request)?).await?;
    Ok(found.into_iter().map(summary_view).collect())
}

fn query(request: &TaskListRequest) -> Result<TaskQuery> {
    let open = if request.all { TaskQuery::default() } else { TaskQuery::open() };
    let states = request.state.map_or(open.states, |state| Some(vec![state]));
    let agent = request.agent.as_deref().map(AgentName::parse).transpose()?;
    Ok(TaskQuery { states, agent, ..TaskQuery::default() })
}

fn summary_view(task: TaskSummary) -> TaskSummaryView {
    let TaskSummary { id, agent, state, session, created_at, beginning } = task;
    let address = session.map(|(fleet, name)| format!("{fleet}/{name}"));
    TaskSummaryView { id, agent, state: state.into(), address, created_at, beginning }
}

/// Returns tasks as `segue task ls --json` shows them. `obstacle` returns why a queued task does not
/// start now.
pub async fn views(
    ports: &Ports,
    tasks: Vec<PlacedTask>,
    obstacle: impl Fn(TaskId) -> Option<String>,
) -> Result<Vec<TaskView>> {
    let sessions = sessions(ports, &tasks).await?;
    let view = |PlacedTask { task, .. }: PlacedTask| {
        let session = task.session.and_then(|session| sessions.get(&session));
        let reason = task.state.reason().or_else(|| obstacle(task.id));
        view(task, session, reason)
    };
    Ok(tasks.into_iter().map(view).collect())
}

/// Returns the view of a task that has just been added.
pub fn new_view(task: Task) -> TaskView {
    view(task, None, None)
}

/// Returns the sessions that work on tasks, or have worked on them.
async fn sessions(ports: &Ports, tasks: &[PlacedTask]) -> Result<BTreeMap<SessionId, Session>> {
    let ids: BTreeSet<SessionId> = tasks.iter().filter_map(|it| it.task.session).collect();
    if ids.is_empty() {
        return Ok(BTreeMap::new());
    }
    let query = SessionQuery::ids(ids.into_iter().collect());
    let sessions = ports.store.sessions(&query).await?;
    Ok(sessions.into_iter().map(|it| (it.session.id, it.session)).collect())
}

fn view(task: Task, session: Option<&Session>, reason: Option<String>) -> TaskView {
    let order = task.order;
    let worktree = order.worktree.as_ref();
    TaskView {
        id: task.id,
        key: task.key,
        state: task.state.kind().into(),
        reason,
        agent: order.agent,
        session: task.session,
        address: session.map(Session::address),
        repository: order.repository.as_ref().map(ToString::to_string),
        issue: order.issue.as_ref().map(|issue| issue.as_str().to_owned()),
        worktree: worktree.and(session).map(|session| session.cwd.clone()),
        branch: worktree.map(|worktree| worktree.order.branch.to_string()),
        prompt: order.prompt,
        parent: order.parent,
        plan: order.plan.map(|member| member.plan_name.to_string()),
        priority: order.priority.level(),
        attempts: task.attempts,
        result: task.result,
        created_at: task.created_at,
        started_at: task.started_at,
        ended_at: task.ended_at,
    }
}
