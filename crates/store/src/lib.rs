//! Memory: sessions, launches, bindings and events in SQLite.
//!
//! One thread owns the connection (`sqlite`); everything else asks it. A commit is one transaction
//! (`write`), on disk when it returns. Whatever could make that untrue (a network filesystem, a
//! damaged or newer database, a file that is gone) is refused in words that a person understands.

mod backup;
mod change;
mod database;
mod fault;
mod files;
mod filesystem;
mod lock;
mod migrations;
mod opening;
mod read;
mod rows;
mod salvage;
mod soundness;
mod sqlite;
mod values;
mod write;

use std::path::Path;
use std::sync::Arc;

use segue_core::Result;
use segue_core::ports::{Salvaged, Store};

pub use files::{exists, finish_rebuilt, publish_rebuilt, rebuilding, set_aside};
pub use sqlite::SqliteStore;

/// Looks at the store's file as it is on disk now: one that was overwritten can go on to work for
/// whoever has it open. It blocks its thread.
pub fn check(path: &Path) -> Result<()> {
    opening::check(path)
}

/// Reads what can be read from a store that cannot be used, and from its backup. It blocks its
/// thread.
pub fn salvage(path: &Path) -> Result<Salvaged> {
    salvage::salvage(path)
}

/// Tells whether a store was at this path whose backup is still there.
pub fn has_backup(path: &Path) -> bool {
    backup::newest(path).is_some()
}

/// Opens the store at this path, making a new one where there is none. Its folder must exist. Two
/// recent backups are kept beside it.
pub async fn open(path: &Path) -> Result<Arc<dyn Store>> {
    Ok(Arc::new(SqliteStore::open(path).await?.backed_up(path)?))
}

/// Opens a store that is not in its place yet, without a backup.
pub async fn open_without_backup(path: &Path) -> Result<Arc<dyn Store>> {
    Ok(Arc::new(SqliteStore::open(path).await?))
}
