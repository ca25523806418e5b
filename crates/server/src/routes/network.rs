//! The routes of `segue serve` and `segue token`.

use axum::Json;
use axum::extract::State;
use segue_core::api::{
    ServeReport, ServeRequest, TokenCreateReport, TokenCreateRequest, TokenList,
    TokenRevokeRequest, TokenView,
};
use segue_core::flows::tokens;
use segue_core::rules::scope::RestrictedAction;

use super::{Admitted, App, RouteResult, Sent};
use crate::wiring;

/// Changes where the daemon listens. Listening at the same address twice is the same as once.
pub(crate) async fn serve(
    State(app): State<App>,
    Admitted { principal, .. }: Admitted,
    Sent(request): Sent<ServeRequest>,
) -> RouteResult<ServeReport> {
    principal.allow(RestrictedAction::Network)?;
    Ok(Json(app.network.serve(request).await?))
}

pub(crate) async fn tokens(Admitted { supervisor, principal }: Admitted) -> RouteResult<TokenList> {
    principal.allow(RestrictedAction::Network)?;
    Ok(Json(tokens::list(&supervisor.ports).await?))
}

/// Creates a token. A repeated request fails, because the text of the first token is gone.
pub(crate) async fn create_token(
    Admitted { supervisor, principal }: Admitted,
    Sent(request): Sent<TokenCreateRequest>,
) -> RouteResult<TokenCreateReport> {
    principal.allow(RestrictedAction::Network)?;
    let random = wiring::random_bytes()?;
    Ok(Json(tokens::create(&supervisor.ports, request, random).await?))
}

pub(crate) async fn revoke_token(
    Admitted { supervisor, principal }: Admitted,
    Sent(request): Sent<TokenRevokeRequest>,
) -> RouteResult<TokenView> {
    principal.allow(RestrictedAction::Network)?;
    Ok(Json(tokens::revoke(&supervisor.ports, &request).await?))
}
