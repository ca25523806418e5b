//! The routes of `segue du`, `segue sweep` and `segue reset`.

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use segue_core::Error;
use segue_core::api::{
    DiskReport, DiskRequest, ResetReport, ResetRequest, SweepReport, SweepRequest,
};
use segue_core::model::TokenScope::{Admin, Read, Work};

use super::table::RouteTable;
use super::{Admitted, App, RequestIdHeader, RouteResult, Sent};
use crate::requests::AnswerStorage;
use crate::supervisor;

/// Adds the routes.
pub(super) fn add(table: RouteTable) -> RouteTable {
    table.get("/v1/disk", Read, disk).post("/v1/sweep", Admin, sweep).post("/v1/reset", Work, reset)
}

async fn disk(
    Admitted { supervisor, principal }: Admitted,
    query: Result<Query<DiskRequest>, QueryRejection>,
) -> RouteResult<DiskReport> {
    let Query(request) = query.map_err(|rejection| {
        Error::usage("the query of the request is not what this route expects")
            .caused_by(rejection.body_text())
    })?;
    Ok(Json(supervisor::disk(&supervisor, &principal, request).await?))
}

async fn sweep(
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

async fn reset(
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
