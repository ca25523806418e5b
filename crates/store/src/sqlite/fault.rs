//! Failures of SQLite and of file operations, and the errors that users see.

use std::io;
use std::path::Path;

use rusqlite::ErrorCode;
use rusqlite::ffi;
use segue_core::ports::{Conflict, Missing};
use segue_core::{Error, Kind};

/// A failure: an error of SQLite, or an error that can be shown to users.
#[derive(Debug)]
pub(crate) enum SqliteFault {
    Sqlite(rusqlite::Error),
    Core(Error),
}

impl From<rusqlite::Error> for SqliteFault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl From<Error> for SqliteFault {
    fn from(error: Error) -> Self {
        Self::Core(error)
    }
}

impl From<Conflict> for SqliteFault {
    fn from(conflict: Conflict) -> Self {
        Self::Core(conflict.into())
    }
}

impl From<Missing> for SqliteFault {
    fn from(missing: Missing) -> Self {
        Self::Core(missing.into())
    }
}

impl SqliteFault {
    /// Converts the failure to an error for users. `path` is the path of the store.
    pub(crate) fn into_error(self, path: &Path) -> Error {
        match self {
            Self::Core(error) => error,
            Self::Sqlite(error) => sqlite(path, &error),
        }
    }
}

/// Returns the error for a failed file operation, such as "create the store".
pub(crate) fn system(operation: &str, path: &Path, error: &io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            disk_full(path).caused_by(error)
        }
        io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => {
            read_only(path).caused_by(error)
        }
        _ => {
            Error::unavailable(format!("cannot {operation} `{}`", path.display())).caused_by(error)
        }
    }
}

pub(crate) fn disk_full(path: &Path) -> Error {
    let folder = path.parent().unwrap_or(path).display();
    Error::unavailable("the disk is full")
        .caused_by(format!("nothing more can be written to `{}`", path.display()))
        .hint(format!("run `df -h {folder}` and free some space; nothing that was stored is lost"))
}

pub(crate) fn read_only(path: &Path) -> Error {
    let folder = path.parent().unwrap_or(path).display();
    Error::unavailable(format!("the store `{}` cannot be written", path.display()))
        .hint(format!("run `ls -la {folder}` to see who may write there"))
}

pub(crate) fn damaged(path: &Path) -> Error {
    Error::unavailable(format!("the store `{}` is damaged", path.display()))
        .hint("run `segue doctor --fix` to move it aside and rebuild it from the launch folders")
}

pub(crate) fn gone(path: &Path) -> Error {
    Error::unavailable("the store's file is gone")
        .caused_by(format!("`{}` was deleted or replaced while it was open", path.display()))
        .hint("run `segue doctor --fix` to rebuild it from the launch folders")
}

fn sqlite(path: &Path, error: &rusqlite::Error) -> Error {
    match error {
        rusqlite::Error::SqliteFailure(failure, _) => by_code(path, *failure).caused_by(error),
        rusqlite::Error::FromSqlConversionFailure(..)
        | rusqlite::Error::InvalidColumnType(..)
        | rusqlite::Error::IntegralValueOutOfRange(..)
        | rusqlite::Error::Utf8Error(..) => damaged(path).caused_by(error),
        _ => Error::internal("the store failed").caused_by(error),
    }
}

fn by_code(path: &Path, failure: ffi::Error) -> Error {
    match failure.code {
        _ if failure.extended_code == ffi::SQLITE_READONLY_DBMOVED => gone(path),
        // The index of the write-ahead log could not grow, which also means a full disk.
        _ if failure.extended_code == ffi::SQLITE_IOERR_SHMSIZE => disk_full(path),
        ErrorCode::DiskFull => disk_full(path),
        ErrorCode::ReadOnly | ErrorCode::PermissionDenied => read_only(path),
        ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => damaged(path),
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => busy(path),
        ErrorCode::ConstraintViolation => {
            Error::new(Kind::Conflict, "the change contradicts the stored data")
                .hint("run `segue ls --all` to see all sessions")
        }
        ErrorCode::CannotOpen | ErrorCode::SystemIoFailure => {
            Error::unavailable(format!("cannot read or write the store `{}`", path.display()))
                .hint("run `segue doctor` to see what is wrong")
        }
        _ => Error::internal("the store failed"),
    }
}

fn busy(path: &Path) -> Error {
    Error::unavailable(format!("the store `{}` is busy", path.display()))
        .hint("run the command again; another process is writing")
}
