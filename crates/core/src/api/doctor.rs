//! The report of `segue doctor`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::word_enum::word_enum;

/// `POST /v1/doctor`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DoctorRequest {
    /// Fix the problems that can be fixed.
    pub fix: bool,
}

/// The differences between the store, the launch folders, the processes and the vendors' files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DoctorReport {
    pub findings: Vec<Finding>,
}

/// One result of `segue doctor`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    pub severity: Severity,
    /// The description of the result.
    pub what: String,
    /// How the user can fix the problem.
    pub cure: Option<String>,
    /// Whether `segue doctor --fix` can fix the problem.
    #[serde(default)]
    pub curable: bool,
    pub fixed: bool,
}

impl Finding {
    /// Converts an error into a problem. The first hint of the error becomes the cure.
    pub fn problem(error: &Error) -> Self {
        let (what, cure) = (error.to_string(), error.hints.first().cloned());
        Self { severity: Severity::Problem, what, cure, curable: false, fixed: false }
    }
}

word_enum! {
    /// How bad a [`Finding`] is.
    pub enum Severity {
        /// Information. Nothing is wrong.
        Note = "note",
        Warning = "warning",
        Problem = "problem",
    }
}
