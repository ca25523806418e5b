//! The HTTP API. A route only identifies the caller, parses the request and calls the supervisor.

mod access_life;
mod attention;
mod browser;
mod caller;
mod conversation;
mod cookie;
mod declarations;
mod deliveries;
mod description;
mod doctor;
mod etag;
mod events;
mod git_credential;
mod guard;
mod housekeeping;
mod inputs;
mod limits;
mod mcp;
mod messages;
mod metrics;
mod network;
mod once;
mod openapi;
mod page;
mod plans;
mod problem;
mod rest;
mod sent;
mod sessions;
mod settings;
mod table;
mod tasks;
mod terminal;
mod trust;
mod usage;
mod worktrees;

use std::sync::Arc;

use axum::extract::State;
use axum::middleware::from_fn_with_state;
use axum::{Json, Router};
use segue_core::api::{Health, PROTOCOL};
use segue_core::rules::scope::RestrictedAction;
use segue_core::{Error, Result};
use serde::Serialize;

use self::declarations::table;
use self::table::documentation_rows;

pub(crate) use self::mcp::ServedRoutes;
pub(crate) use caller::{Admitted, NetworkPeer, PeerInfo, RequestingProcess};
pub(crate) use once::RequestIdHeader;
pub(crate) use problem::ErrorResponse;
pub(crate) use sent::Sent;

use crate::daemon::Daemon;
use crate::wiring::VERSION;

/// The largest request. Only a prompt can be large.
const MAX_REQUEST_BYTES: usize = 64 * 1024 * 1024;

/// The state that every route gets.
pub(crate) type App = Arc<Daemon>;

pub(crate) fn router(app: App) -> Router {
    table()
        .into_router(Arc::clone(&app))
        .merge(page::router())
        .fallback(problem::unknown_path)
        .layer(axum::extract::DefaultBodyLimit::max(MAX_REQUEST_BYTES))
        .layer(from_fn_with_state(Arc::clone(&app), guard::check_site))
        .with_state(app)
}

/// Returns the OpenAPI document of the API.
pub fn openapi_document() -> String {
    openapi::document()
}

/// Returns the rows of the table of routes in the documentation.
pub fn route_rows() -> Vec<String> {
    documentation_rows(table().entries())
}

async fn health(State(app): State<App>) -> Json<Health> {
    Json(Health {
        version: VERSION.to_owned(),
        protocol: PROTOCOL,
        pid: std::process::id(),
        started_at: app.started_at,
        ending: app.is_stopping(),
    })
}

async fn shut_down(State(app): State<App>, caller: RequestingProcess) -> RouteResult<()> {
    caller.allow(&app, RestrictedAction::StopDaemon).await?;
    app.shut_down();
    Ok(Json(()))
}

/// The response of a route.
pub(crate) type RouteResult<T> = std::result::Result<Json<T>, ErrorResponse>;

/// Appends a query to a path.
pub(crate) fn query(path: &str, parameters: &impl Serialize) -> Result<String> {
    let encoded = serde_urlencoded::to_string(parameters).map_err(not_utf8)?;
    Ok(format!("{path}?{encoded}"))
}

/// Returns the error for a request that cannot be serialized. Only a path that is not valid UTF-8
/// can cause it.
pub(crate) fn not_utf8(error: impl std::fmt::Display) -> Error {
    Error::usage("Segue cannot work in a folder whose path is not UTF-8")
        .caused_by(error)
        .hint("rename the folder, or run the command in another folder")
}
