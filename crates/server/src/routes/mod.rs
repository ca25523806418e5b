//! The HTTP API. A route only identifies the caller, parses the request and calls the supervisor.

mod caller;
mod conversation;
mod doctor;
mod events;
mod git_credential;
mod limits;
mod messages;
mod once;
mod sessions;
mod tasks;
mod trust;
mod usage;
mod worktrees;

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use segue_core::api::{Health, PROTOCOL};
use segue_core::rules::scope::RestrictedAction;
use segue_core::{Error, Result};
use serde::Serialize;

pub(crate) use caller::{Admitted, PeerInfo, RequestingProcess};
pub(crate) use once::RequestIdHeader;

use crate::daemon::Daemon;
use crate::wiring::VERSION;

/// The largest request. Only a prompt can be large.
const MAX_REQUEST_BYTES: usize = 64 * 1024 * 1024;

/// The state that every route gets.
pub(crate) type App = Arc<Daemon>;

pub(crate) fn router(app: App) -> Router {
    Router::new()
        .route("/v1/health", get(health))
        .route("/v1/shutdown", post(shut_down))
        .route("/v1/run", post(sessions::run))
        .route("/v1/up", post(sessions::up))
        .route("/v1/scale", post(sessions::scale))
        .route("/v1/resume", post(sessions::resume))
        .route("/v1/resume/count", post(sessions::count))
        .route("/v1/stop", post(sessions::stop))
        .route("/v1/sessions", get(sessions::list))
        .route("/v1/sessions/{id}/turn", get(sessions::turn))
        .route("/v1/list", post(sessions::filtered))
        .route("/v1/select", post(sessions::select))
        .route("/v1/session", get(sessions::show).delete(sessions::remove))
        .route("/v1/conversation", post(conversation::find))
        .route("/v1/adopt", post(sessions::adopt))
        .route("/v1/handoff", post(sessions::handoff))
        .route("/v1/strangers", post(sessions::unknown_conversations))
        .route("/v1/attach", get(sessions::attach))
        .route("/v1/send", post(messages::send))
        .route("/v1/messages", post(messages::list))
        .route("/v1/cancel", post(messages::cancel))
        .route("/v1/answer", post(messages::answer))
        .route("/v1/wait", post(messages::wait))
        .route("/v1/events", get(events::list))
        .route("/v1/events/follow", get(events::follow))
        .route("/v1/tasks", post(tasks::add))
        .route("/v1/tasks/list", post(tasks::list))
        .route("/v1/tasks/summaries", post(tasks::summaries))
        .route("/v1/tasks/show", post(tasks::show))
        .route("/v1/tasks/wait", post(tasks::wait))
        .route("/v1/tasks/cancel", post(tasks::cancel))
        .route("/v1/tasks/retry", post(tasks::retry))
        .route("/v1/doctor", post(doctor::doctor))
        .route("/v1/git-credential", post(git_credential::answer))
        .route("/v1/trust", post(trust::trust))
        .route("/v1/usage", post(usage::list))
        .route("/v1/worktrees", post(worktrees::list))
        .route("/v1/worktrees/diff", post(worktrees::diff))
        .route("/v1/worktrees/salvage", post(worktrees::salvage))
        .route("/v1/worktrees/remove", post(worktrees::remove))
        .route("/v1/worktrees/restore", post(worktrees::restore))
        .route("/v1/worktrees/gc", post(worktrees::collect_garbage))
        .layer(axum::extract::DefaultBodyLimit::max(MAX_REQUEST_BYTES))
        .layer(axum::middleware::from_fn_with_state(Arc::clone(&app), limits::bounded))
        .with_state(app)
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
