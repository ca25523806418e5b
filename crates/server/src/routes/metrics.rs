//! The route for Prometheus.

use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use segue_core::rules::scope::RestrictedAction;
use serde_json::json;

use super::description::{DescribedAnswer, OperationDraft};
use super::{Admitted, App, ErrorResponse};

/// The media type of the text format of Prometheus.
const TEXT_FORMAT: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Metrics in the text format of Prometheus.
#[derive(Debug)]
pub(crate) struct MetricsAnswer(String);

pub(crate) async fn metrics(
    State(app): State<App>,
    Admitted { supervisor, principal }: Admitted,
) -> Result<MetricsAnswer, ErrorResponse> {
    principal.allow(RestrictedAction::ReadAll)?;
    Ok(MetricsAnswer(app.metrics.text(&supervisor.ports).await?))
}

impl IntoResponse for MetricsAnswer {
    fn into_response(self) -> Response {
        ([(CONTENT_TYPE, TEXT_FORMAT)], self.0).into_response()
    }
}

impl DescribedAnswer for MetricsAnswer {
    fn describe(draft: &mut OperationDraft<'_>) {
        let content = json!({ "text/plain": { "schema": { "type": "string" } } });
        draft.respond(200, "the text format of Prometheus", &content);
    }
}
