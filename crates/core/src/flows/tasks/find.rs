//! Finds a task by its id, the beginning of its id, its key, or the session that works on it.

use crate::error::{Error, Result};
use crate::model::{SessionId, Task, TaskId, TaskKey, TaskState, TaskStateKind};
use crate::ports::{Change, Commit, Missing, PlacedTask, Ports, TaskQuery};

/// At least this many characters of an id are needed.
const SHORTEST_PREFIX: usize = 4;

/// Finds a task. A whole key wins over the beginning of an id.
pub async fn find(ports: &Ports, text: &str) -> Result<PlacedTask> {
    if let Ok(key) = TaskKey::parse(text)
        && let Some(found) = ports.store.tasks(&TaskQuery::key(&key)).await?.pop()
    {
        return Ok(found);
    }
    let is_prefix =
        text.len() >= SHORTEST_PREFIX && text.chars().all(|c| c.is_ascii_hexdigit() || c == '-');
    if !is_prefix {
        return Err(unknown(text));
    }
    let id_prefix = Some(text.to_ascii_lowercase());
    let query = TaskQuery { id_prefix, newest: Some(2), ..TaskQuery::default() };
    let mut found = ports.store.tasks(&query).await?;
    match (found.pop(), found.is_empty()) {
        (Some(only), true) => Ok(only),
        (Some(_), false) => Err(Error::usage(format!("`{text}` can mean several tasks"))
            .hint("give more characters of the id; `segue task ls --all --json` has whole ids")),
        (None, _) => Err(unknown(text)),
    }
}

fn unknown(text: &str) -> Error {
    let shown: String = text.chars().take(60).collect();
    Error::not_found(format!("no task has the id or the key `{}`", shown.escape_debug()))
        .hint("run `segue task ls --all` to see all tasks")
}

/// Returns the task with this id.
pub async fn by_id(ports: &Ports, id: TaskId) -> Result<PlacedTask> {
    let found = ports.store.tasks(&TaskQuery::id(id)).await?.pop();
    found.ok_or_else(|| Missing::Task(id).into())
}

/// Returns the task for which a session is launched: the task whose start is recorded with the
/// launch, or else the task on which the session works. A running task wins over a task that waits.
pub(crate) async fn of_launch(
    ports: &Ports,
    session: SessionId,
    same_commit: &Commit,
) -> Result<Option<TaskId>> {
    let started = same_commit.changes.iter().find_map(|change| match change {
        Change::SetTask { task, .. } => Some(task.id),
        _ => None,
    });
    if started.is_some() {
        return Ok(started);
    }
    let states = Some(vec![TaskStateKind::Running, TaskStateKind::Waiting]);
    let query = TaskQuery { session: Some(session), states, ..TaskQuery::default() };
    let open = ports.store.tasks(&query).await?;
    let is_running = |task: &Task| task.state == TaskState::Running;
    Ok(open.iter().map(|it| &it.task).max_by_key(|task| is_running(task)).map(|task| task.id))
}
