//! Entity tags: a client that has an answer already gets `304 Not Modified` instead of the same
//! answer.

use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::header::{CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use segue_core::Error;
use sha2::{Digest as _, Sha256};

use super::ErrorResponse;

/// Adds an entity tag to the answer of a route that reads JSON.
pub(crate) async fn tagged(request: Request, next: Next) -> Response {
    let is_reading = matches!(*request.method(), Method::GET | Method::HEAD);
    let known = request.headers().get_all(IF_NONE_MATCH).iter().cloned().collect::<Vec<_>>();
    let response = next.run(request).await;
    if !is_reading || response.status() != StatusCode::OK || !is_json(response.headers()) {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    // The body is in memory already.
    let bytes = match to_bytes(body, usize::MAX).await {
        Ok(bytes) => bytes,
        Err(error) => {
            let error = Error::internal("an answer cannot be sent").caused_by(error);
            return ErrorResponse::from(error).into_response();
        }
    };
    let Some(tag) = tag(&bytes) else { return Response::from_parts(parts, Body::from(bytes)) };
    let is_known = is_among(&tag, &known);
    parts.headers.insert(ETAG, tag);
    if is_known {
        parts.status = StatusCode::NOT_MODIFIED;
        parts.headers.remove(CONTENT_TYPE);
        return Response::from_parts(parts, Body::empty());
    }
    Response::from_parts(parts, Body::from(bytes))
}

fn is_json(headers: &HeaderMap) -> bool {
    headers.get(CONTENT_TYPE).is_some_and(|it| it == "application/json")
}

/// Returns whether a client has the answer with this tag already.
pub(crate) fn is_known(tag: &HeaderValue, headers: &HeaderMap) -> bool {
    let known: Vec<HeaderValue> = headers.get_all(IF_NONE_MATCH).iter().cloned().collect();
    is_among(tag, &known)
}

fn tag(bytes: &[u8]) -> Option<HeaderValue> {
    let digest = Sha256::digest(bytes);
    let hexadecimal: Vec<String> = digest.iter().take(16).map(|it| format!("{it:02x}")).collect();
    HeaderValue::try_from(format!("\"{}\"", hexadecimal.concat())).ok()
}

/// Returns whether a tag is in the header `If-None-Match`, by weak comparison.
fn is_among(tag: &HeaderValue, known: &[HeaderValue]) -> bool {
    let tags = known.iter().filter_map(|it| it.to_str().ok()).flat_map(|it| it.split(','));
    let mut tags = tags.map(|it| it.trim().trim_start_matches("W/"));
    tags.any(|it| it == "*" || tag.as_bytes() == it.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tag_is_found_among_several_weak_and_strong_ones() {
        let tag = tag(b"{}").unwrap();
        let text = tag.to_str().unwrap().to_owned();
        let among = |list: &str| is_among(&tag, &[HeaderValue::try_from(list).unwrap()]);
        assert!(among(&text) && among(&format!("\"x\", W/{text}")) && among("*"));
        assert!(!among("\"x\"") && !among("") && !is_among(&tag, &[]));
    }
}
