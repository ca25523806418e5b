//! Classifies why a turn failed, from Codex's error message.

use jiff::Timestamp;
use segue_core::model::{Failure, FailureClass};

use crate::shared::failure_classes::{class_of_text, of_status_or_timeout as of_status};

/// Texts in error messages, and the class of each text. The most reliable text is the first.
const CLASSES_BY_TEXT: [(&str, FailureClass); 20] = [
    ("usage limit", FailureClass::UsageLimit),
    ("quota exceeded", FailureClass::UsageLimit),
    ("out of credits", FailureClass::UsageLimit),
    ("no longer configured", FailureClass::Settings),
    ("model provider", FailureClass::Settings),
    ("config.toml", FailureClass::Settings),
    ("missing environment variable", FailureClass::Account),
    ("not logged in", FailureClass::Account),
    ("access token", FailureClass::Account),
    ("sign in again", FailureClass::Account),
    ("connection failed", FailureClass::Connection),
    ("error sending request", FailureClass::Connection),
    ("waiting for network", FailureClass::Connection),
    ("high demand", FailureClass::Service),
    ("at capacity", FailureClass::Service),
    ("overloaded", FailureClass::Service),
    ("stream disconnected", FailureClass::Stream),
    ("idle timeout", FailureClass::Stream),
    ("context window", FailureClass::Request),
    ("\"error\":", FailureClass::Request),
];

/// Texts before the number of an HTTP status.
const STATUS_PREFIXES: [&str; 2] = ["unexpected status ", "last status: "];

/// Classifies an error message. `limit_ends` is the end of a usage limit from the rollout: the
/// message has it only in words, and without a time zone.
pub(super) fn failure(message: &str, limit_ends: Option<Timestamp>) -> Failure {
    let class = class(message);
    let resets_at = limit_ends.filter(|_| class == FailureClass::UsageLimit);
    Failure { class, message: message.to_owned(), resets_at }
}

/// Finds the error with which Codex exited before it began a turn.
pub(super) fn failure_in_output(errors: &str) -> Option<Failure> {
    let message = errors.lines().rev().find_map(error_message)?;
    Some(failure(message.trim(), None))
}

fn error_message(line: &str) -> Option<&str> {
    let after_prefix = ["Error: ", "ERROR: "].iter().find_map(|begin| line.strip_prefix(begin));
    after_prefix
        .or_else(|| line.strip_prefix("Error ")?.split_once(": ").map(|(_, message)| message))
}

fn class(message: &str) -> FailureClass {
    if let Some(class) = status(message).and_then(of_status) {
        return class;
    }
    class_of_text(message, &CLASSES_BY_TEXT).unwrap_or(FailureClass::Other)
}

fn status(message: &str) -> Option<u16> {
    let after = STATUS_PREFIXES.iter().find_map(|before| Some(message.split_once(before)?.1))?;
    let digits = after.get(..3)?;
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_message_decides_the_failure_class() {
        let url = "url: http://127.0.0.1:8765/v1/responses";
        for (message, wanted) in [
            (r#"{"error": {"type": "x", "message": "no"}}"#.to_owned(), FailureClass::Request),
            (format!("unexpected status 401 Unauthorized: no, {url}"), FailureClass::Account),
            (format!("unexpected status 403 Forbidden: no, {url}"), FailureClass::Account),
            (format!("unexpected status 404 Not Found: no, {url}"), FailureClass::Request),
            (format!("unexpected status 413 Payload Too Large: {url}"), FailureClass::Request),
            (
                "exceeded retry limit, last status: 429 Too Many Requests".to_owned(),
                FailureClass::UsageLimit,
            ),
            (
                "You’ve hit your usage limit. Upgrade to Pro or try again at 1:21 AM.".to_owned(),
                FailureClass::UsageLimit,
            ),
            (
                "We’re currently experiencing high demand, which may cause temporary errors."
                    .to_owned(),
                FailureClass::Service,
            ),
            (format!("unexpected status 503 Service Unavailable: {url}"), FailureClass::Service),
            ("Connection failed: error sending request".to_owned(), FailureClass::Connection),
            (
                "stream disconnected before completion: stream closed before response.completed"
                    .to_owned(),
                FailureClass::Stream,
            ),
            ("Missing environment variable: `KEY`.".to_owned(), FailureClass::Account),
            (
                "Error: thread/resume: thread/resume failed: This chat uses model provider \
                 “other”, which is no longer configured. (code -32600)"
                    .to_owned(),
                FailureClass::Settings,
            ),
            ("Error: Model provider `nope` not found".to_owned(), FailureClass::Settings),
            ("something else".to_owned(), FailureClass::Other),
            (String::new(), FailureClass::Other),
        ] {
            assert_eq!(class(&message), wanted, "{message}");
            assert_eq!(failure(&message, None).message, message);
        }
    }

    #[test]
    fn failure_in_output_finds_the_error_of_an_exit_before_the_first_turn() {
        let errors = "WARNING: proceeding, even though\n\
            Error: thread/resume: thread/resume failed: no rollout found for thread id x\n";
        let found = failure_in_output(errors).unwrap();
        assert!(found.message.starts_with("thread/resume: "), "{found:?}");
        let interactive = "Error loading configuration: Model provider `x` not found\n";
        assert_eq!(failure_in_output(interactive).unwrap().class, FailureClass::Settings);
        assert_eq!(failure_in_output("Reading additional input from stdin...\n"), None);
    }
}
