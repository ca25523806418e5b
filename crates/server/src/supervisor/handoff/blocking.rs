//! Runs the reading and writing of conversations on threads that may block.

use segue_core::{Error, Result};

/// Runs work that reads or writes many bytes on a blocking thread.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(cut_short)?
}

/// Returns the error for a task that ended without a result.
pub(super) fn cut_short(error: tokio::task::JoinError) -> Error {
    Error::internal("a handoff was cut short").caused_by(error)
}
