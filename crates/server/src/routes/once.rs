//! The id of a request that changes something.

use std::hash::{Hash, Hasher};
use std::io::{self, Write};

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use segue_core::Error;
use segue_core::api::REQUEST_HEADER;
use segue_core::model::{RequestId, RequestKey};
use segue_core::rules::scope::Scope;
use serde::Serialize;

use super::{App, Refusal};
use crate::requests::Once;
use crate::supervisor::Supervisor;

/// The id that the client sent, if it sent one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked(Option<RequestId>);

impl FromRequestParts<App> for Asked {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _app: &App) -> Result<Self, Refusal> {
        let Some(header) = parts.headers.get(REQUEST_HEADER) else { return Ok(Self(None)) };
        let id = header.to_str().ok().and_then(|text| text.parse().ok());
        let id = id.ok_or_else(|| {
            Error::usage(format!("the header `{REQUEST_HEADER}` must be a UUID"))
                .hint("make a new UUIDv7 for each request")
        })?;
        Ok(Self(Some(id)))
    }
}

impl Asked {
    /// Returns the request of this caller. `content` is everything that makes it what it is.
    pub(crate) fn once(
        self,
        app: &App,
        supervisor: &Supervisor,
        scope: &Scope,
        content: &impl Serialize,
    ) -> Once {
        let key = self.0.map(|id| RequestKey { caller: scope.parent(), id });
        Once::new(&app.requests, Some(&supervisor.ports), key, &Written(content))
    }

    /// Returns a request of the user that can be made without a store.
    pub(crate) fn once_without_store(self, app: &App, content: &impl Serialize) -> Once {
        let key = self.0.map(|id| RequestKey { caller: None, id });
        Once::new(&app.requests, None, key, &Written(content))
    }
}

/// Hashes a value by the JSON that it is written as.
struct Written<'a, T>(&'a T);

impl<T: Serialize> Hash for Written<'_, T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // Nothing that was read as JSON fails to be written as such.
        let _written = serde_json::to_writer(Into(state), self.0);
    }
}

struct Into<'a, H>(&'a mut H);

impl<H: Hasher> Write for Into<'_, H> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
