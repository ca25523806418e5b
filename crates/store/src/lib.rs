//! The store: an implementation of `ports::Store`, with everything that Segue records: sessions,
//! launches, bindings, messages, tasks, worktrees, usage and events.
//!
//! Each backend has its own folder. The only backend is `sqlite`. Its folder also contains the code
//! that depends on the database being a file: locks, backups and the check of the filesystem.

mod sqlite;

pub use sqlite::{
    SqliteStore, check, exists, finish_rebuilt, has_backup, open, open_without_backup,
    publish_rebuilt, rebuilding, salvage, set_aside,
};
