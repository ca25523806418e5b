//! Reads the query and the path of a request. Wrong values are answered with an error as any other.

use axum::extract::{FromRequestParts, Path, Query};
use axum::http::request::Parts;
use segue_core::Error;
use serde::de::DeserializeOwned;

use super::{App, ErrorResponse};

/// The longest query of a URL, in bytes. The largest known one has the ids of some hundred sessions.
const MAX_QUERY_BYTES: usize = 16 * 1024;

/// The parameters in the query of a URL.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueryValues<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequestParts<App> for QueryValues<T> {
    type Rejection = ErrorResponse;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ErrorResponse> {
        let length = parts.uri.query().map_or(0, str::len);
        if length > MAX_QUERY_BYTES {
            let message = format!("the query has {length} bytes, more than {MAX_QUERY_BYTES}");
            return Err(Error::usage(message).into());
        }
        match Query::from_request_parts(parts, app).await {
            Ok(Query(value)) => Ok(Self(value)),
            Err(rejection) => {
                let error = Error::usage("the query of the request is not what this route expects");
                Err(error.caused_by(rejection.body_text()).into())
            }
        }
    }
}

/// The value of the parameter in a path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathValue<T>(pub(crate) T);

impl<T: DeserializeOwned + Send> FromRequestParts<App> for PathValue<T> {
    type Rejection = ErrorResponse;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ErrorResponse> {
        match Path::from_request_parts(parts, app).await {
            Ok(Path(value)) => Ok(Self(value)),
            Err(rejection) => {
                let error = Error::usage("the path of the request is not what this route expects");
                Err(error.caused_by(rejection.body_text()).into())
            }
        }
    }
}
