//! Classifies failed turns by Pi's error message.

use segue_core::model::{Failure, FailureClass};

use crate::shared::failure_classes::{class_of_text, of_status};

/// Texts in error messages, and their failure classes. The first match decides. Pi repeats the
/// error messages of the services.
const CLASSES_BY_TEXT: [(&str, FailureClass); 26] = [
    ("usage limit", FailureClass::UsageLimit),
    ("quota", FailureClass::UsageLimit),
    ("rate limit", FailureClass::UsageLimit),
    ("rate_limit", FailureClass::UsageLimit),
    ("too many requests", FailureClass::UsageLimit),
    ("no api key", FailureClass::Account),
    ("api key", FailureClass::Account),
    ("authentication", FailureClass::Account),
    ("unauthorized", FailureClass::Account),
    ("no model", FailureClass::Settings),
    ("failed to load extension", FailureClass::Settings),
    ("unknown provider", FailureClass::Settings),
    ("not found. use --list-models", FailureClass::Settings),
    ("unknown option", FailureClass::Settings),
    ("overloaded", FailureClass::Service),
    ("server error", FailureClass::Service),
    ("server_error", FailureClass::Service),
    ("service unavailable", FailureClass::Service),
    ("connection error", FailureClass::Connection),
    ("econnrefused", FailureClass::Connection),
    ("fetch failed", FailureClass::Connection),
    ("terminated", FailureClass::Stream),
    ("premature close", FailureClass::Stream),
    ("other side closed", FailureClass::Stream),
    ("ended without", FailureClass::Stream),
    ("context", FailureClass::Request),
];

/// The beginnings of the errors with which Pi exits before its first turn.
const START_ERRORS: [&str; 5] = [
    "Error: ",
    "No models available",
    "No API key found",
    "No session found",
    "Stored session working directory",
];

/// Classifies an error message of Pi. Pi does not report when a usage limit ends.
pub(super) fn failure(message: &str) -> Failure {
    Failure { class: class(message), message: message.to_owned(), resets_at: None }
}

/// Returns the error with which Pi exited before its first turn. `None` if standard error contains
/// no known message.
pub(super) fn failure_in_output(errors: &str) -> Option<Failure> {
    let is_error = |line: &&str| START_ERRORS.iter().any(|start| line.starts_with(start));
    let line = errors.lines().map(str::trim).rev().find(is_error)?;
    Some(failure(line.strip_prefix(START_ERRORS[0]).unwrap_or(line)))
}

fn class(message: &str) -> FailureClass {
    let by_status = status(message).and_then(of_status);
    by_status.or_else(|| class_of_text(message, &CLASSES_BY_TEXT)).unwrap_or(FailureClass::Other)
}

/// Parses the HTTP status at the beginning of the message.
fn status(message: &str) -> Option<u16> {
    let word = message.split(|c: char| !c.is_ascii_digit()).next()?;
    word.parse().ok().filter(|_| word.len() == 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failure_class_comes_from_the_status_or_from_the_message() {
        let table = [
            ("400 {\"error\":{\"message\":\"rate limit\"}}", FailureClass::Request),
            ("401 {\"type\":\"error\"}", FailureClass::Account),
            ("429 status code (no body)", FailureClass::UsageLimit),
            ("500 {\"type\":\"error\"}", FailureClass::Service),
            ("Connection error.", FailureClass::Connection),
            ("terminated", FailureClass::Stream),
            ("No API key found for google.", FailureClass::Account),
            ("You have hit your ChatGPT usage limit (plus plan).", FailureClass::UsageLimit),
            ("4711 is no status", FailureClass::Other),
        ];
        for (message, wanted) in table {
            assert_eq!(failure(message).class, wanted, "{message}");
        }
    }

    #[test]
    fn failure_in_output_finds_the_error_line_among_other_lines() {
        let errors = "Warning: x\nError: Unknown option: -z\n    at y\n";
        let found = failure_in_output(errors).unwrap();
        assert_eq!(
            (found.message.as_str(), found.class),
            ("Unknown option: -z", FailureClass::Settings)
        );
        let models = "No models available. Use /login to log into a provider\n  /docs/x.md\n";
        assert_eq!(failure_in_output(models).unwrap().class, FailureClass::Settings);
        assert_eq!(failure_in_output("hello\n"), None);
    }
}
