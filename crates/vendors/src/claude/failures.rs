//! Classifies why a turn failed, from Claude Code's report.

use jiff::Timestamp;
use segue_core::model::{Failure, FailureClass};

use crate::shared::failure_classes::of_status;

/// What Claude Code reports about a failure.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ClaudeError<'a> {
    /// HTTP status of the service's response.
    pub(super) status: Option<u16>,
    /// Claude Code's own name for the kind of failure.
    pub(super) kind: Option<&'a str>,
    /// The error message. It may be empty.
    pub(super) text: &'a str,
}

impl ClaudeError<'_> {
    pub(super) fn failure(self) -> Failure {
        let class = self.class();
        let is_usage_limit = class == FailureClass::UsageLimit;
        Failure {
            class,
            message: self.text.to_owned(),
            resets_at: if is_usage_limit { resets_at(self.text) } else { None },
        }
    }

    fn class(self) -> FailureClass {
        if self.text.contains("not your usage limit") {
            return FailureClass::Service;
        }
        let by_status = self.status.and_then(of_status);
        by_status.or_else(|| self.kind.and_then(of_kind)).unwrap_or_else(|| of_text(self.text))
    }
}

fn of_kind(kind: &str) -> Option<FailureClass> {
    match kind {
        "rate_limit" => Some(FailureClass::UsageLimit),
        "authentication_failed" | "oauth_org_not_allowed" | "billing_error" => {
            Some(FailureClass::Account)
        }
        "invalid_request" | "max_output_tokens" | "model_not_found" => Some(FailureClass::Request),
        "server_error" | "overloaded" => Some(FailureClass::Service),
        _ => None,
    }
}

fn of_text(text: &str) -> FailureClass {
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    if has(&["Connection to the API was lost", "ECONNRESET", "Connection closed"]) {
        FailureClass::Stream
    } else if has(&["Unable to connect", "ConnectionRefused", "ECONNREFUSED", "ENOTFOUND"]) {
        FailureClass::Connection
    } else if has(&["usage limit", "hit your limit", "limit reached"]) {
        FailureClass::UsageLimit
    } else if has(&["/login", "API key"]) {
        FailureClass::Account
    } else {
        FailureClass::Other
    }
}

/// Parses the end of a usage limit from a text such as `…|1767225600` (Unix time in seconds).
fn resets_at(text: &str) -> Option<Timestamp> {
    let (_, after) = text.rsplit_once('|')?;
    let digits: String = after.chars().take_while(char::is_ascii_digit).collect();
    let second = digits.parse().ok()?;
    Timestamp::from_second(second).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(status: Option<u16>, kind: Option<&str>, text: &str) -> FailureClass {
        ClaudeError { status, kind, text }.failure().class
    }

    #[test]
    fn http_status_decides_the_failure_class() {
        let table = [
            (400, FailureClass::Request),
            (401, FailureClass::Account),
            (403, FailureClass::Account),
            (404, FailureClass::Request),
            (413, FailureClass::Request),
            (429, FailureClass::UsageLimit),
            (500, FailureClass::Service),
            (529, FailureClass::Service),
        ];
        for (status, wanted) in table {
            assert_eq!(class(Some(status), None, "API Error"), wanted, "{status}");
        }
    }

    #[test]
    fn without_a_status_kind_and_text_decide_the_failure_class() {
        let refused = "API Error: Unable to connect to API (ConnectionRefused)";
        let cut = "API Error: Connection to the API was lost (ECONNRESET). This is usually \
                   temporary — try again.";
        assert_eq!(class(None, Some("unknown"), refused), FailureClass::Connection);
        assert_eq!(class(None, None, cut), FailureClass::Stream);
        let reset = "API Error: Unable to connect to API (ECONNRESET)";
        assert_eq!(class(None, None, reset), FailureClass::Stream, "there was a connection");
        assert_eq!(class(None, Some("server_error"), "x"), FailureClass::Service);
        assert_eq!(class(None, None, "Not logged in · Please run /login"), FailureClass::Account);
        assert_eq!(class(None, None, "Reached maximum number of turns (1)"), FailureClass::Other);
    }

    #[test]
    fn temporary_request_limit_of_the_server_is_a_service_failure() {
        let text = "API Error: Server is temporarily limiting requests (not your usage limit)";
        assert_eq!(class(Some(429), Some("rate_limit"), text), FailureClass::Service);
    }

    #[test]
    fn end_of_a_usage_limit_is_parsed_if_the_text_has_it() {
        let at = |text| ClaudeError { status: Some(429), kind: None, text }.failure().resets_at;
        let end = at("Claude AI usage limit reached|1893492000").unwrap();
        assert_eq!(end.to_string(), "2030-01-01T10:00:00Z");
        assert_eq!(at("This request would exceed your account's rate limit."), None);
    }
}
