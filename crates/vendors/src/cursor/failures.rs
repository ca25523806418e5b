//! Classifies why a turn failed, from Cursor's error message.

use segue_core::model::{Failure, FailureClass};

use crate::shared::failure_classes::class_of_text;

/// Texts in error messages, and the class of each text. The most reliable text is the first. Texts
/// in brackets are error codes of Cursor's service.
const CLASSES_BY_TEXT: [(&str, FailureClass); 17] = [
    ("[unauthenticated]", FailureClass::Account),
    ("[permission_denied]", FailureClass::Account),
    ("[resource_exhausted]", FailureClass::UsageLimit),
    ("[unavailable]", FailureClass::Service),
    ("[internal]", FailureClass::Service),
    ("[invalid_argument]", FailureClass::Request),
    ("authentication required", FailureClass::Account),
    ("not authenticated", FailureClass::Account),
    ("not logged in", FailureClass::Account),
    ("api key", FailureClass::Account),
    ("usage limit", FailureClass::UsageLimit),
    ("rate limit", FailureClass::UsageLimit),
    ("cannot use this model", FailureClass::Settings),
    ("unknown option", FailureClass::Settings),
    ("workspace trust", FailureClass::Settings),
    ("econnrefused", FailureClass::Connection),
    ("fetch failed", FailureClass::Connection),
];

/// Prefixes of lines that are errors, even if their texts are unknown.
const ERROR_PREFIXES: [&str; 2] = ["Error: ", "error: "];

/// Classifies an error message of Cursor. Cursor does not report when a usage limit ends.
pub(super) fn failure(message: &str) -> Failure {
    let class = class_of(message).unwrap_or(FailureClass::Other);
    Failure { class, message: message.to_owned(), resets_at: None }
}

/// Finds the error with which Cursor exited without a result.
pub(super) fn failure_in_output(errors: &str) -> Option<Failure> {
    let lines = || errors.lines().map(str::trim).filter(|line| !line.is_empty()).rev();
    let is_error = |line: &&str| ERROR_PREFIXES.iter().any(|prefix| line.starts_with(prefix));
    let line = lines().find(|line| class_of(line).is_some()).or_else(|| lines().find(is_error))?;
    let message = ERROR_PREFIXES.iter().find_map(|prefix| line.strip_prefix(prefix));
    Some(failure(message.unwrap_or(line)))
}

fn class_of(message: &str) -> Option<FailureClass> {
    class_of_text(message, &CLASSES_BY_TEXT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failure_in_output_classifies_cursors_error_lines() {
        for (errors, wanted) in [
            (
                "Error: Authentication required. Please run 'agent login' first",
                FailureClass::Account,
            ),
            ("Error: Not authenticated\n", FailureClass::Account),
            ("ConnectError: [resource_exhausted] Error\n", FailureClass::UsageLimit),
            ("ConnectError: [unavailable] x\n    at y\n", FailureClass::Service),
            ("Cannot use this model: x. Available models: auto, y", FailureClass::Settings),
            ("error: unknown option '--plugin-dir'", FailureClass::Settings),
            ("Error: something else", FailureClass::Other),
        ] {
            assert_eq!(failure_in_output(errors).unwrap().class, wanted, "{errors}");
        }
        assert_eq!(failure_in_output("Error: something else\n").unwrap().message, "something else");
        assert_eq!(failure_in_output("Aborting operation...\n"), None);
    }
}
