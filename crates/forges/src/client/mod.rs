//! A client for the HTTP API of a forge: limits of time, size and pages, redirects, rate limits,
//! and errors without the token.

mod answer;
mod base;
mod pages;
mod rate;
mod request;

use std::fmt;
use std::sync::{Arc, Mutex, Once, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue, USER_AGENT};
use reqwest::{StatusCode, Url};
use segue_core::model::{ForgeId, SecretText};
use segue_core::ports::{Clock, ForgeAccess, ForgeFailure, ForgeFault, ForgeResult, RequestPace};
use segue_core::{Error, Result};

pub(crate) use answer::{ApiAnswer, LogTail};
pub(crate) use base::ApiBase;
pub(crate) use request::{ApiRequest, repository_path};

/// The most pages that one call reads.
pub(crate) const MAX_PAGES: u32 = 20;

/// The most redirects that one request follows.
const MAX_REDIRECTS: usize = 3;

/// The most time until a connection is open.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// A client for one server and one token.
pub(crate) struct ApiClient {
    http: reqwest::Client,
    base: Url,
    forge: ForgeId,
    token: SecretText,
    /// The headers of requests to the server itself. They contain the token.
    headers: HeaderMap,
    clock: Arc<dyn Clock>,
    pace: Option<Arc<dyn RequestPace>>,
    /// The time until which the server wants no requests.
    held_until: Mutex<Option<Timestamp>>,
}

impl fmt::Debug for ApiClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApiClient")
            .field("forge", &self.forge)
            .field("base", &self.base.as_str())
            .finish_non_exhaustive()
    }
}

