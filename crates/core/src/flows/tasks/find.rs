//! Finds a task by its id, the beginning of its id, or its key.

use crate::error::{Error, Result};
use crate::model::{TaskId, TaskKey};
use crate::ports::{Missing, PlacedTask, Ports, TaskQuery};

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
