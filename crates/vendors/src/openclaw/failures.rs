//! Classifies failed turns by OpenClaw's error message.

use segue_core::model::{Failure, FailureClass};

use crate::shared::failure_classes::class_of_text;

/// Texts in error messages, and their failure classes. The first match decides.
const CLASSES_BY_TEXT: [(&str, FailureClass); 13] = [
    ("http 401", FailureClass::Account),
    ("http 403", FailureClass::Account),
    ("http 429", FailureClass::UsageLimit),
    ("authentication failed", FailureClass::Account),
    ("no api key", FailureClass::Account),
    ("no available auth profile", FailureClass::Account),
    ("rate limit", FailureClass::UsageLimit),
    ("quota", FailureClass::UsageLimit),
    ("unknown model", FailureClass::Settings),
    ("invalid config", FailureClass::Settings),
    ("unknown option", FailureClass::Settings),
    ("http 5", FailureClass::Service),
    ("econnrefused", FailureClass::Connection),
];

/// The beginning of the line with the error with which OpenClaw exits.
const REASON_PREFIX: &str = "[openclaw] Reason: ";

/// Classifies an error message of OpenClaw. OpenClaw does not report when a usage limit ends.
pub(super) fn failure(message: &str) -> Failure {
    let class = class_of_text(message, &CLASSES_BY_TEXT).unwrap_or(FailureClass::Other);
    Failure { class, message: message.to_owned(), resets_at: None }
}

/// Returns the error with which OpenClaw exited without a report. `None` if standard error contains
/// no known message.
pub(super) fn failure_in_output(errors: &str) -> Option<Failure> {
    let reason = |line: &str| line.trim().strip_prefix(REASON_PREFIX).map(failure);
    let argument_error = |line: &str| line.trim().strip_prefix("error: ").map(failure);
    errors.lines().rev().find_map(reason).or_else(|| errors.lines().rev().find_map(argument_error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failure_in_output_finds_the_reason_among_log_lines() {
        let errors = "[memory] memory_index_chunks_vec not updated\n\
            [openclaw] The CLI command failed.\n\
            [openclaw] Reason: ⚠️ scripted/scripted-1 request failed (authentication failed, HTTP 401). Re-authenticate the provider and try again.\n\
            [openclaw] Try: openclaw doctor\n";
        let found = failure_in_output(errors).unwrap();
        assert_eq!(found.class, FailureClass::Account);
        assert!(found.message.contains("HTTP 401"), "{found:?}");
        let argument_error = failure_in_output("error: unknown option '--nope'\n").unwrap();
        assert_eq!(argument_error.class, FailureClass::Settings);
        assert_eq!(failure_in_output("[agent/embedded] tool-search: cataloged 52 tools\n"), None);
    }
}
