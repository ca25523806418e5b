//! What `segue doctor` finds.

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::word_enum::word_enum;

/// `POST /v1/doctor`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DoctorRequest {
    /// Cures what can be cured.
    pub fix: bool,
}

/// What disagrees.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DoctorReport {
    pub findings: Vec<Finding>,
}

/// A result of `segue doctor`: what was found, and how to fix it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    pub severity: Severity,
    pub what: String,
    pub cure: Option<String>,
    /// `segue doctor --fix` can fix it.
    #[serde(default)]
    pub curable: bool,
    pub fixed: bool,
}

impl Finding {
    /// Converts an error into a problem. Its first hint becomes the cure.
    pub fn problem(error: &Error) -> Self {
        let (what, cure) = (error.to_string(), error.hints.first().cloned());
        Self { severity: Severity::Problem, what, cure, curable: false, fixed: false }
    }
}

word_enum! {
    /// How bad a [`Finding`] is.
    pub enum Severity {
        /// Nothing is wrong; worth knowing.
        Note = "note",
        Warning = "warning",
        Problem = "problem",
    }
}
