//! Classifies failed turns by the error that OpenCode reports.

use jiff::Timestamp;
use segue_core::model::{Failure, FailureClass};
use serde::Deserialize;

use crate::shared::failure_classes::{class_of_text, of_status_or_timeout as of_status};

/// An error as it appears in OpenCode's events, output and database.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct OpencodeError {
    name: String,
    data: Details,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Details {
    message: String,
    status_code: Option<u16>,
}

/// The name of the error if the user interrupted the turn.
const ABORTED_NAME: &str = "MessageAbortedError";

/// Texts in error messages, and their failure classes. The first match decides.
const CLASSES_BY_TEXT: [(&str, FailureClass); 22] = [
    ("quota", FailureClass::UsageLimit),
    ("usage limit", FailureClass::UsageLimit),
    ("rate limit", FailureClass::UsageLimit),
    ("too many requests", FailureClass::UsageLimit),
    ("free usage exceeded", FailureClass::UsageLimit),
    ("api key", FailureClass::Account),
    ("unauthorized", FailureClass::Account),
    ("provider not found", FailureClass::Settings),
    ("model not found", FailureClass::Settings),
    ("no such model", FailureClass::Settings),
    ("configuration is invalid", FailureClass::Settings),
    ("config file", FailureClass::Settings),
    ("unable to connect", FailureClass::Connection),
    ("cannot connect", FailureClass::Connection),
    ("connection", FailureClass::Connection),
    ("econnrefused", FailureClass::Connection),
    ("network", FailureClass::Connection),
    ("overloaded", FailureClass::Service),
    ("server error", FailureClass::Service),
    ("the server had an error", FailureClass::Service),
    ("terminated", FailureClass::Stream),
    ("context", FailureClass::Request),
];

impl OpencodeError {
    /// Converts the error to a failure. `None` if the user interrupted the turn. `resets_at` is
    /// ignored unless the error is a usage limit.
    pub(super) fn failure(&self, resets_at: Option<Timestamp>) -> Option<Failure> {
        if self.name == ABORTED_NAME {
            return None;
        }
        let class = self.class();
        let message = match self.data.message.as_str() {
            "" => self.name.clone(),
            message => message.to_owned(),
        };
        let resets_at = resets_at.filter(|_| class == FailureClass::UsageLimit);
        Some(Failure { class, message, resets_at })
    }

    fn class(&self) -> FailureClass {
        if self.name == "ProviderAuthError" {
            return FailureClass::Account;
        }
        let status = self.data.status_code.and_then(of_status);
        status.unwrap_or_else(|| class_of_message(&self.data.message))
    }
}

/// Returns the error with which OpenCode exited before its first turn. `None` if standard error
/// contains no error.
pub(super) fn failure_in_output(errors: &str) -> Option<Failure> {
    let parse = errors.lines().rev().find_map(|line| line.trim().strip_prefix("Error: "))?;
    let message = parse.trim().to_owned();
    Some(Failure { class: class_of_message(&message), message, resets_at: None })
}

fn class_of_message(message: &str) -> FailureClass {
    class_of_text(message, &CLASSES_BY_TEXT).unwrap_or(FailureClass::Other)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(json: &str) -> OpencodeError {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn failure_class_comes_from_the_status_or_from_the_message() {
        for (json, wanted) in [
            (
                r#"{"name":"APIError","data":{"message":"no","statusCode":401}}"#,
                FailureClass::Account,
            ),
            (
                r#"{"name":"APIError","data":{"message":"no","statusCode":400}}"#,
                FailureClass::Request,
            ),
            (
                r#"{"name":"APIError","data":{"message":"no","statusCode":503}}"#,
                FailureClass::Service,
            ),
            (r#"{"name":"ProviderAuthError","data":{"message":"x"}}"#, FailureClass::Account),
            (r#"{"data":{"message":"Rate limit reached"}}"#, FailureClass::UsageLimit),
            (r#"{"data":{"message":"Unable to connect. Is it up?"}}"#, FailureClass::Connection),
            (r#"{"name":"UnknownError","data":{}}"#, FailureClass::Other),
        ] {
            assert_eq!(parse(json).failure(None).unwrap().class, wanted, "{json}");
        }
        assert_eq!(parse(r#"{"name":"MessageAbortedError","data":{}}"#).failure(None), None);
    }

    #[test]
    fn failure_in_output_finds_the_error_on_standard_error() {
        let found = failure_in_output("x\n\u{1b}[91m\nError: Session not found: ses_x\n").unwrap();
        assert_eq!(found.message, "Session not found: ses_x");
        assert_eq!(failure_in_output("nothing"), None);
    }
}
