//! Terminals of agents in a browser: over a WebSocket, and as the text of a screen.
//!
//! A browser that reads slowly does not slow the agent: what it has not read stays in the queue of
//! the holder, which is limited.

mod connection;
mod handshake;

use axum::Json;
use axum::extract::State;
use axum::http::HeaderValue;
use axum::http::StatusCode;
use axum::http::header::{CONNECTION, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_PROTOCOL, UPGRADE};
use axum::response::{IntoResponse, Response};
use segue_core::api::{ScreenView, TerminalQuery, TerminalRequest, TerminalUpdate, TerminalUse};
use segue_core::model::{Principal, SessionId, TerminalSize};
use segue_core::ports::TerminalAccess;
use segue_core::rules::scope::RestrictedAction;
use segue_core::{Error, Result};
use serde_json::json;

use self::connection::TerminalConnection;
use super::access_life::AccessLife;
use super::description::{DescribedAnswer, OperationDraft};
use super::inputs::{PathValue, QueryValues};
use super::rest::find_session;
use super::sessions::running_launch;
use super::{Admitted, App, ErrorResponse, RouteResult};
use crate::wiring;

pub(crate) use handshake::WebSocketUpgrade;

/// Opens a terminal. All checks come before the upgrade, so that the client gets their errors.
pub(crate) async fn open(
    State(app): State<App>,
    Admitted { supervisor, principal }: Admitted,
    PathValue(id): PathValue<SessionId>,
    QueryValues(query): QueryValues<TerminalQuery>,
    upgrade: WebSocketUpgrade,
) -> Result<TerminalOpened, ErrorResponse> {
    principal.allow(match query.access {
        TerminalUse::View => RestrictedAction::WatchTerminal,
        TerminalUse::Control => RestrictedAction::ControlTerminal,
    })?;
    let summary = find_session(&supervisor, &principal, id).await?;
    let launch = running_launch(&supervisor, &summary, "watch").await?.id;
    let counted = match &principal {
        Principal::Token(token) => Some(app.network.limits.open_terminal(token.id)?),
        Principal::User | Principal::Agent(_) => None,
    };
    let life = AccessLife::of(&app, &supervisor, &principal);
    let stream = app.terminals.open(launch, access(query)).await?;
    let (accept, protocol) = (upgrade.accept()?, upgrade.protocol());
    tokio::spawn(async move {
        let _counted = counted;
        let Some((socket, _lease)) = upgrade.finish().await else { return };
        let connection = TerminalConnection::new(socket, stream);
        connection.run(life, &app).await;
    });
    Ok(TerminalOpened { accept, protocol })
}

fn access(query: TerminalQuery) -> TerminalAccess {
    let TerminalQuery { access, rows, columns } = query;
    let wanted = TerminalSize { rows: rows.unwrap_or_default(), cols: columns.unwrap_or_default() };
    match access {
        TerminalUse::View => TerminalAccess::View,
        TerminalUse::Control => TerminalAccess::Control { size: wanted.clamped() },
    }
}

/// The answer after which the connection is a WebSocket.
#[derive(Debug)]
pub(crate) struct TerminalOpened {
    accept: HeaderValue,
    protocol: Option<HeaderValue>,
}

impl IntoResponse for TerminalOpened {
    fn into_response(self) -> Response {
        let headers = [
            (CONNECTION, HeaderValue::from_static("upgrade")),
            (UPGRADE, HeaderValue::from_static("websocket")),
            (SEC_WEBSOCKET_ACCEPT, self.accept),
        ];
        let protocol = self.protocol.map(|it| [(SEC_WEBSOCKET_PROTOCOL, it)]);
        (StatusCode::SWITCHING_PROTOCOLS, headers, protocol, ()).into_response()
    }
}

impl DescribedAnswer for TerminalOpened {
    fn describe(draft: &mut OperationDraft<'_>) {
        let sent = draft.schemas.answers.subschema_for::<TerminalUpdate>();
        let read = draft.schemas.answers.subschema_for::<TerminalRequest>();
        let upgrade = json!({ "description": "the connection is a WebSocket from now on" });
        draft.responses.insert("101".to_owned(), upgrade);
        // OpenAPI has no place for the messages of a WebSocket, and needs an answer that succeeds.
        let content = json!({ "application/json": { "schema": { "oneOf": [sent, read] } } });
        let description = "never sent: describes the text messages of the WebSocket. The daemon \
            sends a `TerminalUpdate`, the client a `TerminalRequest`. Binary messages are bytes of \
            the terminal";
        draft.respond(200, description, &content);
    }
}

/// Returns the text on the screen of an agent. Its clients do not notice it.
pub(crate) async fn screen(
    State(app): State<App>,
    Admitted { supervisor, principal }: Admitted,
    PathValue(id): PathValue<SessionId>,
) -> RouteResult<ScreenView> {
    principal.allow(RestrictedAction::WatchTerminal)?;
    let summary = find_session(&supervisor, &principal, id).await?;
    let launch = running_launch(&supervisor, &summary, "watch").await?.id;
    let screen = wiring::screen(&app.paths, launch).await?;
    let gone = || Error::unavailable("the process that holds the agent is gone");
    let (size, lines) = screen.ok_or_else(gone)?;
    let at = supervisor.ports.clock.now();
    Ok(Json(ScreenView { rows: size.rows, columns: size.cols, lines, at }))
}
