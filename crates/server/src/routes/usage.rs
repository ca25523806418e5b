//! The route for used tokens.

use axum::Json;
use segue_core::api::{UsageList, UsageRequest};
use segue_core::flows::usage;

use super::{Admitted, RouteResult, Sent};

pub(crate) async fn list(
    Admitted { supervisor, principal }: Admitted,
    Sent(request): Sent<UsageRequest>,
) -> RouteResult<UsageList> {
    supervisor.count_all_usage().await;
    Ok(Json(usage::list(&supervisor.ports, &principal, &request).await?))
}
