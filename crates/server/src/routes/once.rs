//! Reads the id of a changing request.

use std::hash::{Hash, Hasher};
use std::io::{self, Write};

use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::request::Parts;
use segue_core::Error;
use segue_core::api::{IDEMPOTENCY_HEADER, REQUEST_HEADER};
use segue_core::model::{Principal, RequestId, RequestKey};
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use super::{App, ErrorResponse};
use crate::requests::Once;
use crate::supervisor::Supervisor;

/// The id that the client sent, if any.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RequestIdHeader(Option<RequestId>);

impl FromRequestParts<App> for RequestIdHeader {
    type Rejection = ErrorResponse;

    async fn from_request_parts(parts: &mut Parts, _app: &App) -> Result<Self, ErrorResponse> {
        let Some(header) = parts.headers.get(REQUEST_HEADER) else {
            return Ok(Self(idempotency_key(&parts.headers)?));
        };
        let id = header.to_str().ok().and_then(|text| text.parse().ok());
        let id = id.ok_or_else(|| {
            Error::usage(format!("the header `{REQUEST_HEADER}` must be a UUID"))
                .hint("generate a new UUIDv7 for each request")
        })?;
        Ok(Self(Some(id)))
    }
}

/// The longest idempotency key, in characters.
const LONGEST_KEY: usize = 200;

/// Returns the id that stands for an idempotency key. The same key always has the same id.
fn idempotency_key(headers: &HeaderMap) -> segue_core::Result<Option<RequestId>> {
    let mut keys = headers.get_all(IDEMPOTENCY_HEADER).iter();
    let Some(key) = keys.next() else { return Ok(None) };
    let key = key.to_str().unwrap_or_default();
    if keys.next().is_some() || !(1..=LONGEST_KEY).contains(&key.len()) {
        let message = format!(
            "the header `{IDEMPOTENCY_HEADER}` must have 1 to {LONGEST_KEY} ASCII characters, once"
        );
        return Err(Error::usage(message).hint("generate a new UUID for each request"));
    }
    let digest = Sha256::digest(key);
    let bytes = digest.iter().take(16);
    let number = bytes.fold(0, |number, byte| (number << 8) | u128::from(*byte));
    Ok(Some(RequestId::of_number(number)))
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

#[cfg(test)]
mod tests {
    use super::*;

    fn id_of(keys: &[&str]) -> segue_core::Result<Option<RequestId>> {
        let mut headers = HeaderMap::new();
        for key in keys {
            headers.append(IDEMPOTENCY_HEADER, key.parse().unwrap());
        }
        idempotency_key(&headers)
    }

    #[test]
    fn same_idempotency_key_has_the_same_id_and_another_key_another_one() {
        let first = id_of(&["order 17"]).unwrap().unwrap();
        assert_eq!(id_of(&["order 17"]).unwrap(), Some(first));
        assert_ne!(id_of(&["order 18"]).unwrap(), Some(first));
        assert_eq!(id_of(&[]).unwrap(), None);
    }

    #[test]
    fn idempotency_key_that_is_empty_too_long_or_repeated_is_a_usage_error() {
        let long = "x".repeat(201);
        assert!(id_of(&["x".repeat(200).as_str()]).is_ok());
        for keys in [vec![""], vec![long.as_str()], vec!["a", "b"], vec!["ü"]] {
            assert_eq!(id_of(&keys).unwrap_err().kind, segue_core::Kind::Usage, "{keys:?}");
        }
    }
}
