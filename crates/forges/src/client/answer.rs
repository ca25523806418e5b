//! Answers of an API.

use std::collections::VecDeque;

use reqwest::header::{HeaderMap, LINK, LOCATION};
use reqwest::{Response, StatusCode, Url};
use segue_core::model::SecretText;
use segue_core::ports::ForgeFault;
use serde::Deserialize;

use crate::shared::json;

/// The most bytes of an answer.
const MAX_ANSWER_BYTES: usize = 32 * 1024 * 1024;

/// The most bytes of a log that are downloaded to get its end.
const MAX_LOG_BYTES: usize = 256 * 1024 * 1024;

/// The most characters of a forge's message in an error.
const LONGEST_MESSAGE: usize = 300;

/// The shortest token that is looked for in a forge's message. Nothing shorter is a token.
const SHORTEST_TOKEN: usize = 8;

/// An answer that was read completely.
pub(crate) struct ApiAnswer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    body: Vec<u8>,
}

/// The message of an error, as the forges name it.
#[derive(Default, Deserialize)]
#[serde(default)]
struct ErrorJson {
    message: Option<serde_json::Value>,
    error: Option<serde_json::Value>,
}

impl ApiAnswer {
    pub(super) async fn read(mut response: Response) -> Result<Self, ForgeFault> {
        let (status, headers) = (response.status(), response.headers().clone());
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(transport)? {
            if body.len() + chunk.len() > MAX_ANSWER_BYTES {
                return Err(ForgeFault::TooLarge(MAX_ANSWER_BYTES));
            }
            body.extend_from_slice(&chunk);
        }
        Ok(Self { status, headers, body })
    }

    pub(crate) fn parse<'a, T: Deserialize<'a>>(&'a self) -> Result<T, ForgeFault> {
        json::parse(&self.body).map_err(ForgeFault::InvalidAnswer)
    }

    pub(crate) fn etag(&self) -> Option<String> {
        let etag = self.headers.get(reqwest::header::ETAG)?.to_str().ok()?;
        (etag.len() <= LONGEST_MESSAGE).then(|| etag.to_owned())
    }

    /// Returns whether there is another page.
    pub(crate) fn has_next_page(&self) -> bool {
        let links = self.headers.get_all(LINK).iter().filter_map(|it| it.to_str().ok());
        let is_next = |link: &str| link.split(',').any(|it| it.contains("rel=\"next\""));
        let next_page = self.headers.get("x-next-page").and_then(|it| it.to_str().ok());
        links.into_iter().any(is_next) || next_page.is_some_and(|it| !it.trim().is_empty())
    }

    /// Returns whether the message contains a text, without regard to case.
    pub(super) fn mentions(&self, text: &str) -> bool {
        String::from_utf8_lossy(&self.body).to_ascii_lowercase().contains(text)
    }

    /// Returns the forge's message for an error. Removes the token, in case the forge repeats it.
    pub(super) fn message(&self, token: &SecretText) -> String {
        let parsed: ErrorJson = json::parse(&self.body).unwrap_or_default();
        let message = match parsed.message.or(parsed.error) {
            Some(serde_json::Value::String(text)) => text,
            Some(other) => other.to_string(),
            None => self.status.canonical_reason().unwrap_or("no reason is given").to_owned(),
        };
        let message = match token.expose() {
            token if token.len() >= SHORTEST_TOKEN => message.replace(token, "[token]"),
            _ => message,
        };
        let plain = |c: char| if c.is_control() { ' ' } else { c };
        message.chars().take(LONGEST_MESSAGE).map(plain).collect()
    }
}

/// Returns the target of a redirect.
pub(super) fn redirect(response: &Response, url: &Url) -> Option<Url> {
    let is_redirect = matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308);
    let target = response.headers().get(LOCATION).filter(|_| is_redirect)?;
    url.join(target.to_str().ok()?).ok()
}

/// Returns the fault of a broken connection.
pub(super) fn transport(error: reqwest::Error) -> ForgeFault {
    if error.is_timeout() {
        return ForgeFault::TimedOut;
    }
    let error = error.without_url();
    let mut reason = error.to_string();
    let mut source = std::error::Error::source(&error);
    while let Some(cause) = source {
        reason = format!("{reason}: {cause}");
        source = cause.source();
    }
    ForgeFault::Unreachable(reason.chars().take(LONGEST_MESSAGE).collect())
}

/// The end of a log.
pub(crate) struct LogTail {
    pub(crate) text: String,
    /// Whether the log is longer.
    pub(crate) is_cut: bool,
}

impl LogTail {
    /// Downloads a log and keeps its last bytes.
    pub(super) async fn read(mut response: Response, bytes: usize) -> Result<Self, ForgeFault> {
        let mut tail: VecDeque<u8> = VecDeque::new();
        let mut total = 0;
        while let Some(chunk) = response.chunk().await.map_err(transport)? {
            total += chunk.len();
            if total > MAX_LOG_BYTES {
                return Err(ForgeFault::TooLarge(MAX_LOG_BYTES));
            }
            tail.extend(&chunk[chunk.len().saturating_sub(bytes)..]);
            let surplus = tail.len().saturating_sub(bytes);
            tail.drain(..surplus);
        }
        let tail: Vec<u8> = tail.into();
        let is_cut = total > tail.len();
        Ok(Self { text: whole_characters(&tail), is_cut })
    }
}

/// Decodes bytes that may begin in the middle of a character.
fn whole_characters(bytes: &[u8]) -> String {
    let is_continued = |byte: &&u8| **byte & 0b1100_0000 == 0b1000_0000;
    let cut = bytes.iter().take(3).take_while(is_continued).count();
    String::from_utf8_lossy(&bytes[cut..]).into_owned()
}
