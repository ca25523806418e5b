//! Classifies failed turns by Gemini's error message.

use jiff::{SignedDuration, Timestamp};
use segue_core::model::{Failure, FailureClass};

use crate::shared::failure_classes::{class_of_text, of_status};

/// Texts in error messages without an HTTP status, and their failure classes. The first match
/// decides.
const CLASSES_BY_TEXT: [(&str, FailureClass); 18] = [
    ("quota", FailureClass::UsageLimit),
    ("exhausted", FailureClass::UsageLimit),
    ("fetch failed", FailureClass::Connection),
    ("econnrefused", FailureClass::Connection),
    ("enotfound", FailureClass::Connection),
    ("terminated", FailureClass::Stream),
    ("incomplete json", FailureClass::Stream),
    ("stream ended", FailureClass::Stream),
    ("econnreset", FailureClass::Stream),
    ("premature close", FailureClass::Stream),
    ("finish reason", FailureClass::Stream),
    ("not running in a trusted directory", FailureClass::Settings),
    ("invalid configuration", FailureClass::Settings),
    ("api key", FailureClass::Account),
    ("auth method", FailureClass::Account),
    ("authentication", FailureClass::Account),
    ("error resuming session", FailureClass::Other),
    // The service caused this error: it has no status, and Gemini has retried it.
    ("[api error: ", FailureClass::Service),
];

/// The beginnings of the errors with which Gemini exits before its first turn.
const START_ERRORS: [&str; 5] = [
    "Error resuming session: ",
    "Gemini CLI is not running in a trusted directory",
    "Please set an Auth method",
    "Invalid auth method",
    "Error in ",
];

/// Classifies an error message. `at` is the time of the message, from which the end of a usage
/// limit is computed.
pub(super) fn failure(message: &str, at: Option<Timestamp>) -> Failure {
    let class = class(message);
    let resets_at = at.filter(|_| class == FailureClass::UsageLimit);
    let resets_at = resets_at.and_then(|at| at.checked_add(retry_in(message)?).ok());
    Failure { class, message: message.to_owned(), resets_at }
}

/// Returns the error with which Gemini exited before its first turn. `None` if standard error
/// contains no known message.
pub(super) fn failure_in_output(errors: &str) -> Option<Failure> {
    let message = errors.lines().rev().find_map(|line| {
        let start = START_ERRORS.iter().find_map(|start| line.find(start))?;
        Some(line[start..].split('\u{1b}').next().unwrap_or_default().trim())
    })?;
    Some(failure(message, None))
}

fn class(message: &str) -> FailureClass {
    if let Some(class) = status(message).and_then(of_status) {
        return class;
    }
    class_of_text(message, &CLASSES_BY_TEXT).unwrap_or(FailureClass::Other)
}

/// Parses the HTTP status in the service's response.
fn status(message: &str) -> Option<u16> {
    let (_, after) = message.split_once("\"code\":")?;
    after.trim_start().get(..3)?.parse().ok()
}

/// Parses the duration of a usage limit in a message such as `Please retry in 12.5s.`
fn retry_in(message: &str) -> Option<SignedDuration> {
    let (_, after) = message.split_once("retry in ")?;
    let digits: String = after.chars().take_while(|c| c.is_ascii_digit()).collect();
    let rest = after[digits.len()..].trim_start_matches(|c: char| c == '.' || c.is_ascii_digit());
    let is_seconds = rest.starts_with('s');
    is_seconds.then(|| digits.parse().ok().map(SignedDuration::from_secs)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_message_decides_the_failure_class() {
        let api_error = |code: u16| {
            format!(r#"[API Error: {{"error":{{"code":{code},"message":"no","status":"X"}}}}]"#)
        };
        for (message, wanted) in [
            (api_error(400), FailureClass::Request),
            (api_error(401), FailureClass::Account),
            (api_error(403), FailureClass::Account),
            (api_error(404), FailureClass::Request),
            (api_error(429), FailureClass::UsageLimit),
            (api_error(500), FailureClass::Service),
            (
                "[API Error: scripted 429]\nPlease wait and try again later. To increase your \
                 limits, request a quota increase through AI Studio, or switch to another /auth \
                 method"
                    .to_owned(),
                FailureClass::UsageLimit,
            ),
            ("[API Error: scripted 503]".to_owned(), FailureClass::Service),
            (
                "[API Error: exception TypeError: fetch failed sending request]".to_owned(),
                FailureClass::Connection,
            ),
            ("[API Error: terminated]".to_owned(), FailureClass::Stream),
            ("Invalid auth method selected.".to_owned(), FailureClass::Account),
            ("something else".to_owned(), FailureClass::Other),
            (String::new(), FailureClass::Other),
        ] {
            assert_eq!(class(&message), wanted, "{message}");
            assert_eq!(failure(&message, None).message, message);
        }
    }

    #[test]
    fn end_of_a_usage_limit_is_computed_from_the_time_of_the_message() {
        let at: Timestamp = "2026-11-16T00:00:00Z".parse().unwrap();
        let reset_time = |message| failure(message, Some(at)).resets_at.map(|at| at.to_string());
        let message = "You exceeded your current quota. Please retry in 90.5s.";
        assert_eq!(reset_time(message).as_deref(), Some("2026-11-16T00:01:30Z"));
        assert_eq!(reset_time("You exceeded your current quota. Please retry in 2h."), None);
        assert_eq!(reset_time("The model is overloaded. Please retry in 9s."), None);
    }

    #[test]
    fn failure_in_output_finds_the_error_of_an_exit_before_the_first_turn() {
        let untrusted = "Warning: x\n\u{1b}[31mGemini CLI is not running in a trusted directory. To \
                         proceed, use `--skip-trust`\u{1b}[0m\n";
        let found = failure_in_output(untrusted).unwrap();
        assert_eq!(found.class, FailureClass::Settings);
        assert!(found.message.ends_with("`--skip-trust`"), "{found:?}");
        let unknown = "Error resuming session: No previous sessions found for this project.\n";
        assert_eq!(failure_in_output(unknown).unwrap().message, unknown.trim());
        assert_eq!(
            failure_in_output("Ripgrep is not available. Falling back to GrepTool.\n"),
            None
        );
    }
}
