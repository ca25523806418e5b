//! The routes for deliveries: the webhooks themselves, and what became of deliveries.

use axum::Json;
use axum::body::Bytes;
use axum::extract::{ConnectInfo, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use segue_core::Kind;
use segue_core::api::{
    DeliveriesRequest, DeliveryList, DeliveryReport, DeliverySelector, DeliveryView,
    DispatchTestReport, DispatchTestRequest,
};
use segue_core::flows::deliveries::DeliveryReceipt;
use segue_core::model::{DeliveryHeaders, SourceName};
use serde_json::json;

use super::caller::PeerInfo;
use super::description::{DescribedAnswer, OperationDraft};
use super::inputs::PathValue;
use super::{Admitted, App, ErrorResponse, RequestIdHeader, RouteResult, Sent, guard};
use crate::requests::AnswerStorage;
use crate::supervisor::dispatch;

/// Receives a delivery of a forge. It is stored when it is answered. The signature shows who has sent
/// it: no token is needed.
pub(crate) async fn receive(
    State(app): State<App>,
    PathValue(source): PathValue<SourceName>,
    ConnectInfo(peer): ConnectInfo<PeerInfo>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<DeliveryAnswer, ErrorResponse> {
    let pairs = headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes()));
    let sent = DeliveryHeaders::new(pairs);
    let supervisor = app.ready().await?;
    let received = dispatch::receive(&supervisor, source.as_str(), &sent, body.into()).await;
    let received = received.map_err(|error| match error.kind {
        Kind::Unauthorized | Kind::NotFound => {
            app.metrics.webhook_refused();
            guard::count_stranger(&app, &peer, &headers, error)
        }
        _ => error,
    })?;
    app.metrics.delivery_answered(if received.is_new { "received" } else { "repeated" });
    Ok(DeliveryAnswer(received))
}

/// The answer to a forge.
#[derive(Debug)]
pub(crate) struct DeliveryAnswer(DeliveryReceipt);

impl IntoResponse for DeliveryAnswer {
    fn into_response(self) -> Response {
        let Self(DeliveryReceipt { id, is_new }) = self;
        let (status, message) = match is_new {
            true => (StatusCode::ACCEPTED, "received"),
            false => (StatusCode::OK, "already received"),
        };
        (status, Json(json!({ "delivery": id, "message": message }))).into_response()
    }
}

impl DescribedAnswer for DeliveryAnswer {
    fn describe(draft: &mut OperationDraft<'_>) {
        let text = json!({ "type": "string" });
        let schema = json!({
            "type": "object",
            "properties": { "delivery": text, "message": text },
            "required": ["delivery", "message"],
        });
        let content = json!({ "application/json": { "schema": schema } });
        draft.respond(202, "The delivery is stored", &content);
        draft.respond(200, "The delivery was stored before", &content);
    }
}

pub(crate) async fn list(
    Admitted { supervisor, principal }: Admitted,
    Sent(request): Sent<DeliveriesRequest>,
) -> RouteResult<DeliveryList> {
    Ok(Json(dispatch::list(&supervisor, &principal, &request).await?))
}

pub(crate) async fn show(
    Admitted { supervisor, principal }: Admitted,
    Sent(request): Sent<DeliverySelector>,
) -> RouteResult<DeliveryReport> {
    Ok(Json(dispatch::show(&supervisor, &principal, &request.delivery).await?))
}

pub(crate) async fn replay(
    State(app): State<App>,
    Admitted { supervisor, principal }: Admitted,
    request_id: RequestIdHeader,
    Sent(request): Sent<DeliverySelector>,
) -> RouteResult<DeliveryView> {
    let once = request_id.once(&app, &supervisor, &principal, &("delivery replay", &request));
    let replay = async move { dispatch::replay(&supervisor, &principal, &request.delivery).await };
    Ok(Json(once.carry_out(AnswerStorage::AfterWork, replay).await?))
}

pub(crate) async fn test(
    Admitted { supervisor, principal }: Admitted,
    Sent(request): Sent<DispatchTestRequest>,
) -> RouteResult<DispatchTestReport> {
    Ok(Json(dispatch::test(&supervisor, &principal, &request).await?))
}
