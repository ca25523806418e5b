//! Opens a database. All checks are done before the database is written to.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use segue_core::failpoint::hit;
use segue_core::{Error, Result};

use crate::sqlite::database::Database;
use crate::sqlite::fault::{self, SqliteFault};
use crate::sqlite::files::{
    beside, create_private, exists, move_aside, remove_database, rename_new, sync_folder,
};
use crate::sqlite::lock::OpeningLock;
use crate::sqlite::migrations::{self, Migration};
use crate::sqlite::{backup, filesystem, intact, soundness};

/// Identifies a database of Segue. The first migration writes this id.
const APPLICATION_ID: i64 = 0x5365_6775;

/// How long a write waits for another process that is writing.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// Maximum size of the database cache in memory. A negative value is in KiB.
const CACHE_SIZE: i64 = -4096;

/// The number of parsed statements that a connection keeps: more than the number of different
/// statements that the daemon uses often.
const STATEMENT_CACHE_ENTRIES: usize = 64;

/// Opens the database at a path. Creates it if it does not exist.
pub(crate) fn open(path: &Path) -> Result<Database> {
    let path = real_path(path)?;
    filesystem::check(path.parent().unwrap_or(&path))?;
    let _lock = OpeningLock::take(&path)?;
    if !exists(&path) {
        create(&path)?;
    }
    check_file(&path)?;
    open_existing(&path, migrations::ALL)
}

/// Checks the database on disk, even if another process has it open. Creates no store and changes no
/// stored data.
pub(crate) fn check(path: &Path) -> Result<()> {
    if !exists(path) {
        return Err(fault::gone(path));
    }
    let path = real_path(path)?;
    check_file(&path)?;
    let found = connect(&path).and_then(|fresh| {
        inspect(&fresh, &path, migrations::ALL)?;
        check_contents(&fresh, &path)
    });
    found.map_err(|fault| fault.into_error(&path))
}

/// Resolves symlinks, because SQLite keeps its companions beside the real file.
fn real_path(path: &Path) -> Result<PathBuf> {
    if let Ok(real) = fs::canonicalize(path) {
        return Ok(real);
    }
    let missing = |error| fault::system("find the folder of the store", path, &error);
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = fs::canonicalize(folder.unwrap_or(Path::new("."))).map_err(missing)?;
    let name = path.file_name().ok_or_else(|| {
        Error::config(format!("`{}` cannot be the path of a store", path.display()))
    })?;
    Ok(folder.join(name))
}

/// Creates a complete database under another name first, so that the file at the path is never
/// incomplete.
fn create(path: &Path) -> Result<()> {
    // SQLite would replay a log without its database into the new database.
    move_aside(path, "orphan")?;
    let new = beside(path, ".new");
    if let Err(fault) = build(&new).and_then(|()| publish(&new, path)) {
        drop(remove_database(&new));
        return Err(fault.into_error(path));
    }
    Ok(())
}

fn build(new: &Path) -> Result<(), SqliteFault> {
    let failed = |error| fault::system("create the store", new, &error);
    hit("store.create.before");
    remove_database(new).map_err(failed)?;
    drop(create_private(new).map_err(failed)?);
    let mut connection = connect(new)?;
    set_wal_mode(&connection)?;
    migrations::apply(&mut connection, migrations::ALL)?;
    connection.close().map_err(|(_, error)| error)?;
    hit("store.create.after");
    Ok(())
}

fn publish(new: &Path, path: &Path) -> Result<(), SqliteFault> {
    let failed = |error| fault::system("create the store", path, &error);
    fs::File::open(new).and_then(|file| file.sync_all()).map_err(failed)?;
    hit("store.publish.before");
    rename_new(new, path).map_err(failed)?;
    sync_folder(path).map_err(failed)?;
    hit("store.publish.after");
    Ok(())
}

fn check_file(path: &Path) -> Result<()> {
    let failed = |error| fault::system("open the store", path, &error);
    let found = fs::metadata(path).map_err(failed)?;
    if !found.is_file() {
        return Err(fault::damaged(path).caused_by("it is not a file"));
    }
    // A store is never created as an empty file. So this file was truncated, and a new store in its
    // place would hide the loss.
    if found.len() == 0 {
        return Err(fault::damaged(path).caused_by("the file is empty"));
    }
    if found.permissions().mode() & 0o077 != 0 {
        fs::set_permissions(path, fs::Permissions::from_mode(0o600)).map_err(failed)?;
    }
    Ok(())
}

