//! One error for everything a person can be told: what failed, why, and what to do next.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Result of everything in Segue that can fail in front of a person.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What sort of failure it is; decides the exit status and the HTTP status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Internal,
    Usage,
    NotFound,
    Conflict,
    Config,
    Vendor,
    Unavailable,
    Partial,
}

impl Kind {
    /// Returns the exit status of the command line.
    pub fn exit_status(self) -> u8 {
        match self {
            Self::Internal => 1,
            Self::Usage => 2,
            Self::NotFound => 3,
            Self::Conflict => 4,
            Self::Config => 5,
            Self::Vendor => 6,
            Self::Unavailable => 7,
            Self::Partial => 8,
        }
    }

    /// Returns the status of an HTTP answer.
    pub fn http_status(self) -> u16 {
        match self {
            Self::Internal => 500,
            Self::Usage => 400,
            Self::NotFound => 404,
            Self::Conflict => 409,
            Self::Config => 422,
            Self::Vendor => 502,
            Self::Unavailable => 503,
            Self::Partial => 207,
        }
    }
}

/// A failure as a person reads it: the message, its causes, and commands that help.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Error {
    pub kind: Kind,
    pub message: String,
    #[serde(default)]
    pub causes: Vec<String>,
    #[serde(default)]
    pub hints: Vec<String>,
}

impl Error {
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), causes: Vec::new(), hints: Vec::new() }
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

    /// Adds a cause, the nearest first.
    #[must_use]
    pub fn caused_by(mut self, cause: impl fmt::Display) -> Self {
        self.causes.push(cause.to_string());
        self
    }

    /// Adds a hint: a sentence with a command that can be pasted.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Returns everything in one line, for a note in a list.
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
            (Kind::NotFound, 3),
            (Kind::Conflict, 4),
            (Kind::Config, 5),
            (Kind::Vendor, 6),
            (Kind::Unavailable, 7),
            (Kind::Partial, 8),
        ];
        for (kind, status) in table {
            assert_eq!(kind.exit_status(), status, "{kind:?}");
        }
    }
}
