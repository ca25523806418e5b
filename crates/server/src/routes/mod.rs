//! The HTTP API. A route only identifies the caller, parses the request and calls the supervisor.

mod caller;
mod conversation;
mod deliveries;
mod doctor;
mod events;
mod git_credential;
mod guard;
mod housekeeping;
mod limits;
mod messages;
mod network;
mod once;
mod sent;
mod sessions;
mod table;
mod tasks;
mod trust;
mod usage;
mod worktrees;

use std::sync::Arc;

use axum::extract::State;
use axum::http::{Method, StatusCode};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::{Json, Router};
use segue_core::api::{Health, PROTOCOL};
use segue_core::model::TokenScope::{Admin, Read, Send, Work};
use segue_core::rules::scope::RestrictedAction;
use segue_core::{Error, Result};
use serde::Serialize;

use self::table::EnvironmentPlace::{Caller, Top};
use self::table::RouteTable;

pub(crate) use caller::{Admitted, NetworkPeer, PeerInfo, RequestingProcess};
pub(crate) use once::RequestIdHeader;
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
        .layer(axum::extract::DefaultBodyLimit::max(MAX_REQUEST_BYTES))
        .layer(from_fn_with_state(Arc::clone(&app), guard::check_site))
        .with_state(app)
}

/// Returns all routes, each with the right that its caller needs.
fn table() -> RouteTable {
    let table = RouteTable::default()
        .get("/v1/health", Read, health)
        .local(Method::POST, "/v1/shutdown", shut_down)
        .local(Method::POST, "/v1/doctor", doctor::doctor)
        .local(Method::POST, "/v1/git-credential", git_credential::answer)
        .post("/v1/trust", Admin, trust::trust)
        .post("/v1/usage", Read, usage::list)
        .post("/v1/serve", Admin, network::serve)
        .get("/v1/tokens", Admin, network::tokens)
        .post("/v1/tokens", Admin, network::create_token)
        .post("/v1/tokens/revoke", Admin, network::revoke_token);
    let table = add_sessions(table);
    let table = add_messages(table);
    let table = add_tasks(table);
    let table = add_deliveries(table);
    let table = housekeeping::add(table);
    add_worktrees(table)
}

fn add_sessions(table: RouteTable) -> RouteTable {
    table
        .start("/v1/run", (Work, Caller), sessions::run)
        .start("/v1/up", (Work, Caller), sessions::up)
        .start("/v1/scale", (Work, Caller), sessions::scale)
        .start("/v1/resume", (Work, Caller), sessions::resume)
        .start("/v1/resume/count", (Read, Caller), sessions::count)
        .post("/v1/stop", Work, sessions::stop)
        .get("/v1/sessions", Read, sessions::list)
        .get("/v1/sessions/{id}/turn", Read, sessions::turn)
        .post("/v1/list", Read, sessions::filtered)
        .post("/v1/select", Read, sessions::select)
        .get("/v1/session", Read, sessions::show)
        .delete("/v1/session", Admin, sessions::remove)
        .start("/v1/conversation", (Read, Caller), conversation::find)
        .start("/v1/adopt", (Admin, Caller), sessions::adopt)
        .start("/v1/handoff", (Work, Caller), sessions::handoff)
        .start("/v1/strangers", (Work, Top), sessions::unknown_conversations)
        .local(Method::GET, "/v1/attach", sessions::attach)
        .get("/v1/events", Read, events::list)
        .get("/v1/events/follow", Read, events::follow)
}

fn add_messages(table: RouteTable) -> RouteTable {
    table
        .start("/v1/send", (Send, Caller), messages::send)
        .post("/v1/messages", Read, messages::list)
        .post("/v1/cancel", Send, messages::cancel)
        .post("/v1/answer", Send, messages::answer)
        .post("/v1/wait", Read, messages::wait)
}

fn add_tasks(table: RouteTable) -> RouteTable {
    table
        .start("/v1/tasks", (Work, Caller), tasks::add)
        .post("/v1/tasks/list", Read, tasks::list)
        .post("/v1/tasks/summaries", Read, tasks::summaries)
        .post("/v1/tasks/show", Read, tasks::show)
        .post("/v1/tasks/wait", Read, tasks::wait)
        .post("/v1/tasks/cancel", Work, tasks::cancel)
        .start("/v1/tasks/retry", (Work, Caller), tasks::retry)
}

fn add_deliveries(table: RouteTable) -> RouteTable {
    table
        .signed("/webhooks/{source}", deliveries::receive)
        .post("/v1/deliveries", Read, deliveries::list)
        .post("/v1/deliveries/show", Read, deliveries::show)
        .post("/v1/deliveries/replay", Work, deliveries::replay)
        .post("/v1/dispatch/test", Work, deliveries::test)
}

fn add_worktrees(table: RouteTable) -> RouteTable {
    table
        .post("/v1/worktrees", Read, worktrees::list)
        .post("/v1/worktrees/diff", Read, worktrees::diff)
        .start("/v1/worktrees/salvage", (Work, Top), worktrees::salvage)
        .start("/v1/worktrees/remove", (Work, Top), worktrees::remove)
        .start("/v1/worktrees/restore", (Work, Top), worktrees::restore)
        .start("/v1/worktrees/gc", (Work, Top), worktrees::collect_garbage)
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

/// An error that is sent to the client.
#[derive(Debug)]
pub(crate) struct ErrorResponse(Error);

impl From<Error> for ErrorResponse {
    fn from(error: Error) -> Self {
        Self(error)
    }
}

impl IntoResponse for ErrorResponse {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.0.kind.http_status());
        (status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), Json(self.0)).into_response()
    }
}

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
