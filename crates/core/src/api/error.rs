//! The answer to a request that failed.

use serde::Serialize;

use crate::error::Error;

/// A failure as every command prints it with `--json`. The daemon sends the [`Error`] alone, because
/// the HTTP status shows already that the response is an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ErrorAnswer<'a> {
    pub error: &'a Error,
}
