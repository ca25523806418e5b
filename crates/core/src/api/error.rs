//! The answer to a request that failed.

use serde::Serialize;

use crate::error::Error;

/// A failure as every command prints it with `--json`. The daemon answers with the [`Error`] alone:
/// there the HTTP status shows that it is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ErrorAnswer<'a> {
    pub error: &'a Error,
}
