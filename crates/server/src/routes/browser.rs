//! The routes of the web page itself: links, logins, and links to one session.

use std::sync::Arc;

use axum::Json;
use axum::extract::{ConnectInfo, FromRequestParts, State};
use axum::http::header::{CACHE_CONTROL, SET_COOKIE};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use segue_core::api::{
    ShareCreateReport, ShareCreateRequest, ShareList, WebLinkReport, WebLinkRequest,
    WebLoginReport, WebLoginRequest, WebSessionView,
};
use segue_core::flows::{browsers, shares, tokens};
use segue_core::model::{
    AccessToken, AccessTokenKind, ListenSettings, Principal, SecretText, TokenId,
};
use segue_core::rules::scope::RestrictedAction;
use segue_core::rules::tokens::{self as token_rules, BrowserSecrets};
use segue_core::{Error, Kind, Result};
use serde_json::json;

use super::description::{DescribedAnswer, OperationDraft};
use super::guard::count_stranger;
use super::inputs::PathValue;
use super::{Admitted, App, ErrorResponse, PeerInfo, RouteResult, Sent, cookie};
use crate::wiring;

/// An answer without content, which may set the cookie of the browser.
#[derive(Debug)]
pub(crate) struct NoContent(Option<HeaderValue>);

impl IntoResponse for NoContent {
    fn into_response(self) -> Response {
        let mut response = StatusCode::NO_CONTENT.into_response();
        if let Some(cookie) = self.0 {
            response.headers_mut().insert(SET_COOKIE, cookie);
        }
        response
    }
}

impl DescribedAnswer for NoContent {
    fn describe(draft: &mut OperationDraft<'_>) {
        draft.responses.insert("204".to_owned(), json!({ "description": "done" }));
    }
}

/// The browser that has sent a request, and has logged in.
#[derive(Debug)]
pub(crate) struct LoggedInBrowser {
    token: AccessToken,
    settings: Arc<ListenSettings>,
}

impl FromRequestParts<App> for LoggedInBrowser {
    type Rejection = ErrorResponse;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ErrorResponse> {
        let peer = ConnectInfo::<PeerInfo>::from_request_parts(parts, app).await;
        match (peer, parts.extensions.get::<Principal>().cloned()) {
            (Ok(ConnectInfo(PeerInfo::Network(peer))), Some(Principal::Token(token)))
                if token.kind == AccessTokenKind::Browser =>
            {
                Ok(Self { token, settings: peer.settings })
            }
            _ => Err(only_browsers().into()),
        }
    }
}

fn only_browsers() -> Error {
    Error::new(Kind::Forbidden, "only a browser may do this").hint("run `segue web`")
}

/// Creates a login link. A repeated request creates another one.
pub(crate) async fn create_link(
    State(app): State<App>,
    Admitted { supervisor, principal }: Admitted,
    Sent(request): Sent<WebLinkRequest>,
) -> RouteResult<WebLinkReport> {
    principal.allow(RestrictedAction::Network)?;
    tokens::check_scopes(&request.scopes)?;
    let code = token_rules::text(wiring::random_bytes()?);
    let now = supervisor.ports.clock.now();
    let expires_at = app.network.login_codes().add(&code, request.scopes, now);
    let url_path = SecretText::new(format!("/login#{}", code.expose()));
    Ok(Json(WebLinkReport { url_path, expires_at }))
}

/// The login of a browser: a cookie, and the key of the page in the body.
#[derive(Debug)]
pub(crate) struct LoginAnswer {
    cookie: HeaderValue,
    report: WebLoginReport,
}

impl IntoResponse for LoginAnswer {
    fn into_response(self) -> Response {
        let headers =
            [(SET_COOKIE, self.cookie), (CACHE_CONTROL, HeaderValue::from_static("no-store"))];
        (headers, Json(self.report)).into_response()
    }
}

impl DescribedAnswer for LoginAnswer {
    fn describe(draft: &mut OperationDraft<'_>) {
        Json::<WebLoginReport>::describe(draft);
    }
}

/// Logs a browser in with the code of a link.
pub(crate) async fn log_in(
    State(app): State<App>,
    ConnectInfo(peer): ConnectInfo<PeerInfo>,
    headers: HeaderMap,
    Sent(WebLoginRequest { code }): Sent<WebLoginRequest>,
) -> Result<LoginAnswer, ErrorResponse> {
    let PeerInfo::Network(network_peer) = &peer else { return Err(only_browsers().into()) };
    let supervisor = app.ready().await?;
    let own = app.network.login_codes().redeem(&code, supervisor.ports.clock.now());
    let secrets = BrowserSecrets::new(wiring::random_bytes()?, wiring::random_bytes()?);
    match browsers::log_in(&supervisor.ports, &code, own, &secrets).await {
        Ok(()) => {
            let cookie = cookie::set(&network_peer.settings, &secrets.cookie)?;
            Ok(LoginAnswer { cookie, report: WebLoginReport { page_key: secrets.page_key } })
        }
        Err(error) if error.kind == Kind::Unauthorized => {
            Err(count_stranger(&app, &peer, &headers, error).into())
        }
        Err(error) => Err(error.into()),
    }
}

/// Describes the login of the calling browser.
pub(crate) async fn session(
    State(app): State<App>,
    browser: LoggedInBrowser,
) -> RouteResult<WebSessionView> {
    let ports = &app.ready().await?.ports;
    Ok(Json(browsers::describe(ports, &browser.token).await?))
}

/// Logs the calling browser out.
pub(crate) async fn log_out(
    State(app): State<App>,
    browser: LoggedInBrowser,
) -> Result<NoContent, ErrorResponse> {
    browsers::log_out(&app.ready().await?.ports, &browser.token).await?;
    Ok(NoContent(Some(cookie::clear(&browser.settings)?)))
}

/// Creates a link to a session. A repeated request creates another one.
pub(crate) async fn create_share(
    Admitted { supervisor, principal }: Admitted,
    Sent(request): Sent<ShareCreateRequest>,
) -> RouteResult<ShareCreateReport> {
    let random = wiring::random_bytes()?;
    Ok(Json(shares::create(&supervisor.ports, &principal, &request, random).await?))
}

pub(crate) async fn list_shares(
    Admitted { supervisor, principal }: Admitted,
) -> RouteResult<ShareList> {
    Ok(Json(shares::list(&supervisor.ports, &principal).await?))
}

pub(crate) async fn revoke_share(
    Admitted { supervisor, principal }: Admitted,
    PathValue(id): PathValue<TokenId>,
) -> Result<NoContent, ErrorResponse> {
    shares::revoke(&supervisor.ports, &principal, id).await?;
    Ok(NoContent(None))
}
