//! The store in one SQLite file.
//!
//! One thread owns the connection (`store`), and all other code sends requests to it. A commit is
//! one transaction (`write`), and is on disk when it returns. If this cannot be guaranteed, because
//! of a network filesystem, a damaged or newer database or a deleted file, the store is refused with
//! an error.

mod backup;
mod change;
mod conditions;
mod database;
mod deliveries;
mod fault;
mod files;
mod filesystem;
mod housekeeping;
mod intact;
mod lock;
mod migrations;
mod network;
mod opening;
mod plans;
mod read;
mod rows;
mod salvage;
mod sessions;
mod soundness;
mod store;
mod tasks;
mod usage;
mod values;
mod write;

use std::path::Path;
use std::sync::Arc;

use segue_core::Result;
use segue_core::ports::{Salvaged, Store};

pub use files::{exists, finish_rebuilt, publish_rebuilt, rebuilding, set_aside};
pub use store::SqliteStore;

/// Checks the store's file on disk. A process that has the file open may not notice that the file
/// was overwritten. Blocks the thread.
pub fn check(path: &Path) -> Result<()> {
    opening::check(path)
}

/// Reads all rows that can be read from an unusable store and from its backup. Blocks the thread.
pub fn salvage(path: &Path) -> Result<Salvaged> {
    salvage::salvage(path)
}

/// Returns whether there is an intact backup of a store at this path.
pub fn has_backup(path: &Path) -> bool {
    backup::newest(path).is_some()
}

/// Opens the store at this path. Creates it if it does not exist, but its folder must exist. Two
/// recent backups are kept beside it.
pub async fn open(path: &Path) -> Result<Arc<dyn Store>> {
    Ok(Arc::new(SqliteStore::open(path).await?.backed_up(path)?))
}

/// Opens a store that is not at its final path yet, without a backup.
pub async fn open_without_backup(path: &Path) -> Result<Arc<dyn Store>> {
    Ok(Arc::new(SqliteStore::open(path).await?))
}
