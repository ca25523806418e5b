//! The store: sessions, launches, bindings and events behind `ports::Store`.
//!
//! Each backend has a folder of its own. Today there is one: `sqlite`. Whatever depends on the
//! database being a file (locks, backups, the check of the filesystem) is in that folder.

mod sqlite;

pub use sqlite::{
    SqliteStore, check, exists, finish_rebuilt, has_backup, open, open_without_backup,
    publish_rebuilt, rebuilding, salvage, set_aside,
};
