//! Checks requests from a network before any route sees them. Requests of processes on this machine
//! pass: their routes identify the process.

use std::net::IpAddr;
use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::extract::{ConnectInfo, MatchedPath, Request, State};
use axum::http::header::{
    AUTHORIZATION, HOST, HeaderName, ORIGIN, SEC_WEBSOCKET_PROTOCOL, UPGRADE,
};
use axum::http::{HeaderMap, HeaderValue, Method};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use segue_core::api::{PAGE_KEY_HEADER, PAGE_KEY_PROTOCOL};
use segue_core::flows::tokens;
use segue_core::model::{
    AccessToken, AccessTokenKind, Principal, SecretText, SessionId, Transport,
};
use segue_core::rules::listening::{PageHeaders, PageRequest};
use segue_core::rules::scope::{RouteRight, RouteUse};
use segue_core::rules::tokens::BrowserSecrets;
use segue_core::rules::{listening, tokens as token_rules};
use segue_core::{Error, Kind, Result};
use serde_json::{Map, Value, json};

use super::caller::{NetworkPeer, PeerInfo};
use super::cookie;
use super::problem::wrong_method;
use super::table::{EnvironmentPlace, RouteEntry};
use super::{App, ErrorResponse, MAX_REQUEST_BYTES};
use crate::network::limits::Asker;

/// The header in which a proxy names the clients, the nearest one last.
const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The header in which a browser reports whose page made a request.
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// What a request shows to be admitted.
#[derive(Debug)]
enum Credential {
    Token(SecretText),
    Browser(BrowserSecrets),
    /// A cookie without the key of the page. Every program to which the browser has sent the cookie
    /// has it.
    CookieAlone,
    None,
}

/// Checks what every request from a network must meet: the site that it belongs to, and how often
/// its sender asks.
pub(crate) async fn check_site(State(app): State<App>, request: Request, next: Next) -> Response {
    let Some(peer) = network_peer(&request) else { return next.run(request).await };
    let checked = check_headers(&peer, request.headers())
        .and_then(|()| app.network.limits.count(Asker::Peer(client(&peer, request.headers()))));
    match checked {
        Ok(()) => next.run(request).await,
        Err(error) => ErrorResponse::from(error).into_response(),
    }
}

/// Checks the token or the cookie of a request from a network, and that it may use this route.
pub(crate) async fn check_route(
    State((app, entries)): State<(App, Arc<[RouteEntry]>)>,
    path: MatchedPath,
    request: Request,
    next: Next,
) -> Response {
    let of_path = || entries.iter().filter(|it| it.path == path.as_str());
    // A route that answers `GET` also answers `HEAD`, without a body.
    let is_meant = |it: &&RouteEntry| {
        it.method == *request.method()
            || (it.method == Method::GET && *request.method() == Method::HEAD)
    };
    let Some(entry) = of_path().find(is_meant) else {
        let allowed: Vec<&str> = of_path().flat_map(RouteEntry::methods).copied().collect();
        return wrong_method(&allowed.join(", "));
    };
    let Some(peer) = network_peer(&request) else { return next.run(request).await };
    match admit(&app, entry, &peer, request).await {
        Ok(request) => next.run(request).await,
        Err(error) => ErrorResponse::from(error).into_response(),
    }
}

async fn admit(
    app: &App,
    entry: &RouteEntry,
    peer: &NetworkPeer,
    mut request: Request,
) -> Result<Request> {
    if matches!(entry.right, RouteRight::Signed | RouteRight::Public) {
        return Ok(request);
    }
    let credential = credential(peer, &request);
    if matches!(credential, Credential::Browser(_) | Credential::CookieAlone) {
        check_page(&request)?;
    }
    let is_of_page =
        entry.right == RouteRight::Browser || request.headers().contains_key(PAGE_KEY_HEADER);
    let token = match recognize(app, credential, is_of_page).await {
        Ok(token) => token,
        Err(error) if error.kind == Kind::Unauthorized => {
            let client = client(peer, request.headers());
            return Err(app.network.limits.count(Asker::Stranger(client)).err().unwrap_or(error));
        }
        Err(error) => return Err(error),
    };
    app.network.limits.count(Asker::Token(token.id))?;
    let principal = Principal::Token(token);
    let (right, is_shareable) = (entry.right, entry.is_shareable);
    let session = session_of(entry, request.uri().path());
    principal.allow_route(RouteUse { right, is_shareable, session })?;
    request.extensions_mut().insert(principal);
    request.extensions_mut().insert(entry.environment);
    Ok(request)
}

