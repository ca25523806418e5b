//! Reads the JSON body of a request.

use axum::Json;
use axum::extract::{FromRequest, Request};
use segue_core::Error;
use serde::de::DeserializeOwned;

use super::{App, ErrorResponse};

/// The body of a request. A body that cannot be parsed is answered with an error as any other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequest<App> for Sent<T> {
    type Rejection = ErrorResponse;

    async fn from_request(request: Request, app: &App) -> Result<Self, ErrorResponse> {
        match Json::from_request(request, app).await {
            Ok(Json(value)) => Ok(Self(value)),
            Err(rejection) => {
                let error = Error::usage("the body of the request is not what this route expects");
                Err(error.caused_by(rejection.body_text()).into())
            }
        }
    }
}
