//! The routes of `segue du`, `segue sweep` and `segue reset`.

use axum::Json;
use axum::extract::State;
use segue_core::api::{
    DiskReport, DiskRequest, ResetReport, ResetRequest, SweepReport, SweepRequest,
};

use super::inputs::QueryValues;
use super::{Admitted, App, RequestIdHeader, RouteResult, Sent};
use crate::requests::AnswerStorage;
use crate::supervisor;

pub(super) async fn disk(
    Admitted { supervisor, principal }: Admitted,
    QueryValues(request): QueryValues<DiskRequest>,
) -> RouteResult<DiskReport> {
    Ok(Json(supervisor::disk(&supervisor, &principal, request).await?))
}

pub(super) async fn sweep(
    State(app): State<App>,
    Admitted { supervisor, principal }: Admitted,
    request_id: RequestIdHeader,
    Sent(request): Sent<SweepRequest>,
) -> RouteResult<SweepReport> {
    let once = request_id.once(&app, &supervisor, &principal, &("sweep", &request));
    let keep = if request.dry_run { AnswerStorage::NotStored } else { AnswerStorage::AfterWork };
    let sweep = async move { supervisor::sweep(&supervisor, &principal, request).await };
    Ok(Json(once.carry_out(keep, sweep).await?))
}

pub(super) async fn reset(
    State(app): State<App>,
    Admitted { supervisor, principal }: Admitted,
    request_id: RequestIdHeader,
    Sent(request): Sent<ResetRequest>,
) -> RouteResult<ResetReport> {
    let once = request_id.once(&app, &supervisor, &principal, &("reset", &request));
    let key = once.key();
    let reset = async move { supervisor::reset(&supervisor, &principal, key, &request).await };
    Ok(Json(once.carry_out(AnswerStorage::WithChanges, reset).await?))
}
