//! Answers of the forge, and faults that a test asks for.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use axum::body::Body;
use axum::http::{StatusCode, header};
use axum::response::Response;
use serde_json::{Value, json};

use super::body_of;

/// How a request fails.
#[derive(Clone, Debug)]
pub enum ForgeServerFault {
    /// With this status, these headers and this body.
    Status(u16, Vec<(&'static str, String)>, String),
    /// It is never answered.
    NoAnswer,
    /// With an answer of this many bytes.
    Huge(usize),
    /// With a redirect to this URL.
    Redirect(u16, String),
    /// A `POST` request is carried out, but a proxy answers that the server cannot be reached.
    LostAnswer,
}

impl ForgeServerFault {
    /// Fails with a status and the message of a forge.
    pub fn status(status: u16) -> Self {
        Self::Status(status, Vec::new(), "{\"message\":\"as the test requested\"}".to_owned())
    }

    pub(super) async fn response(self) -> Response {
        let built = match self {
            Self::Status(status, headers, body) => {
                let mut response = Response::builder().status(status);
                for (name, value) in headers {
                    response = response.header(name, value);
                }
                response.body(Body::from(body))
            }
            Self::NoAnswer | Self::LostAnswer => std::future::pending().await,
            Self::Huge(bytes) => Response::builder().status(200).body(body_of(vec![b' '; bytes])),
            Self::Redirect(status, url) => {
                let response = Response::builder().status(status).header(header::LOCATION, url);
                response.body(Body::empty())
            }
        };
        built.expect("a response")
    }
}

/// An answer of the API.
pub(super) struct ServedAnswer {
    pub(super) status: u16,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
}

impl ServedAnswer {
    pub(super) fn json(value: &Value) -> Self {
        Self { status: 200, headers: Vec::new(), body: value.to_string().into_bytes() }
    }

    pub(super) fn created(value: &Value) -> Self {
        Self { status: 201, ..Self::json(value) }
    }

    pub(super) fn error(status: u16, message: &str) -> Self {
        Self { status, ..Self::json(&json!({ "message": message })) }
    }

    pub(super) fn not_found() -> Self {
        Self::error(404, "Not Found")
    }

    pub(super) fn text(body: Vec<u8>) -> Self {
        Self { status: 200, headers: Vec::new(), body }
    }

    pub(super) fn redirect(status: u16, url: String) -> Self {
        Self { status, ..Self::text(Vec::new()) }.with("location", url)
    }

    /// Answers with the object, or with 404 if there is none.
    pub(super) fn optional(value: Option<Value>) -> Self {
        value.map_or_else(Self::not_found, |value| Self::json(&value))
    }

    pub(super) fn with(mut self, name: &'static str, value: String) -> Self {
        self.headers.push((name, value));
        self
    }

    /// Adds an ETag, so that the request can be repeated conditionally.
    pub(super) fn with_etag(self) -> Self {
        let mut hasher = DefaultHasher::new();
        self.body.hash(&mut hasher);
        let etag = format!("\"{:x}\"", hasher.finish());
        self.with("etag", etag)
    }

    pub(super) fn response(self, if_none_match: Option<&str>) -> Response {
        let etag = self.headers.iter().find(|(name, _)| *name == "etag").map(|(_, value)| value);
        let is_same = etag.is_some_and(|etag| Some(etag.as_str()) == if_none_match);
        let status = if is_same { StatusCode::NOT_MODIFIED.as_u16() } else { self.status };
        let mut response = Response::builder().status(status);
        for (name, value) in self.headers {
            response = response.header(name, value);
        }
        let body = if is_same { Body::empty() } else { body_of(self.body) };
        response.body(body).expect("a response")
    }
}

/// Splits a query into its decoded pairs.
pub(super) fn pairs(query: &str) -> Vec<(String, String)> {
    let pair = |text: &str| {
        let (name, value) = text.split_once('=').unwrap_or((text, ""));
        (decoded(&name.replace('+', " ")), decoded(&value.replace('+', " ")))
    };
    query.split('&').filter(|text| !text.is_empty()).map(pair).collect()
}

/// Decodes `%xx`.
pub(super) fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let (mut decoded, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let digits = bytes.get(at + 1..at + 3).and_then(|it| std::str::from_utf8(it).ok());
        let byte = digits.and_then(|it| u8::from_str_radix(it, 16).ok());
        match (bytes[at], byte) {
            (b'%', Some(byte)) => {
                decoded.push(byte);
                at += 3;
            }
            (other, _) => {
                decoded.push(other);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}