/// Counts a request without a valid signature. Returns the error for the answer.
pub(crate) fn count_stranger(
    app: &App,
    peer: &PeerInfo,
    headers: &HeaderMap,
    error: Error,
) -> Error {
    let PeerInfo::Network(peer) = peer else { return error };
    let asker = Asker::Stranger(client(peer, headers));
    app.network.limits.count(asker).err().unwrap_or(error)
}

/// Returns the session that the path of a request names.
fn session_of(entry: &RouteEntry, path: &str) -> Option<SessionId> {
    let rest = path.strip_prefix("/v1/sessions/")?;
    let id = entry.path.starts_with("/v1/sessions/{id}").then(|| rest.split('/').next())??;
    id.parse().ok()
}

/// Returns the token of a request or, if it has none, the secrets of the browser.
fn credential(peer: &NetworkPeer, request: &Request) -> Credential {
    let headers = request.headers();
    if headers.contains_key(AUTHORIZATION) {
        return bearer(headers).map_or(Credential::None, Credential::Token);
    }
    let Some(cookie) = cookie::read(&peer.settings, headers) else { return Credential::None };
    let page_key = match page_request(request) {
        PageRequest::Connect => offered_page_key(headers),
        PageRequest::Read | PageRequest::Change => {
            only(headers, &HeaderName::from_static(PAGE_KEY_HEADER))
        }
    };
    match page_key.map(SecretText::new) {
        Some(page_key) => Credential::Browser(BrowserSecrets { cookie, page_key }),
        None => Credential::CookieAlone,
    }
}

/// Returns the key that a page offers as a subprotocol of a WebSocket. `None` if it offers none, or
/// several.
fn offered_page_key(headers: &HeaderMap) -> Option<&str> {
    let offered = only(headers, &SEC_WEBSOCKET_PROTOCOL)?.split(',').map(str::trim);
    let mut keys = offered.filter_map(|it| it.strip_prefix(PAGE_KEY_PROTOCOL));
    match (keys.next(), keys.next()) {
        (Some(key), None) => Some(key),
        _ => None,
    }
}

async fn recognize(app: &App, credential: Credential, is_of_page: bool) -> Result<AccessToken> {
    let (text, kind) = match credential {
        Credential::Token(text) => (text, AccessTokenKind::Program),
        Credential::Browser(secrets) => (secrets.text(), AccessTokenKind::Browser),
        Credential::CookieAlone => return Err(token_rules::incomplete_login()),
        Credential::None if is_of_page => return Err(token_rules::not_logged_in()),
        Credential::None => return Err(token_rules::missing()),
    };
    tokens::recognize(&app.ready().await?.ports, &text, kind).await
}

/// Checks that the page of this daemon made a request with the cookie of a browser.
fn check_page(request: &Request) -> Result<()> {
    let headers = request.headers();
    let fetch_site = headers.get(FETCH_SITE).map(|it| it.to_str().unwrap_or_default());
    let origin = only(headers, &ORIGIN);
    listening::check_page(page_request(request), PageHeaders { origin, fetch_site })
}

/// Returns what a request of a page wants.
fn page_request(request: &Request) -> PageRequest {
    match *request.method() {
        Method::GET | Method::HEAD if request.headers().contains_key(UPGRADE) => {
            PageRequest::Connect
        }
        Method::GET | Method::HEAD => PageRequest::Read,
        _ => PageRequest::Change,
    }
}

/// Returns the token of the header `Authorization`.
fn bearer(headers: &HeaderMap) -> Option<SecretText> {
    let (scheme, token) = only(headers, &AUTHORIZATION)?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| SecretText::new(token.trim()))
}

