//! Converts values of the model to columns.

use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use jiff::Timestamp;
use rusqlite::ToSql;
use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use segue_core::model::SessionId;
use serde::Serialize;

/// Stores a value as JSON. For values that are never searched.
#[derive(Debug)]
pub(crate) struct Json<'value, T>(pub(crate) &'value T);

impl<T: Serialize> ToSql for Json<'_, T> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let text = serde_json::to_string(self.0).map_err(unwritable)?;
        Ok(ToSqlOutput::Owned(Value::Text(text)))
    }
}

/// Stores a value whose JSON is a single string as that string: ids, names and words.
#[derive(Debug)]
pub(crate) struct Word<'value, T>(pub(crate) &'value T);

impl<T: Serialize> ToSql for Word<'_, T> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        match serde_json::to_value(self.0).map_err(unwritable)? {
            serde_json::Value::String(word) => Ok(ToSqlOutput::Owned(Value::Text(word))),
            serde_json::Value::Null => Ok(ToSqlOutput::Owned(Value::Null)),
            other => Err(unwritable(format!("`{other}` is not a word"))),
        }
    }
}

/// A timestamp, always with nine decimals, so that timestamps sort as text.
#[derive(Debug)]
pub(crate) struct Time(pub(crate) Timestamp);

impl ToSql for Time {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Owned(Value::Text(format!("{:.9}", self.0))))
    }
}

/// A path. It is stored as text if it is valid UTF-8, so that people can read it. Otherwise it is
/// stored as bytes.
#[derive(Debug)]
pub(crate) struct Location<'path>(pub(crate) &'path Path);

impl ToSql for Location<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let bytes = self.0.as_os_str().as_bytes();
        let value =
            if self.0.to_str().is_some() { ValueRef::Text(bytes) } else { ValueRef::Blob(bytes) };
        Ok(ToSqlOutput::Borrowed(value))
    }
}

/// Returns the stored form of a caller: the id of the session whose agent sent the request, or an
/// empty string for the user.
pub(crate) fn caller(caller: Option<SessionId>) -> String {
    caller.map(|session| session.to_string()).unwrap_or_default()
}

fn unwritable(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> rusqlite::Error {
    rusqlite::Error::ToSqlConversionFailure(cause.into())
}
