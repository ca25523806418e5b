//! The routes of `segue worktree`.

use axum::Json;
use axum::extract::State;
use segue_core::api::{
    WorktreeActionReport, WorktreeActionRequest, WorktreeDiffReport, WorktreeDiffRequest,
    WorktreeGcReport, WorktreeGcRequest, WorktreeList, WorktreesRequest,
};

use super::{Admitted, App, RequestIdHeader, RouteResult, Sent};
use crate::requests::AnswerStorage;
use crate::supervisor;

pub(crate) async fn list(
    Admitted { supervisor, principal }: Admitted,
    Sent(request): Sent<WorktreesRequest>,
) -> RouteResult<WorktreeList> {
    Ok(Json(supervisor::list_worktrees(&supervisor, &principal, &request).await?))
}

pub(crate) async fn diff(
    Admitted { supervisor, principal }: Admitted,
    Sent(request): Sent<WorktreeDiffRequest>,
) -> RouteResult<WorktreeDiffReport> {
    Ok(Json(supervisor::diff_worktree(&supervisor, &principal, &request).await?))
}

pub(crate) async fn salvage(
    State(app): State<App>,
    Admitted { supervisor, principal }: Admitted,
    request_id: RequestIdHeader,
    Sent(request): Sent<WorktreeActionRequest>,
) -> RouteResult<WorktreeActionReport> {
    let once = request_id.once(&app, &supervisor, &principal, &("salvage", &request));
    let salvage =
        async move { supervisor::salvage_worktree(&supervisor, &principal, &request).await };
    Ok(Json(once.carry_out(AnswerStorage::AfterWork, salvage).await?))
}

pub(crate) async fn remove(
    State(app): State<App>,
    Admitted { supervisor, principal }: Admitted,
    request_id: RequestIdHeader,
    Sent(request): Sent<WorktreeActionRequest>,
) -> RouteResult<WorktreeActionReport> {
    let once = request_id.once(&app, &supervisor, &principal, &("worktree rm", &request));
    let remove =
        async move { supervisor::remove_worktree(&supervisor, &principal, &request).await };
    Ok(Json(once.carry_out(AnswerStorage::AfterWork, remove).await?))
}

pub(crate) async fn restore(
    State(app): State<App>,
    Admitted { supervisor, principal }: Admitted,
    request_id: RequestIdHeader,
    Sent(request): Sent<WorktreeActionRequest>,
) -> RouteResult<WorktreeActionReport> {
    let once = request_id.once(&app, &supervisor, &principal, &("worktree restore", &request));
    let restore =
        async move { supervisor::restore_worktree(&supervisor, &principal, &request).await };
    Ok(Json(once.carry_out(AnswerStorage::AfterWork, restore).await?))
}

pub(crate) async fn collect_garbage(
    State(app): State<App>,
    Admitted { supervisor, principal }: Admitted,
    request_id: RequestIdHeader,
    Sent(request): Sent<WorktreeGcRequest>,
) -> RouteResult<WorktreeGcReport> {
    let once = request_id.once(&app, &supervisor, &principal, &("worktree gc", &request));
    let keep = if request.is_dry_run { AnswerStorage::NotStored } else { AnswerStorage::AfterWork };
    let collect =
        async move { supervisor::collect_garbage(&supervisor, &principal, &request).await };
    Ok(Json(once.carry_out(keep, collect).await?))
}
