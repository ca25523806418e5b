//! The MCP server over HTTP, for programs with a token. Every call of a tool is a request to the
//! routes of this daemon with the same token, so that exactly their rights apply.

use std::sync::Arc;

use async_trait::async_trait;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{ConnectInfo, Request};
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, HOST};
use axum::http::{HeaderMap, HeaderValue, Method};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Router};
use http_body_util::Full;
use hyper::service::Service as _;
use hyper_util::service::TowerToHyperService;
use segue_core::api::Caller;
use segue_core::model::Environment;
use segue_core::{Error, Result};
use segue_mcp::{ApiCall, ApiCalls, ApiMethod, McpHttp};
use serde_json::{Value, json};

use super::caller::PeerInfo;
use super::description::{DescribedAnswer, OperationDraft};
use super::{ErrorResponse, MAX_REQUEST_BYTES, not_utf8};

/// The path of the MCP server.
const PATH: &str = "/mcp";

/// All routes of the daemon, as they serve the connection of a request. Building them takes much longer
/// than a request.
#[derive(Clone)]
pub(crate) struct ServedRoutes(pub(crate) TowerToHyperService<Router>);

/// Answers a message of the protocol.
pub(crate) async fn answer(
    Extension(routes): Extension<ServedRoutes>,
    ConnectInfo(peer): ConnectInfo<PeerInfo>,
    headers: HeaderMap,
    body: Bytes,
) -> std::result::Result<McpAnswer, ErrorResponse> {
    if matches!(peer, PeerInfo::Process(_)) {
        let error = Error::usage("MCP over HTTP is for clients on a network");
        return Err(error.hint("use `segue mcp` as the command of the MCP server").into());
    }
    let mut request = Request::new(Full::new(body));
    *request.method_mut() = Method::POST;
    *request.uri_mut() = PATH.parse().map_err(not_utf8)?;
    let own = [AUTHORIZATION, HOST];
    let own = own.into_iter().filter_map(|name| Some((name.clone(), headers.get(name)?.clone())));
    let calls = RouteCalls { routes, peer, headers: own.collect() };
    *request.headers_mut() = headers;
    Ok(McpAnswer(McpHttp::answer(Arc::new(calls), request).await.map(Body::new)))
}

/// The answer to a message: JSON, or a stream of events if there is progress to report.
#[derive(Debug)]
pub(crate) struct McpAnswer(Response);

impl IntoResponse for McpAnswer {
    fn into_response(self) -> Response {
        self.0
    }
}

impl DescribedAnswer for McpAnswer {
    fn describe(draft: &mut OperationDraft<'_>) {
        let content = json!({
            "application/json": { "schema": { "type": "object" } },
            "text/event-stream": { "schema": { "type": "string" } },
        });
        draft.respond(200, "A message of the protocol", &content);
    }
}

/// Sends the calls of tools to the routes of this daemon, as the sender of the MCP message.
struct RouteCalls {
    routes: ServedRoutes,
    peer: PeerInfo,
    /// The headers that show who the sender is.
    headers: HeaderMap,
}

impl std::fmt::Debug for RouteCalls {
    /// Leaves out the headers, which contain the token.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RouteCalls").finish_non_exhaustive()
    }
}

#[async_trait]
impl ApiCalls for RouteCalls {
    /// A client on a network has no folder here, and gets the environment of the login shell.
    fn caller(&self) -> Caller {
        Caller { cwd: "/".into(), environment: Environment::default() }
    }

    fn has_folder(&self) -> bool {
        false
    }

    async fn send(&self, mut call: ApiCall) -> Result<Value> {
        remove_environment(&mut call.body);
        let body = match &call.body {
            Value::Null => Vec::new(),
            body => serde_json::to_vec(body).map_err(not_utf8)?,
        };
        let mut request = Request::new(Body::from(body));
        *request.method_mut() = match call.method {
            ApiMethod::Get => Method::GET,
            ApiMethod::Post => Method::POST,
        };
        *request.uri_mut() = call.path.parse().map_err(not_utf8)?;
        *request.headers_mut() = self.headers.clone();
        let json = HeaderValue::from_static("application/json");
        request.headers_mut().insert(CONTENT_TYPE, json);
        request.extensions_mut().insert(ConnectInfo(self.peer.clone()));
        let response = self.routes.0.call(request).await.unwrap_or_else(|never| match never {});
        let is_success = response.status().is_success();
        let body = to_bytes(response.into_body(), MAX_REQUEST_BYTES).await;
        let unreadable = |error: &dyn std::fmt::Display| {
            Error::internal("an answer of the daemon cannot be read").caused_by(error)
        };
        let body = body.map_err(|error| unreadable(&error))?;
        if is_success {
            return serde_json::from_slice(&body).map_err(|error| unreadable(&error));
        }
        Err(serde_json::from_slice(&body).unwrap_or_else(|error| unreadable(&error)))
    }
}

/// Removes the environment from a request: a client on a network may not send one, not even an empty
/// one.
fn remove_environment(body: &mut Value) {
    if let Some(body) = body.as_object_mut() {
        body.remove("environment");
        if let Some(Value::Object(caller)) = body.get_mut("caller") {
            caller.remove("environment");
        }
    }
}
