//! Gives up a launch whose holder does not answer.
//!
//! The session's lock prevents a race with a late holder. A holder takes the lock before it starts
//! its agent, and then checks whether the end of its launch is recorded already. The process that
//! records this end holds the lock meanwhile.

use std::path::Path;
use std::time::Duration;

use segue_core::model::{Exit, LaunchEnd, LaunchId};
use segue_core::ports::{Held, Holders as _};
use segue_core::{Error, Result, failpoint};
use tokio::time::Instant;

use super::LocalHolders;
use super::order;
use crate::lock::FileLock;
use crate::watch::FolderWait;

/// How long a holder may take to start. It may have to end processes of a dead launch first.
const START_TIMEOUT: Duration = Duration::from_secs(60);

/// Returns the holder if it starts after all. Otherwise records the end of the launch and returns
/// `None`. After that, the holder cannot start its agent any more.
pub(super) async fn abandon(
    holders: &LocalHolders,
    launch: LaunchId,
    (folder, lock): (&Path, &Path),
) -> Result<Option<Held>> {
    if let Some(held) = holders.find(launch).await? {
        return Ok(Some(held));
    }
    if let Some(lock) = FileLock::try_acquire(lock)? {
        return close(folder, &lock);
    }
    let mut folder_wait = FolderWait::new(&[folder, lock.parent().unwrap_or(folder)]);
    let deadline = Instant::now() + START_TIMEOUT;
    failpoint::hit("holders.abandon.wait");
    loop {
        if let Some(held) = holders.find(launch).await? {
            return Ok(Some(held));
        }
        if let Some(lock) = FileLock::try_acquire_unseen(lock)? {
            return close(folder, &lock);
        }
        tokio::time::timeout_at(deadline, folder_wait.changed()).await.map_err(|_| stuck(lock))?;
    }
}

/// Records the end of the launch, unless its holder has done so.
fn close(folder: &Path, _lock: &FileLock) -> Result<Option<Held>> {
    let end = LaunchEnd { exit: Exit::Unknown, is_requested: false, at: jiff::Timestamp::now() };
    order::write_end_if_missing(folder, &end)?;
    Ok(None)
}

fn stuck(lock: &Path) -> Error {
    Error::unavailable("a holder neither starts its agent nor ends")
        .hint(format!("run `fuser {}` to see which process it is", lock.display()))
}
