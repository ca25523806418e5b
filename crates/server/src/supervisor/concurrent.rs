//! Runs a task for each of several sessions.

use segue_core::{Error, Result};
use tokio::task::JoinSet;

/// Runs all tasks concurrently. Returns their results in order, or the first error.
pub(super) async fn all<T, F>(tasks: impl Iterator<Item = F>) -> Result<Vec<T>>
where
    T: Send + 'static,
    F: Future<Output = Result<T>> + Send + 'static,
{
    each(tasks).await?.into_iter().collect()
}

/// Runs all tasks concurrently. Returns the result of each task, in order.
pub(super) async fn each<T, F>(tasks: impl Iterator<Item = F>) -> Result<Vec<Result<T>>>
where
    T: Send + 'static,
    F: Future<Output = Result<T>> + Send + 'static,
{
    let mut running = JoinSet::new();
    for (number, task) in tasks.enumerate() {
        running.spawn(async move { (number, task.await) });
    }
    let mut answers = Vec::new();
    while let Some(joined) = running.join_next().await {
        answers.push(joined.map_err(|error| Error::internal("a task failed").caused_by(error))?);
    }
    answers.sort_by_key(|(number, _)| *number);
    Ok(answers.into_iter().map(|(_, answer)| answer).collect())
}
