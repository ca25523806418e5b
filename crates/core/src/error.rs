//! The error type of everything that a user sees: what failed, why, and what to do next.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ports::Conflict;
use crate::word_enum::word_enum;

/// The result of every operation whose failure is shown to a user.
pub type Result<T, E = Error> = std::result::Result<T, E>;

word_enum! {
    /// The category of a failure. It determines the exit code and the HTTP status.
    pub enum Kind {
        Internal = "internal",
        Usage = "usage",
        /// The request shows no valid token.
        Unauthorized = "unauthorized",
        /// The caller is known, and may not do this.
        Forbidden = "forbidden",
        /// Too many requests in a short time.
        TooMany = "too_many",
        NotFound = "not_found",
        Conflict = "conflict",
        Config = "config",
        Vendor = "vendor",
        Unavailable = "unavailable",
        Partial = "partial",
    }
}

impl Kind {
    /// Returns the exit code of the command line.
    pub fn exit_status(self) -> u8 {
        match self {
            Self::Internal => 1,
            Self::Usage | Self::Unauthorized | Self::Forbidden => 2,
            Self::NotFound => 3,
            Self::Conflict => 4,
            Self::Config => 5,
            Self::Vendor => 6,
            Self::Unavailable | Self::TooMany => 7,
            Self::Partial => 8,
        }
    }

    /// Returns the status code of an HTTP response.
    pub fn http_status(self) -> u16 {
        match self {
            Self::Internal => 500,
            Self::Usage => 400,
            Self::Unauthorized => 401,
            Self::Forbidden => 403,
            Self::TooMany => 429,
            Self::NotFound => 404,
            Self::Conflict => 409,
            Self::Config => 422,
            Self::Vendor => 502,
            Self::Unavailable => 503,
            Self::Partial => 207,
        }
    }
}

/// A failure as it is shown to a user: the message, its causes, and commands that help.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Error {
    pub kind: Kind,
    pub message: String,
    #[serde(default)]
    pub causes: Vec<String>,
    #[serde(default)]
    pub hints: Vec<String>,
    /// The stored data that a commit contradicted, if that is the reason. Not serialized.
    #[serde(skip)]
    pub conflict: Option<Box<Conflict>>,
    /// After how many seconds the request may succeed, if that is known. Not serialized.
    #[serde(skip)]
    pub retry_after_seconds: Option<u64>,
}

impl Error {
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        let (causes, hints) = (Vec::new(), Vec::new());
        let message = message.into();
        Self { kind, message, causes, hints, conflict: None, retry_after_seconds: None }
    }

    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(Kind::Internal, message)
    }

    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Kind::Usage, message)
    }

    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(Kind::NotFound, message)
    }

    pub fn conflict(message: impl Into<String>) -> Self {
        Self::new(Kind::Conflict, message)
    }

    pub fn config(message: impl Into<String>) -> Self {
        Self::new(Kind::Config, message)
    }

    pub fn vendor(message: impl Into<String>) -> Self {
        Self::new(Kind::Vendor, message)
    }

    pub fn unavailable(message: impl Into<String>) -> Self {
        Self::new(Kind::Unavailable, message)
    }

    /// Adds a cause. The first cause added is the most direct one.
    #[must_use]
    pub fn caused_by(mut self, cause: impl fmt::Display) -> Self {
        self.causes.push(cause.to_string());
        self
    }

    /// Adds a hint: a sentence with a command that the user can paste.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Returns the message, its causes and its hints in one line, for a note in a list.
    pub fn in_one_line(&self) -> String {
        let hints: String = self.hints.iter().map(|hint| format!("; {hint}")).collect();
        format!("{self}{hints}")
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        self.causes.iter().try_for_each(|cause| write!(f, ": {cause}"))
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_its_documented_exit_status() {
        let table = [
            (Kind::Internal, 1),
            (Kind::Usage, 2),
            (Kind::Unauthorized, 2),
            (Kind::Forbidden, 2),
            (Kind::NotFound, 3),
            (Kind::Conflict, 4),
            (Kind::Config, 5),
            (Kind::Vendor, 6),
            (Kind::Unavailable, 7),
            (Kind::TooMany, 7),
            (Kind::Partial, 8),
        ];
        for (kind, status) in table {
            assert_eq!(kind.exit_status(), status, "{kind:?}");
        }
    }
}
