//! Deliveries by their ids.

use axum::http::Uri;
use segue_core::api::{DeliveryListQuery, DeliveryPage, DeliveryReport, DeliverySelector};
use segue_core::model::DeliveryId;

use super::super::inputs::{PathValue, QueryValues};
use super::super::{Admitted, ErrorResponse, RouteResult, Sent, deliveries};
use super::paged::PageAnswer;
use crate::supervisor::dispatch;

pub(crate) async fn list_deliveries(
    Admitted { supervisor, principal }: Admitted,
    QueryValues(query): QueryValues<DeliveryListQuery>,
    uri: Uri,
) -> Result<PageAnswer<DeliveryPage>, ErrorResponse> {
    let page = dispatch::page(&supervisor, &principal, &query).await?;
    let next = page.next.clone();
    Ok(PageAnswer::new(page, &uri, "cursor", next.as_deref()))
}

pub(crate) async fn show_delivery(
    admitted: Admitted,
    PathValue(id): PathValue<DeliveryId>,
) -> RouteResult<DeliveryReport> {
    deliveries::show(admitted, Sent(DeliverySelector { delivery: id.to_string() })).await
}
