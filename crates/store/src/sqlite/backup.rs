//! Copies of the database: one before each migration, and at most two recent backups.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};
use segue_core::failpoint::hit;
use segue_core::{Error, Result};

use crate::sqlite::fault::{self, SqliteFault};
use crate::sqlite::files::{
    beside, create_private, free_name, remove_database, rename_new, sync_folder,
};
use crate::sqlite::soundness::is_sound;

/// Copies the database to `<path>.before-<from>-to-<to>`, or to the next free name. Returns the
/// path of the copy.
pub(crate) fn before_migration(
    connection: &Connection,
    path: &Path,
    from: i64,
    to: i64,
) -> Result<PathBuf> {
    let target = free_name(&beside(path, &format!(".before-{from}-to-{to}")));
    // The caller holds the opening lock, so an existing partial copy is a leftover of a killed
    // process.
    let partial = beside(path, ".backup-partial");
    let copied = copy(connection, &partial).and_then(|()| keep(&partial, &target));
    if let Err(fault) = copied {
        drop(remove_database(&partial));
        return Err(fault.into_error(path));
    }
    Ok(target)
}

/// How long commits are collected before the store is backed up.
const BACKUP_DELAY: Duration = Duration::from_secs(60);

/// Maximum size of a store that is backed up when its daemon exits. A user may be waiting for that
/// exit.
const MAX_BYTES_AT_EXIT: u64 = 64 * 1024 * 1024;

/// Returns the newest intact backup. `None` if no backup is intact.
pub(crate) fn newest(path: &Path) -> Option<PathBuf> {
    [".backup", ".backup-older"].map(|suffix| beside(path, suffix)).into_iter().find(|backup| {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
        Connection::open_with_flags(backup, flags).is_ok_and(|it| is_sound(&it))
    })
}

/// Backs up a store while it is in use. The thread sleeps until something was committed, then for a
/// minute, and then copies the database through its own connection. Dropping this backs up the last
/// commits, unless the store is too large.
#[derive(Debug)]
pub(crate) struct BackupThread {
    committed: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl BackupThread {
    pub(crate) fn start(path: &Path) -> std::io::Result<Self> {
        let (committed, inbox) = sync_channel(1);
        let path = path.to_owned();
        let own = identity(&path)?;
        let thread = thread::Builder::new().name("backup".to_owned());
        let thread = thread.spawn(move || keep_backed_up(&path, own, &inbox))?;
        Ok(Self { committed: Some(committed), thread: Some(thread) })
    }

    /// Notifies the thread that something was committed.
    pub(crate) fn committed(&self) {
        if let Some(committed) = &self.committed {
            // If the channel is full, the thread was notified already.
            let _already_notified = committed.try_send(());
        }
    }
}

impl Drop for BackupThread {
    fn drop(&mut self) {
        drop(self.committed.take());
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has nothing left to write.
            drop(thread.join());
        }
    }
}

/// Returns the device and the inode of a file. They distinguish it from a later file of the same
/// name.
fn identity(path: &Path) -> std::io::Result<(u64, u64)> {
    std::fs::metadata(path).map(|found| (found.dev(), found.ino()))
}

fn keep_backed_up(path: &Path, own: (u64, u64), inbox: &Receiver<()>) {
    while inbox.recv().is_ok() {
        let due = Instant::now() + BACKUP_DELAY;
        let ends = loop {
            match inbox.recv_timeout(due.saturating_duration_since(Instant::now())) {
                Ok(()) => {}
                Err(RecvTimeoutError::Timeout) => break false,
                Err(RecvTimeoutError::Disconnected) => break true,
            }
        };
        let length = std::fs::metadata(path).map_or(0, |found| found.len());
        if ends && length > MAX_BYTES_AT_EXIT {
            return;
        }
        // A file that has replaced the store must not overwrite the store's backup.
        if identity(path).is_ok_and(|found| found == own) {
            // A failed backup is retried after the next commit. A damaged store keeps the backup
            // that it has.
            let _tried = refresh(path);
        }
    }
}

/// Makes a new backup, verifies it, and replaces the older of two backups by it.
fn refresh(path: &Path) -> Result<(), SqliteFault> {
    let [partial, newest, older] =
        [".backup-new", ".backup", ".backup-older"].map(|suffix| beside(path, suffix));
    let source = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
    copy(&source, &partial)?;
    let verified = Connection::open_with_flags(&partial, flags).is_ok_and(|copied| {
        // This journal mode makes the backup a single file.
        let mode = copied.pragma_update_and_check(None, "journal_mode", "delete", |_| Ok(()));
        mode.is_ok() && is_sound(&copied)
    });
    let failed = |error| fault::system("keep the backup", &newest, &error);
    if !verified {
        remove_database(&partial).map_err(failed)?;
        return Err(fault::damaged(path).into());
    }
    std::fs::File::open(&partial).and_then(|file| file.sync_all()).map_err(failed)?;
    hit("store.keep_newest.before");
    if std::fs::symlink_metadata(&newest).is_ok() {
        std::fs::rename(&newest, &older).map_err(failed)?;
    }
    std::fs::rename(&partial, &newest).map_err(failed)?;
    sync_folder(&newest).map_err(failed)?;
    hit("store.keep_newest.after");
    Ok(())
}

fn copy(connection: &Connection, partial: &Path) -> Result<(), SqliteFault> {
    let failed = |error| fault::system("write the backup", partial, &error);
    hit("store.backup.before");
    remove_database(partial).map_err(failed)?;
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

fn keep(partial: &Path, target: &Path) -> Result<(), SqliteFault> {
    let failed = |error| fault::system("keep the backup", target, &error);
    std::fs::File::open(partial).and_then(|file| file.sync_all()).map_err(failed)?;
    hit("store.keep_backup.before");
    rename_new(partial, target).map_err(failed)?;
    sync_folder(target).map_err(failed)?;
    hit("store.keep_backup.after");
    Ok(())
}