fn open_existing(path: &Path, migrations: &[Migration]) -> Result<Database> {
    let into_error = |fault: SqliteFault| fault.into_error(path);
    let is_known_intact = intact::is_marked(path);
    let mut connection = connect(path).map_err(into_error)?;
    inspect(&connection, path, migrations).map_err(into_error)?;
    if !is_known_intact {
        check_contents(&connection, path).map_err(into_error)?;
    }
    intact::remove_mark(path);
    migrate(&mut connection, path, migrations).map_err(into_error)?;
    set_wal_mode(&connection).map_err(into_error)?;
    keep_log(&connection, false).map_err(into_error)?;
    Database::new(connection, path)
}

fn connect(path: &Path) -> Result<Connection, SqliteFault> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    // SQLite opens a database read-only if it cannot write to it.
    if connection.is_readonly("main")? {
        return Err(fault::read_only(path).caused_by("the file is read-only").into());
    }
    // Until the database is accepted, its log must stay unchanged, even if this connection is
    // closed.
    let log = fs::metadata(beside(path, "-wal")).map_or(0, |log| log.len());
    keep_log(&connection, log > 0)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_prepared_statement_cache_capacity(STATEMENT_CACHE_ENTRIES);
    connection.pragma_update(None, "cache_size", CACHE_SIZE)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "trusted_schema", false)?;
    Ok(connection)
}

/// Checks whose database it is before anything is written, so that a refused database keeps every
/// byte.
fn inspect(
    connection: &Connection,
    path: &Path,
    migrations: &[Migration],
) -> Result<(), SqliteFault> {
    check_ownership(connection, path)?;
    check_version(connection, path, migrations)
}

/// Sets whether the write-ahead log stays beside the database when the connection is closed. If not,
/// it is copied into the database.
fn keep_log(connection: &Connection, keep: bool) -> Result<(), SqliteFault> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, keep)?;
    Ok(())
}

fn check_ownership(connection: &Connection, path: &Path) -> Result<(), SqliteFault> {
    let id: i64 = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
    if id == APPLICATION_ID {
        return Ok(());
    }
    Err(fault::damaged(path).caused_by("it is not a database of Segue").into())
}

fn check_version(
    connection: &Connection,
    path: &Path,
    migrations: &[Migration],
) -> Result<(), SqliteFault> {
    let (found, known) = (migrations::version(connection)?, migrations::newest(migrations));
    if found <= known {
        return Ok(());
    }
    Err(Error::unavailable(format!("the store `{}` is newer than this program", path.display()))
        .caused_by(format!("it has version {found}, and this program knows {known}"))
        .hint("run `segue --version` and install the version that last used this store")
        .into())
}

fn check_contents(connection: &Connection, path: &Path) -> Result<(), SqliteFault> {
    match soundness::defect(connection)? {
        None => Ok(()),
        Some(defect) => Err(fault::damaged(path).caused_by(defect).into()),
    }
}

fn migrate(
    connection: &mut Connection,
    path: &Path,
    migrations: &[Migration],
) -> Result<(), SqliteFault> {
    let (from, to) = (migrations::version(connection)?, migrations::newest(migrations));
    if from < to {
        backup::before_migration(connection, path, from, to)?;
        migrations::apply(connection, migrations)?;
    }
    Ok(())
}

fn set_wal_mode(connection: &Connection) -> Result<(), SqliteFault> {
    let mode: String =
        connection.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get(0))?;
    if mode == "wal" {
        return Ok(());
    }
    Err(Error::unavailable("the store cannot keep a write-ahead log")
        .caused_by(format!("its journal mode stays `{mode}`"))
        .hint("run `segue doctor` to see what is wrong")
        .into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connection_syncs_commits_and_checks_references() {
        let folder = tempfile::tempdir().unwrap();
        let database = open(&folder.path().join("segue.db")).unwrap();
        let pragma = |name: &str| -> String {
            let sql = format!("SELECT CAST({name} AS TEXT) FROM pragma_{name}");
            database.connection.query_row(&sql, [], |row| row.get(0)).unwrap()
        };
        assert_eq!(pragma("journal_mode"), "wal");
        assert_eq!(pragma("synchronous"), "2");
        assert_eq!(pragma("foreign_keys"), "1");
        assert_eq!(pragma("application_id"), APPLICATION_ID.to_string());
    }
}