fn check_headers(peer: &NetworkPeer, headers: &HeaderMap) -> Result<()> {
    let several =
        [&HOST, &ORIGIN].into_iter().find(|name| headers.get_all(*name).iter().count() > 1);
    if let Some(name) = several {
        return Err(Error::usage(format!("the request has the header `{name}` more than once")));
    }
    let (host, origin) = (only(headers, &HOST), only(headers, &ORIGIN));
    if headers.contains_key(ORIGIN) && origin.is_none() {
        return Err(Error::usage("the header `origin` is not ASCII"));
    }
    listening::check_site(&peer.settings, peer.local.ip(), host, origin)
}

/// Returns a header that must not be repeated. `None` if it is missing or not ASCII.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (Some(value), None) => value.to_str().ok(),
        _ => None,
    }
}

/// Returns the address of the client. A proxy appends the address of its own client to a header; all
/// earlier entries can be invented.
fn client(peer: &NetworkPeer, headers: &HeaderMap) -> IpAddr {
    if peer.settings.transport != Transport::Proxy {
        return peer.remote;
    }
    let newest = headers.get_all(FORWARDED_FOR).iter().next_back();
    let newest = newest.map(HeaderValue::to_str).and_then(Result::ok);
    let client = newest.and_then(|list| list.rsplit(',').next()?.trim().parse().ok());
    client.unwrap_or(peer.remote)
}

fn network_peer(request: &Request) -> Option<NetworkPeer> {
    match request.extensions().get::<ConnectInfo<PeerInfo>>() {
        Some(ConnectInfo(PeerInfo::Network(peer))) => Some(peer.clone()),
        _ => None,
    }
}

/// Puts the environment of the user's login shell into a request from a network. Its client cannot
/// choose the environment: it decides which program is found and which code is loaded into it.
pub(crate) async fn set_environment(
    State(app): State<App>,
    request: Request,
    next: Next,
) -> Response {
    let place = request.extensions().get::<EnvironmentPlace>().copied();
    let Some(place) = place else { return next.run(request).await };
    match with_environment(&app, place, request).await {
        Ok(request) => next.run(request).await,
        Err(error) => ErrorResponse::from(error).into_response(),
    }
}

async fn with_environment(app: &App, place: EnvironmentPlace, request: Request) -> Result<Request> {
    if place == EnvironmentPlace::Nowhere {
        return Ok(request);
    }
    let (parts, body) = request.into_parts();
    let unreadable = |error| Error::usage("the request cannot be read").caused_by(error);
    let bytes = to_bytes(body, MAX_REQUEST_BYTES).await.map_err(|it| unreadable(it.to_string()))?;
    let mut value: Value =
        serde_json::from_slice(&bytes).map_err(|it| unreadable(it.to_string()))?;
    let target = target(&mut value, place)?;
    if target.contains_key(ENVIRONMENT) {
        return Err(Error::new(Kind::Forbidden, "a request cannot bring its own environment")
            .caused_by("agents get the environment of the user's login shell")
            .hint("leave out `environment`"));
    }
    let environment = app.ready().await?.login_shell().await?;
    target.insert(ENVIRONMENT.to_owned(), json!(environment));
    let body = serde_json::to_vec(&value)
        .map_err(|error| Error::internal("a request cannot be written").caused_by(error))?;
    Ok(Request::from_parts(parts, Body::from(body)))
}

const ENVIRONMENT: &str = "environment";

/// Returns the object of a request that has the environment. Makes a missing `caller`.
fn target(value: &mut Value, place: EnvironmentPlace) -> Result<&mut Map<String, Value>> {
    let wrong = || Error::usage("the request must be a JSON object");
    let top = value.as_object_mut().ok_or_else(wrong)?;
    if place == EnvironmentPlace::Top {
        return Ok(top);
    }
    let caller = top.entry("caller").or_insert_with(|| json!({}));
    caller.as_object_mut().ok_or_else(|| Error::usage("`caller` must be a JSON object"))
}
