//! Classifies why a turn failed, from the error that Copilot reports.

use segue_core::model::{Failure, FailureClass};
use serde::Deserialize;

use crate::shared::failure_classes::of_status;

/// The data of a `session.error` event.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct CopilotError {
    error_type: String,
    message: String,
    status_code: Option<u16>,
}

impl CopilotError {
    pub(super) fn failure(self) -> Failure {
        // Copilot never reports when a usage limit ends.
        Failure { class: self.class(), message: self.message, resets_at: None }
    }

    fn class(&self) -> FailureClass {
        let by_kind = class_of_type(&self.error_type);
        let by_status = || self.status_code.and_then(of_status);
        by_kind.or_else(by_status).unwrap_or_else(|| class_of_text(&self.message))
    }
}

/// Finds the error with which Copilot exited before its first turn: the first line that looks like
/// an error.
pub(super) fn failure_in_output(errors: &str) -> Option<Failure> {
    let prefixes = ["No authentication information", "Error: ", "error: "];
    let line = errors
        .lines()
        .map(str::trim)
        .find(|line| prefixes.iter().any(|prefix| line.starts_with(prefix)))?;
    let class = class_of_text(line);
    Some(Failure { class, message: line.to_owned(), resets_at: None })
}

fn class_of_type(kind: &str) -> Option<FailureClass> {
    match kind {
        "authentication" | "authorization" => Some(FailureClass::Account),
        "quota" | "rate_limit" => Some(FailureClass::UsageLimit),
        "policy" | "context_limit" => Some(FailureClass::Request),
        _ => None,
    }
}

fn class_of_text(text: &str) -> FailureClass {
    let contains = |words: &[&str]| words.iter().any(|word| text.contains(word));
    if contains(&["missing finish_reason", "reading a body", "stream", "ECONNRESET"]) {
        FailureClass::Stream
    } else if contains(&["Could not connect", "ECONNREFUSED", "ENOTFOUND", "fetch failed"]) {
        FailureClass::Connection
    } else if contains(&["authentication", "Authentication", "copilot login", "/login"]) {
        FailureClass::Account
    } else if contains(&["unexpected argument", "invalid value", "a value is required"]) {
        FailureClass::Settings
    } else {
        FailureClass::Other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(json: &str) -> FailureClass {
        serde_json::from_str::<CopilotError>(json).unwrap().failure().class
    }

    #[test]
    fn failure_class_comes_from_the_error_type_then_the_status_then_the_message() {
        let table = [
            (r#"{"errorType":"query","message":"400 x","statusCode":400}"#, FailureClass::Request),
            (r#"{"errorType":"authentication","statusCode":401}"#, FailureClass::Account),
            (r#"{"errorType":"authentication","statusCode":403}"#, FailureClass::Account),
            (r#"{"errorType":"rate_limit","statusCode":429}"#, FailureClass::UsageLimit),
            (r#"{"errorType":"quota","errorCode":"quota_exceeded"}"#, FailureClass::UsageLimit),
            (r#"{"errorType":"query","statusCode":500}"#, FailureClass::Service),
            (
                r#"{"errorType":"query","message":"Failed to get response from the AI model; retried 5 times (total retry wait time: 5.00 seconds) Last error: Failed to finalize chat-completions stream: missing finish_reason for choice 0"}"#,
                FailureClass::Stream,
            ),
            (
                r#"{"errorType":"query","message":"Last error: Failed native model HTTP request: error decoding response body: error reading a body from connection: unexpected EOF during chunk size line"}"#,
                FailureClass::Stream,
            ),
            (
                r#"{"errorType":"query","message":"Could not connect to local model provider at http://127.0.0.1:8124/v1.\n  Check that the service is running and the port is correct."}"#,
                FailureClass::Connection,
            ),
            (r#"{"errorType":"query","message":"what?"}"#, FailureClass::Other),
        ];
        for (json, wanted) in table {
            assert_eq!(class(json), wanted, "{json}");
        }
    }

    #[test]
    fn failure_in_output_is_the_first_line_that_is_an_error() {
        let errors = "\nError: No session, task, or name matched '49999999'.\n\nTo resume by name:";
        let failure = failure_in_output(errors).unwrap();
        assert_eq!(failure.message, "Error: No session, task, or name matched '49999999'.");
        assert_eq!(failure.class, FailureClass::Other);
        let wrong = failure_in_output("error: unexpected argument '--nonsense' found").unwrap();
        assert_eq!(wrong.class, FailureClass::Settings);
        assert_eq!(failure_in_output("bye"), None);
    }
}
