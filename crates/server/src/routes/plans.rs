//! The routes for plans: apply, list, show, pause, resume, cancel, retry, approve.

use axum::Json;
use axum::extract::State;
use segue_core::api::{
    PlanApplyReport, PlanApplyRequest, PlanList, PlanListRequest, PlanSelector, PlanTaskSelector,
    PlanView,
};
use segue_core::model::PlanControl;

use super::{Admitted, App, RequestIdHeader, RouteResult, Sent};
use crate::requests::AnswerStorage;
use crate::supervisor::tasks::plans;

pub(crate) async fn apply(
    State(app): State<App>,
    Admitted { supervisor, principal }: Admitted,
    request_id: RequestIdHeader,
    Sent(request): Sent<PlanApplyRequest>,
) -> RouteResult<PlanApplyReport> {
    let once = request_id.once(&app, &supervisor, &principal, &("plan apply", &request));
    let key = once.key();
    let apply = async move { plans::apply(&supervisor, &principal, key, request).await };
    Ok(Json(once.carry_out(AnswerStorage::WithChanges, apply).await?))
}

pub(crate) async fn list(
    Admitted { supervisor, principal }: Admitted,
    Sent(request): Sent<PlanListRequest>,
) -> RouteResult<PlanList> {
    Ok(Json(plans::list(&supervisor, &principal, &request).await?))
}

pub(crate) async fn show(
    Admitted { supervisor, principal }: Admitted,
    Sent(request): Sent<PlanSelector>,
) -> RouteResult<PlanView> {
    Ok(Json(plans::show(&supervisor, &principal, &request).await?))
}

pub(crate) async fn pause(
    state: State<App>,
    admitted: Admitted,
    request_id: RequestIdHeader,
    Sent(request): Sent<PlanSelector>,
) -> RouteResult<PlanView> {
    set_control((state, admitted, request_id), request, PlanControl::Paused).await
}

pub(crate) async fn resume(
    state: State<App>,
    admitted: Admitted,
    request_id: RequestIdHeader,
    Sent(request): Sent<PlanSelector>,
) -> RouteResult<PlanView> {
    set_control((state, admitted, request_id), request, PlanControl::Active).await
}

pub(crate) async fn cancel(
    state: State<App>,
    admitted: Admitted,
    request_id: RequestIdHeader,
    Sent(request): Sent<PlanSelector>,
) -> RouteResult<PlanView> {
    set_control((state, admitted, request_id), request, PlanControl::Cancelled).await
}

async fn set_control(
    (State(app), Admitted { supervisor, principal }, request_id): (
        State<App>,
        Admitted,
        RequestIdHeader,
    ),
    request: PlanSelector,
    control: PlanControl,
) -> RouteResult<PlanView> {
    let content = ("plan control", control.word(), &request);
    let once = request_id.once(&app, &supervisor, &principal, &content);
    let work = async move { plans::set_control(&supervisor, &principal, &request, control).await };
    // Repeating the request changes nothing, so the answer need not be stored.
    Ok(Json(once.carry_out(AnswerStorage::NotStored, work).await?))
}

pub(crate) async fn retry(
    State(app): State<App>,
    Admitted { supervisor, principal }: Admitted,
    request_id: RequestIdHeader,
    Sent(request): Sent<PlanTaskSelector>,
) -> RouteResult<PlanView> {
    let once = request_id.once(&app, &supervisor, &principal, &("plan retry", &request));
    let key = once.key();
    let retry = async move { plans::retry(&supervisor, &principal, key, &request).await };
    // The step of the request is recorded together with the change.
    Ok(Json(once.carry_out(AnswerStorage::NotStored, retry).await?))
}

pub(crate) async fn approve(
    State(app): State<App>,
    Admitted { supervisor, principal }: Admitted,
    request_id: RequestIdHeader,
    Sent(request): Sent<PlanTaskSelector>,
) -> RouteResult<PlanView> {
    let once = request_id.once(&app, &supervisor, &principal, &("plan approve", &request));
    let approve = async move { plans::approve(&supervisor, &principal, &request).await };
    Ok(Json(once.carry_out(AnswerStorage::NotStored, approve).await?))
}
