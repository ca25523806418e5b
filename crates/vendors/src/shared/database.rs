//! Reads a vendor's SQLite database while the vendor's program may write to it.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags, Params, Row};
use segue_core::{Error, Result};

/// How long a read waits for a lock that the vendor's program holds during a write.
const LOCK_TIMEOUT: Duration = Duration::from_secs(2);

/// A read-only connection to a vendor's database.
#[derive(Debug)]
pub(crate) struct VendorDatabase {
    connection: Connection,
    /// The path of the database, for error messages.
    path: String,
}

impl VendorDatabase {
    /// Opens a database. Returns `None` if the file does not exist.
    pub(crate) fn open(path: &Path) -> Result<Option<Self>> {
        if !path.is_file() {
            return Ok(None);
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let open = || {
            let connection = Connection::open_with_flags(path, flags)?;
            connection.busy_timeout(LOCK_TIMEOUT)?;
            Ok(connection)
        };
        let path = path.display().to_string();
        let connection = open().map_err(|error| unreadable(&path, &error))?;
        Ok(Some(Self { connection, path }))
    }

    /// Runs a query and returns all of its rows, each converted by `read`.
    pub(crate) fn rows<T>(
        &self,
        query: &str,
        parameters: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>> {
        let rows = || -> rusqlite::Result<Vec<T>> {
            let mut statement = self.connection.prepare(query)?;
            statement.query_map(parameters, read)?.collect()
        };
        rows().map_err(|error| unreadable(&self.path, &error))
    }

    /// Runs a query and returns its first row, or `None` if it finds no row.
    pub(crate) fn row<T>(
        &self,
        query: &str,
        parameters: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>> {
        Ok(self.rows(query, parameters, read)?.into_iter().next())
    }
}

fn unreadable(path: &str, error: &rusqlite::Error) -> Error {
    let hint = match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            "another program has locked it: try again when that program is done"
        }
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
            "restore it from a backup, then try again"
        }
        // For example, a column that no longer exists.
        _ => "a newer version of the vendor's program may store its conversations differently",
    };
    Error::vendor(format!("cannot read `{path}`")).caused_by(error).hint(hint)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Creates a database with one row. Returns its path, and a connection that can write to it.
    fn create(folder: &Path) -> (std::path::PathBuf, Connection) {
        let path = folder.join("vendor.db");
        let writer = Connection::open(&path).unwrap();
        writer.pragma_update(None, "journal_mode", "wal").unwrap();
        writer
            .execute_batch("CREATE TABLE message (text TEXT); INSERT INTO message VALUES ('a')")
            .unwrap();
        (path, writer)
    }

    fn open(path: &Path) -> VendorDatabase {
        VendorDatabase::open(path).unwrap().unwrap()
    }

    fn texts(database: &VendorDatabase) -> Result<Vec<String>> {
        database.rows("SELECT text FROM message", [], |row| row.get(0))
    }

    #[test]
    fn committed_rows_are_read_during_an_open_write_transaction() {
        let folder = tempfile::tempdir().unwrap();
        let (path, writer) = create(folder.path());
        assert_eq!(texts(&open(&path)).unwrap(), ["a"]);
        writer.execute("INSERT INTO message VALUES ('b')", []).unwrap();
        let uncommitted = writer.unchecked_transaction().unwrap();
        uncommitted.execute("INSERT INTO message VALUES ('c')", []).unwrap();
        assert_eq!(texts(&open(&path)).unwrap(), ["a", "b"]);
    }

    #[test]
    fn rows_in_the_wal_of_a_killed_vendor_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let (path, _writer) = create(folder.path());
        let copy = folder.path().join("copy");
        fs::create_dir(&copy).unwrap();
        for name in ["vendor.db", "vendor.db-wal"] {
            fs::copy(path.with_file_name(name), copy.join(name)).unwrap();
        }
        assert_eq!(texts(&open(&copy.join("vendor.db"))).unwrap(), ["a"]);
    }

    #[test]
    fn missing_database_is_none_and_a_broken_locked_or_newer_one_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        assert!(VendorDatabase::open(&folder.path().join("absent.db")).unwrap().is_none());
        let broken = folder.path().join("broken.db");
        fs::write(&broken, "as long as the header of a database".repeat(100)).unwrap();
        let error = texts(&open(&broken)).unwrap_err();
        assert!(error.hints[0].contains("backup"), "{error:?}");
        let (path, writer) = create(folder.path());
        let database = open(&path);
        let error = database.row("SELECT other FROM message", [], |_| Ok(())).unwrap_err();
        assert!(error.hints[0].contains("newer"), "{error:?}");
        drop(database);
        writer.pragma_update(None, "locking_mode", "exclusive").unwrap();
        writer.execute_batch("PRAGMA journal_mode = delete; BEGIN EXCLUSIVE").unwrap();
        let error = texts(&open(&path)).unwrap_err();
        assert!(error.hints[0].contains("another program"), "{error:?}");
    }
}
