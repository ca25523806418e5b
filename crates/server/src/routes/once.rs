//! Reads the id of a changing request.

use std::hash::{Hash, Hasher};
use std::io::{self, Write};

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use segue_core::Error;
use segue_core::api::REQUEST_HEADER;
use segue_core::model::{Principal, RequestId, RequestKey};
use serde::Serialize;

use super::{App, ErrorResponse};
use crate::requests::Once;
use crate::supervisor::Supervisor;

/// The id that the client sent, if any.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RequestIdHeader(Option<RequestId>);

impl FromRequestParts<App> for RequestIdHeader {
    type Rejection = ErrorResponse;

    async fn from_request_parts(parts: &mut Parts, _app: &App) -> Result<Self, ErrorResponse> {
        let Some(header) = parts.headers.get(REQUEST_HEADER) else { return Ok(Self(None)) };
        let id = header.to_str().ok().and_then(|text| text.parse().ok());
        let id = id.ok_or_else(|| {
            Error::usage(format!("the header `{REQUEST_HEADER}` must be a UUID"))
                .hint("generate a new UUIDv7 for each request")
        })?;
        Ok(Self(Some(id)))
    }
}

impl RequestIdHeader {
    /// Returns a request of this caller that is carried out once. `content` must contain the verb
    /// and everything that the request asks for: two requests with the same id and different
    /// content are an error.
    pub(crate) fn once(
        self,
        app: &App,
        supervisor: &Supervisor,
        principal: &Principal,
        content: &impl Serialize,
    ) -> Once {
        let key = self.0.map(|id| principal.request_key(id));
        Once::new(&app.requests, Some(&supervisor.ports), key, &HashedJson(content))
    }

    /// Returns a request of the user that is carried out once, for a daemon without a store.
    pub(crate) fn once_without_store(self, app: &App, content: &impl Serialize) -> Once {
        let key = self.0.map(|id| RequestKey { caller: None, id });
        Once::new(&app.requests, None, key, &HashedJson(content))
    }
}

/// Hashes a value by its JSON form.
struct HashedJson<'a, T>(&'a T);

impl<T: Serialize> Hash for HashedJson<'_, T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // A value that was parsed from JSON can always be written as JSON.
        let _written = serde_json::to_writer(HasherWriter(state), self.0);
    }
}

/// Writes bytes into a hasher.
struct HasherWriter<'a, H>(&'a mut H);

impl<H: Hasher> Write for HasherWriter<'_, H> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