impl ApiClient {
    /// Creates a client that authenticates with `scheme` and the token.
    pub(crate) fn new(
        forge: &str,
        access: &ForgeAccess,
        base: ApiBase,
        scheme: &str,
    ) -> Result<Self> {
        install_crypto();
        let mut builder = reqwest::Client::builder()
            .timeout(access.timeout)
            .connect_timeout(CONNECT_TIMEOUT.min(access.timeout))
            .redirect(reqwest::redirect::Policy::none())
            .referer(false);
        if base.is_loopback {
            builder = builder.no_proxy();
        }
        let http = builder.build().map_err(|error| {
            Error::internal("the HTTP client cannot be made").caused_by(error.without_url())
        })?;
        let mut value = authorization(scheme, &access.token).ok_or_else(|| {
            Error::config(format!("the token for the {forge} server cannot be used"))
                .caused_by("it is empty, or contains spaces or control characters")
                .hint("check where the source reads its token")
        })?;
        value.set_sensitive(true);
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, value);
        headers.insert(USER_AGENT, HeaderValue::from_static("segue"));
        Ok(Self {
            http,
            base: base.url,
            forge: ForgeId::new(forge),
            token: access.token.clone(),
            headers,
            clock: Arc::clone(&access.clock),
            pace: access.pace.clone(),
            held_until: Mutex::new(None),
        })
    }

    /// Adds a header to all requests to the server.
    #[must_use]
    pub(crate) fn with_header(mut self, name: &'static str, value: &'static str) -> Self {
        self.headers.insert(name, HeaderValue::from_static(value));
        self
    }

    /// Sends a request, and reads its answer with at most a fixed number of bytes. Answers with an
    /// error status are failures.
    pub(crate) async fn send(&self, request: &ApiRequest) -> ForgeResult<ApiAnswer> {
        let answer = self.exchange(request).await;
        answer.map_err(|fault| self.failure(request, fault))
    }

    /// Sends a request whose answer may be large, and keeps the end of the answer.
    pub(crate) async fn tail(&self, request: &ApiRequest, bytes: usize) -> ForgeResult<LogTail> {
        let tail = async {
            let response = self.respond(request).await?;
            let status = response.status();
            match status.is_success() {
                true => LogTail::read(response, bytes).await,
                false => Err(self.refusal(&ApiAnswer::read(response).await?)),
            }
        };
        tail.await.map_err(|fault| self.failure(request, fault))
    }

    /// Returns a failure of a request.
    pub(crate) fn failure(&self, request: &ApiRequest, fault: ForgeFault) -> ForgeFailure {
        let host = self.base.host_str().unwrap_or_default();
        let host = match self.base.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        };
        ForgeFailure { forge: self.forge.clone(), host, object: request.object.clone(), fault }
    }

    async fn exchange(&self, request: &ApiRequest) -> Result<ApiAnswer, ForgeFault> {
        let answer = ApiAnswer::read(self.respond(request).await?).await?;
        match answer.status.is_success() || answer.status == StatusCode::NOT_MODIFIED {
            true => Ok(answer),
            false => Err(self.refusal(&answer)),
        }
    }

    /// Sends a request and follows its redirects. The token goes to the server itself only.
    async fn respond(&self, request: &ApiRequest) -> Result<reqwest::Response, ForgeFault> {
        if let Some(pace) = &self.pace {
            pace.turn().await;
        }
        let now = self.clock.now();
        if let Some(time) = self.held(now) {
            return Err(ForgeFault::RetryAfter(time));
        }
        let mut url = request.url(&self.base).ok_or(ForgeFault::NotFound)?;
        for _ in 0..=MAX_REDIRECTS {
            let response = self.send_once(request, &url).await?;
            self.hold(rate::pause(response.headers(), response.status(), now));
            match answer::redirect(&response, &url) {
                Some(target) => url = self.allowed(request, &response, target)?,
                None => return Ok(response),
            }
        }
        Err(ForgeFault::InvalidAnswer(format!("it redirects more than {MAX_REDIRECTS} times")))
    }

    async fn send_once(
        &self,
        request: &ApiRequest,
        url: &Url,
    ) -> Result<reqwest::Response, ForgeFault> {
        let mut sent = self.http.request(request.method(), url.clone());
        if base::is_same_origin(url, &self.base) {
            sent = sent.headers(self.headers.clone());
            if let Some(etag) = &request.etag {
                sent = sent.header(reqwest::header::IF_NONE_MATCH, etag);
            }
        }
        if let Some(body) = &request.body {
            sent =
                sent.header(reqwest::header::CONTENT_TYPE, "application/json").body(body.clone());
        }
        sent.send().await.map_err(answer::transport)
    }

    /// Returns the target of a redirect if the request may go there.
    fn allowed(
        &self,
        request: &ApiRequest,
        response: &reqwest::Response,
        target: Url,
    ) -> Result<Url, ForgeFault> {
        let keeps_method = matches!(response.status().as_u16(), 307 | 308);
        let is_read = request.body.is_none();
        let is_here = base::is_same_origin(&target, &self.base);
        // Logs are stored on other servers, which get no token.
        let is_safe = target.scheme() == "https"
            || base::is_loopback(&self.base) && base::is_loopback(&target);
        match (is_read || keeps_method) && is_here || is_read && request.may_leave && is_safe {
            true => Ok(target),
            false => Err(ForgeFault::Redirected(base::shown_host(&target))),
        }
    }

    /// Returns the fault of an answer with an error status.
    fn refusal(&self, answer: &ApiAnswer) -> ForgeFault {
        let message = || answer.message(&self.token);
        if let Some(time) = rate::limited(answer, self.clock.now()) {
            self.hold(Some(time));
            return ForgeFault::RetryAfter(time);
        }
        match answer.status.as_u16() {
            401 => ForgeFault::Unauthorized,
            403 => ForgeFault::Forbidden(message()),
            404 | 410 => ForgeFault::NotFound,
            status @ 500.. => ForgeFault::ServerError(status),
            status => ForgeFault::Rejected(status, message()),
        }
    }

    fn held(&self, now: Timestamp) -> Option<Timestamp> {
        let held = *self.held_until.lock().unwrap_or_else(PoisonError::into_inner);
        held.filter(|time| *time > now)
    }

    fn hold(&self, until: Option<Timestamp>) {
        if let Some(until) = until {
            let mut held = self.held_until.lock().unwrap_or_else(PoisonError::into_inner);
            *held = Some(held.map_or(until, |earlier| earlier.max(until)));
        }
    }
}

/// Returns the header with the token. `None` if the token has characters that no token has.
fn authorization(scheme: &str, token: &SecretText) -> Option<HeaderValue> {
    let token = token.expose();
    let is_plain = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic());
    is_plain.then(|| HeaderValue::from_str(&format!("{scheme} {token}")).ok())?
}

/// Makes `ring` the cryptography of TLS, unless this process has chosen another.
fn install_crypto() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let _already_installed = rustls::crypto::ring::default_provider().install_default();
    });
}
