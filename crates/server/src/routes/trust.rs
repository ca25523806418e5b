//! The route of `segue trust`.

use axum::Json;
use segue_core::api::{TrustRequest, TrustView};
use segue_core::flows;
use segue_core::rules::scope::RestrictedAction;

use super::{Admitted, RouteResult, Sent};

pub(crate) async fn trust(
    Admitted { supervisor, principal }: Admitted,
    Sent(request): Sent<TrustRequest>,
) -> RouteResult<TrustView> {
    principal.allow(RestrictedAction::Trust)?;
    Ok(Json(flows::trust::trust(&supervisor.ports, &request).await?))
}
