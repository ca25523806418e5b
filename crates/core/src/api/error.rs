//! The answer to a request that failed.

use schemars::JsonSchema;
use serde::Serialize;

use crate::error::{Error, Kind};

/// A failure as every command prints it with `--json`. The daemon sends a [`Problem`], because the
/// HTTP status shows already that the response is an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ErrorAnswer<'a> {
    pub error: &'a Error,
}

/// A failure as the daemon sends it: problem details (RFC 9457), with our own kind, message, causes
/// and hints.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Problem {
    /// A URI for the kind of the failure, such as `urn:segue:problem:not_found`.
    #[serde(rename = "type")]
    pub type_uri: String,
    /// What all failures of this kind have in common.
    pub title: String,
    /// The status code of the HTTP response.
    pub status: u16,
    /// The message and its causes in one line.
    pub detail: String,
    #[serde(flatten)]
    pub error: Error,
}

impl Problem {
    /// Describes an error. The status follows from its kind.
    pub fn of(error: Error) -> Self {
        Self {
            type_uri: format!("urn:segue:problem:{}", error.kind.word()),
            title: title(error.kind).to_owned(),
            status: error.kind.http_status(),
            detail: error.to_string(),
            error,
        }
    }
}

fn title(kind: Kind) -> &'static str {
    match kind {
        Kind::Internal => "the daemon failed",
        Kind::Usage => "the request is wrong",
        Kind::Unauthorized => "the request shows no valid token",
        Kind::Forbidden => "the caller may not do this",
        Kind::TooMany => "too many requests",
        Kind::NotFound => "there is no such object",
        Kind::Conflict => "the state of an object does not allow this",
        Kind::Config => "a setting is wrong",
        Kind::Vendor => "the vendor's program failed",
        Kind::Unavailable => "the daemon or an agent cannot be reached now",
        Kind::Partial => "a part of the request failed",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn problem_has_the_standard_members_and_the_fields_of_the_error() {
        let error = Error::not_found("there is no session `x`")
            .caused_by("it was removed")
            .hint("run `segue ls`");
        let problem = serde_json::to_value(Problem::of(error.clone())).unwrap();
        assert_eq!(
            problem,
            json!({
                "type": "urn:segue:problem:not_found",
                "title": "there is no such object",
                "status": 404,
                "detail": "there is no session `x`: it was removed",
                "kind": "not_found",
                "message": "there is no session `x`",
                "causes": ["it was removed"],
                "hints": ["run `segue ls`"],
            })
        );
        assert_eq!(serde_json::from_value::<Error>(problem).unwrap(), error);
    }
}
