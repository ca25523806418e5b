//! A forge on the loopback address: users, repositories, issues, comments, pull requests, reviews
//! and CI jobs in memory, with the APIs of GitHub (`/api/v3`), Gitea and Forgejo (`/api/v1`), and
//! GitLab (`/api/v4`) over the same data.
//!
//! A test changes the data with [`ForgeServer::change`], makes chosen requests fail with
//! [`ForgeServer::fail`], and looks at the requests and comments afterwards.

mod answers;
mod deliveries;
mod dialects;
mod gitlab;
mod gitlab_lists;
mod hub;
mod hub_lists;
mod state;

use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Method, Uri, header};
use axum::response::Response;
use segue_core::model::{ForgeComment, ForgeSubject};

use crate::loopback::LoopbackServer;
pub use answers::ForgeServerFault;
use answers::ServedAnswer;
pub use deliveries::{DeliveredDetail, ServedDelivery};
pub use dialects::{ForgeDialect, ServedEvent};
pub use state::{ServedChange, ServedForge, ServedJob, ServedRepository, ServedRun};

/// A forge. It runs until this value is dropped.
#[derive(Debug)]
pub struct ForgeServer {
    forge: SharedForge,
    server: LoopbackServer,
}

/// A request to the API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForgeRequest {
    pub method: String,
    pub path: String,
    pub query: String,
    /// The `Authorization` header.
    pub authorization: Option<String>,
    pub status: u16,
}

/// A request as the routes get it.
pub(crate) struct ServedRequest {
    pub(crate) is_post: bool,
    pub(crate) path: Vec<String>,
    pub(crate) query: Vec<(String, String)>,
    pub(crate) body: serde_json::Value,
    /// The address of the server, as the client wrote it.
    pub(crate) host: String,
}

impl ServedRequest {
    pub(crate) fn parameter(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(it, _)| it == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn number(&self, name: &str) -> Option<usize> {
        self.parameter(name)?.parse().ok()
    }
}

impl ForgeServer {
    /// Starts a forge whose account `segue-bot` has this token.
    pub fn start(token: &str) -> Self {
        let forge = Arc::new(Mutex::new(ServedForge::new(token)));
        let router = Router::new().fallback(answer).with_state(Arc::clone(&forge));
        Self { forge, server: LoopbackServer::start(router) }
    }

    /// Returns the URL for the settings of a source.
    pub fn api_url(&self, forge: &str) -> String {
        let suffix = if forge == "github" { "/api/v3" } else { "" };
        format!("http://{}{suffix}", self.server.address)
    }

    /// Returns the address with the port.
    pub fn host(&self) -> String {
        self.server.address.to_string()
    }

    /// Reads or changes the data of the forge.
    pub fn change<T>(&self, change: impl FnOnce(&mut ServedForge) -> T) -> T {
        change(&mut self.forge.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Makes the next requests whose path contains a text fail, this many times.
    pub fn fail(&self, path: &str, times: usize, fault: ForgeServerFault) {
        self.change(|forge| forge.faults.push((path.to_owned(), times, fault)));
    }

    /// Returns every request so far, the oldest first.
    pub fn requests(&self) -> Vec<ForgeRequest> {
        self.change(|forge| forge.requests.clone())
    }

    /// Returns how many requests had this method and a path with this text.
    pub fn count(&self, method: &str, path: &str) -> usize {
        let is_counted = |it: &&ForgeRequest| it.method == method && it.path.contains(path);
        self.requests().iter().filter(is_counted).count()
    }

    /// Returns the comments on an issue or a pull request, the oldest first.
    pub fn comments(&self, repository: &str, subject: ForgeSubject) -> Vec<ForgeComment> {
        self.change(|forge| {
            forge.repository(repository).comments.get(&subject).cloned().unwrap_or_default()
        })
    }
}

type SharedForge = Arc<Mutex<ServedForge>>;

async fn answer(
    State(state): State<SharedForge>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let text = |name: header::HeaderName| {
        headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
    };
    let authorization = text(header::AUTHORIZATION);
    let request = ServedRequest {
        is_post: method == Method::POST,
        path: uri.path().split('/').skip(1).map(answers::decoded).collect(),
        query: answers::pairs(uri.query().unwrap_or_default()),
        body: serde_json::from_slice(&body).unwrap_or_default(),
        host: text(header::HOST).unwrap_or_default(),
    };
    let served = {
        let mut forge = state.lock().unwrap_or_else(PoisonError::into_inner);
        let served = match forge.fault(&method, uri.path()) {
            Some(ForgeServerFault::LostAnswer) => {
                route(&mut forge, &request, authorization.as_deref());
                Err(ForgeServerFault::status(502))
            }
            Some(fault) => Err(fault),
            None => Ok(route(&mut forge, &request, authorization.as_deref())),
        };
        forge.requests.push(ForgeRequest {
            method: method.to_string(),
            path: uri.path().to_owned(),
            query: uri.query().unwrap_or_default().to_owned(),
            authorization,
            status: served.as_ref().map_or(0, |served| served.status),
        });
        served
    };
    match served {
        Ok(served) => served.response(text(header::IF_NONE_MATCH).as_deref()),
        Err(fault) => fault.response().await,
    }
}

fn route(
    forge: &mut ServedForge,
    request: &ServedRequest,
    authorization: Option<&str>,
) -> ServedAnswer {
    let path: Vec<&str> = request.path.iter().map(String::as_str).collect();
    if let ["storage", "logs", id] = path.as_slice() {
        // A storage server that would not accept the token of the forge.
        return match authorization {
            Some(_) => ServedAnswer::error(400, "only one authentication is allowed"),
            None => forge.log(id),
        };
    }
    let token = forge.token.clone();
    let (is_allowed, ["api", version, rest @ ..]) =
        (is_authorized(authorization, &token, &path), path.as_slice())
    else {
        return ServedAnswer::error(404, "Not Found");
    };
    match (is_allowed, *version) {
        (false, _) => ServedAnswer::error(401, "Bad credentials"),
        (true, "v3") => hub::route(forge, request, rest, hub::HubKind::Github),
        (true, "v1") => hub::route(forge, request, rest, hub::HubKind::Gitea),
        (true, "v4") => gitlab::route(forge, request, rest),
        _ => ServedAnswer::error(404, "Not Found"),
    }
}

/// Returns whether the header has the token in the form that the API expects.
fn is_authorized(authorization: Option<&str>, token: &str, path: &[&str]) -> bool {
    let scheme = if path.get(1) == Some(&"v1") { "token" } else { "Bearer" };
    authorization == Some(&format!("{scheme} {token}"))
}

/// Returns the body of an answer.
pub(crate) fn body_of(bytes: Vec<u8>) -> Body {
    Body::from(bytes)
}
