//! Runs work that blocks, such as disk access, on threads that may block.

use segue_core::{Error, Result};
use tokio::task::JoinError;

/// Runs work on a thread that may block. Fails if the work fails or panics.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(failed)?
}

/// Returns the error for a task that ended without a result.
pub(crate) fn failed(error: JoinError) -> Error {
    Error::internal("a task failed").caused_by(error)
}
