//! Removes one thing.

use crate::error::Result;
use crate::failpoint;
use crate::flows::worktrees;
use crate::model::{Environment, HousekeepingItem, RefName};
use crate::ports::Ports;

/// Removes something. A worktree is salvaged before; returns the salvage. `environment` is for the
/// teardown commands of a worktree. Can be repeated after a crash.
pub async fn remove(
    ports: &Ports,
    item: &HousekeepingItem,
    environment: &Environment,
) -> Result<Option<RefName>> {
    failpoint::hit("housekeeping.remove.before");
    let salvage = match item {
        HousekeepingItem::Worktree(worktree) => {
            worktrees::remove(ports, worktree, (&[], environment)).await?.salvage
        }
        HousekeepingItem::Archive(copy) => {
            ports.archive.remove(&copy.conversation)?;
            None
        }
        HousekeepingItem::Launch(launch) => {
            ports.folders.remove(launch.id)?;
            None
        }
        HousekeepingItem::Clone(clone) => {
            ports.checkouts.remove_clone(clone).await?;
            None
        }
    };
    failpoint::hit("housekeeping.remove.after");
    Ok(salvage)
}
