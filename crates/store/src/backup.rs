//! A copy of the database from before a migration.

use std::path::{Path, PathBuf};

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};
use segue_core::failpoint::hit;
use segue_core::{Error, Result};

use crate::fault::{self, Fault};
use crate::files::{beside, create_private, free_name, remove_whole, rename_new, sync_folder};

/// Copies the database to `<path>.before-<from>-to-<to>`, or the next free name; returns which.
pub(crate) fn before_migration(
    connection: &Connection,
    path: &Path,
    from: i64,
    to: i64,
) -> Result<PathBuf> {
    let target = free_name(&beside(path, &format!(".before-{from}-to-{to}")));
    // Whoever opens holds the opening lock: a partial copy is one that a killed process left.
    let partial = beside(path, ".backup-partial");
    let copied = copy(connection, &partial).and_then(|()| keep(&partial, &target));
    if let Err(fault) = copied {
        drop(remove_whole(&partial));
        return Err(fault.told(path));
    }
    Ok(target)
}

fn copy(connection: &Connection, partial: &Path) -> Result<(), Fault> {
    let failed = |error| fault::system("write the backup", partial, &error);
    hit("store.backup.before");
    remove_whole(partial).map_err(failed)?;
    drop(create_private(partial).map_err(failed)?);
    let mut copy = Connection::open_with_flags(partial, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    let all_pages = -1;
    let step = Backup::new(connection, &mut copy)?.step(all_pages)?;
    copy.close().map_err(|(_, error)| error)?;
    hit("store.backup.after");
    match step {
        StepResult::Done => Ok(()),
        unfinished => {
            Err(Error::unavailable("the store could not be backed up before its migration")
                .caused_by(format!("the copy ended with {unfinished:?}"))
                .hint("run the command again; another process is writing")
                .into())
        }
    }
}

fn keep(partial: &Path, target: &Path) -> Result<(), Fault> {
    let failed = |error| fault::system("keep the backup", target, &error);
    std::fs::File::open(partial).and_then(|file| file.sync_all()).map_err(failed)?;
    hit("store.keep_backup.before");
    rename_new(partial, target).map_err(failed)?;
    sync_folder(target).map_err(failed)?;
    hit("store.keep_backup.after");
    Ok(())
}
