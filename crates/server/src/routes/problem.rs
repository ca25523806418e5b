//! The responses to requests that failed: problem details (RFC 9457).

use axum::Json;
use axum::extract::Request;
use axum::http::header::{ALLOW, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use segue_core::api::Problem;
use segue_core::{Error, Kind};

/// The media type of problem details.
const PROBLEM_JSON: HeaderValue = HeaderValue::from_static("application/problem+json");

/// How a client shows a token.
const CHALLENGE: HeaderValue = HeaderValue::from_static("Bearer realm=\"segue\"");

/// An error that is sent to the client.
#[derive(Debug)]
pub(crate) struct ErrorResponse(pub(super) Error);

impl From<Error> for ErrorResponse {
    fn from(error: Error) -> Self {
        Self(error)
    }
}

impl IntoResponse for ErrorResponse {
    fn into_response(self) -> Response {
        let (kind, retry_after) = (self.0.kind, self.0.retry_after_seconds);
        let mut response = response(Problem::of(self.0));
        let headers = response.headers_mut();
        if kind == Kind::Unauthorized {
            headers.insert(WWW_AUTHENTICATE, CHALLENGE);
        }
        if let Some(seconds) = retry_after {
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

fn response(problem: Problem) -> Response {
    let status = StatusCode::from_u16(problem.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = (status, Json(problem)).into_response();
    response.headers_mut().insert(CONTENT_TYPE, PROBLEM_JSON);
    response
}

/// Answers a request whose path no route has.
pub(crate) async fn unknown_path(request: Request) -> ErrorResponse {
    let path: String = request.uri().path().chars().take(100).collect();
    Error::not_found(format!("there is no path `{}`", path.escape_debug()))
        .hint("`GET /v1/openapi.json` has all paths")
        .into()
}

/// Answers a request with a method that its path does not have.
pub(crate) fn wrong_method(allowed: &str) -> Response {
    let error = Error::usage("this path does not have this method").hint(format!("use {allowed}"));
    let status = StatusCode::METHOD_NOT_ALLOWED.as_u16();
    let mut response = response(Problem { status, ..Problem::of(error) });
    if let Ok(allowed) = HeaderValue::from_str(allowed) {
        response.headers_mut().insert(ALLOW, allowed);
    }
    response
}
