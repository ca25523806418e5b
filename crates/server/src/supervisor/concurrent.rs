//! Runs tasks of several sessions concurrently.

use segue_core::Result;
use tokio::task::JoinSet;

use crate::blocking::failed;

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
    let mut results = Vec::new();
    while let Some(joined) = running.join_next().await {
        results.push(joined.map_err(failed)?);
    }
    results.sort_by_key(|(number, _)| *number);
    Ok(results.into_iter().map(|(_, result)| result).collect())
}
