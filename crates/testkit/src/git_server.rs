//! A git server on the loopback address that wants a user name and a token.
//!
//! It runs `git http-backend` for each request, as web servers do.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header::{AUTHORIZATION, HOST, HeaderName, LOCATION, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::Response;
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;

use crate::loopback::LoopbackServer;

/// Called for each request, before it is answered.
type OnRequest = Box<dyn Fn(&GitRequest) + Send + Sync>;

/// A git server. It runs until this value is dropped.
#[derive(Debug)]
pub struct GitServer {
    shared: Arc<GitServerState>,
    server: LoopbackServer,
}

/// A request of git.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitRequest {
    /// The address with the port, as the client sees it.
    pub host: String,
    pub path: String,
    /// The `Authorization` header.
    pub authorization: Option<String>,
    /// Whether the header has the right user name and token.
    pub is_authorized: bool,
}

struct GitServerState {
    answers: GitAnswers,
    authorization: String,
    requests: Mutex<Vec<GitRequest>>,
    on_request: OnRequest,
}

/// How the server answers authorized requests.
enum GitAnswers {
    /// With the bare repositories of a folder.
    Repositories(PathBuf),
    /// With a redirect to another server. Requests need no token.
    Redirect(String),
}

impl fmt::Debug for GitServerState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GitServerState").field("requests", &self.requests).finish_non_exhaustive()
    }
}

impl GitServer {
    /// Serves the bare repositories of a folder to clients with this user name and token.
    pub fn start(folder: &Path, username: &str, token: &str) -> Self {
        Self::watched(folder, username, token, |_| {})
    }

    /// Like `start`. Calls a function for each request, while the client waits for the answer.
    pub fn watched(
        folder: &Path,
        username: &str,
        token: &str,
        on_request: impl Fn(&GitRequest) + Send + Sync + 'static,
    ) -> Self {
        let authorization = basic(username, token);
        let answers = GitAnswers::Repositories(folder.to_owned());
        Self::serve(answers, authorization, Box::new(on_request))
    }

    /// Redirects every request to the same path of another server.
    pub fn redirecting(to: &Self) -> Self {
        let answers = GitAnswers::Redirect(format!("http://{}", to.server.address));
        Self::serve(answers, String::new(), Box::new(|_| {}))
    }

    fn serve(answers: GitAnswers, authorization: String, on_request: OnRequest) -> Self {
        let requests = Mutex::default();
        let shared = Arc::new(GitServerState { answers, authorization, requests, on_request });
        let router = Router::new().fallback(answer).with_state(Arc::clone(&shared));
        Self { shared, server: LoopbackServer::start(router) }
    }

    /// Returns the address with the port.
    pub fn host(&self) -> String {
        self.server.address.to_string()
    }

    /// Returns the URL of a repository.
    pub fn url(&self, repository: &str) -> String {
        format!("http://{}/{repository}", self.server.address)
    }

    /// Returns every request so far, the oldest first.
    pub fn requests(&self) -> Vec<GitRequest> {
        self.shared.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

async fn answer(
    State(state): State<Arc<GitServerState>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let authorization = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    let request = GitRequest {
        host: text_of(&headers, HOST),
        path: uri.path().to_owned(),
        authorization: authorization.map(str::to_owned),
        is_authorized: authorization == Some(&state.authorization),
    };
    (state.on_request)(&request);
    let is_authorized = request.is_authorized;
    state.requests.lock().unwrap_or_else(PoisonError::into_inner).push(request);
    match &state.answers {
        GitAnswers::Redirect(to) => {
            let place = uri.path_and_query().map_or("/", |place| place.as_str());
            let response = Response::builder().status(StatusCode::FOUND);
            response.header(LOCATION, format!("{to}{place}")).body(Body::empty())
        }
        GitAnswers::Repositories(_) if !is_authorized => {
            let response = Response::builder().status(StatusCode::UNAUTHORIZED);
            response.header(WWW_AUTHENTICATE, "Basic realm=\"git\"").body(Body::empty())
        }
        GitAnswers::Repositories(folder) => {
            let variables = variables(folder, &method, &uri, &headers, body.len());
            response(&backend(&variables, body).await)
        }
    }
    .expect("a response")
}

/// Returns the variables by which `git http-backend` gets a request.
fn variables(
    folder: &Path,
    method: &Method,
    uri: &Uri,
    headers: &HeaderMap,
    length: usize,
) -> BTreeMap<&'static str, String> {
    let header = |name: &'static str| text_of(headers, HeaderName::from_static(name));
    BTreeMap::from([
        ("PATH", "/usr/local/bin:/usr/bin:/bin".to_owned()),
        ("GIT_CONFIG_GLOBAL", "/dev/null".to_owned()),
        ("GIT_CONFIG_NOSYSTEM", "1".to_owned()),
        ("GIT_PROJECT_ROOT", folder.display().to_string()),
        ("GIT_HTTP_EXPORT_ALL", "1".to_owned()),
        ("REMOTE_USER", "user".to_owned()),
        ("REQUEST_METHOD", method.to_string()),
        ("PATH_INFO", uri.path().to_owned()),
        ("QUERY_STRING", uri.query().unwrap_or_default().to_owned()),
        ("CONTENT_LENGTH", length.to_string()),
        ("CONTENT_TYPE", header("content-type")),
        ("HTTP_CONTENT_ENCODING", header("content-encoding")),
        ("HTTP_GIT_PROTOCOL", header("git-protocol")),
    ])
}

fn text_of(headers: &HeaderMap, name: HeaderName) -> String {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned()
}

async fn backend(variables: &BTreeMap<&'static str, String>, body: Bytes) -> Output {
    let mut command = Command::new("git");
    command.arg("http-backend").env_clear().envs(variables).kill_on_drop(true);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
    let mut child = command.spawn().expect("`git http-backend` starts");
    let mut stdin = child.stdin.take().expect("an input");
    // It may end without reading its whole input.
    tokio::spawn(async move { stdin.write_all(&body).await });
    child.wait_with_output().await.expect("an output")
}

/// Makes a response from the output of a CGI program.
fn response(output: &Output) -> Result<Response, axum::http::Error> {
    let separator = b"\r\n\r\n";
    let end = output.stdout.windows(separator.len()).position(|part| part == separator);
    let end = end.unwrap_or_else(|| panic!("no headers: {output:?}"));
    let headers = String::from_utf8_lossy(&output.stdout[..end]).into_owned();
    let mut response = Response::builder();
    for (name, value) in headers.lines().filter_map(|line| line.split_once(": ")) {
        response = match name {
            "Status" => response.status(&value[..3]),
            _ => response.header(name, value),
        };
    }
    response.body(Body::from(output.stdout[end + separator.len()..].to_vec()))
}

/// Returns the header of HTTP's basic authentication.
fn basic(username: &str, token: &str) -> String {
    format!("Basic {}", base64(format!("{username}:{token}").as_bytes()))
}

/// Encodes bytes in base64. Also shows in which form a token is on the wire.
pub fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let byte = |index: usize| u32::from(chunk.get(index).copied().unwrap_or(0));
        let bits = (byte(0) << 16) | (byte(1) << 8) | byte(2);
        for place in 0..4 {
            let letter = LETTERS[((bits >> (18 - 6 * place)) & 63) as usize];
            text.push(if place <= chunk.len() { letter.into() } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_padded() {
        let table =
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")];
        for (text, expected) in table {
            assert_eq!(base64(text.as_bytes()), expected);
        }
        assert_eq!(basic("ann", "hush"), "Basic YW5uOmh1c2g=");
    }
}
