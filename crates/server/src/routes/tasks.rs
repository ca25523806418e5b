//! The routes for tasks: add, list, show, wait, cancel, retry.

use axum::Json;
use axum::extract::State;
use segue_core::api::{
    AgentReportAnswer, AgentReportRequest, TaskAddRequest, TaskList, TaskListRequest, TaskReport,
    TaskRetryRequest, TaskSelector, TaskSummaryList, TaskWaitRequest,
};

use super::{Admitted, App, RequestIdHeader, RouteResult, Sent};
use crate::requests::AnswerStorage;
use crate::supervisor::tasks;

pub(crate) async fn add(
    State(app): State<App>,
    Admitted { supervisor, principal }: Admitted,
    request_id: RequestIdHeader,
    Sent(request): Sent<TaskAddRequest>,
) -> RouteResult<TaskReport> {
    let once = request_id.once(&app, &supervisor, &principal, &("task add", &request));
    let key = once.key();
    let add = async move { tasks::add(&supervisor, &principal, key, request).await };
    Ok(Json(once.carry_out(AnswerStorage::WithChanges, add).await?))
}

pub(crate) async fn list(
    Admitted { supervisor, principal }: Admitted,
    Sent(request): Sent<TaskListRequest>,
) -> RouteResult<TaskList> {
    Ok(Json(tasks::list(&supervisor, &principal, &request).await?))
}

pub(crate) async fn summaries(
    Admitted { supervisor, principal }: Admitted,
    Sent(request): Sent<TaskListRequest>,
) -> RouteResult<TaskSummaryList> {
    Ok(Json(tasks::summaries(&supervisor, &principal, &request).await?))
}

pub(crate) async fn show(
    Admitted { supervisor, principal }: Admitted,
    Sent(request): Sent<TaskSelector>,
) -> RouteResult<TaskReport> {
    Ok(Json(tasks::show(&supervisor, &principal, &request.task).await?))
}

pub(crate) async fn wait(
    Admitted { supervisor, principal }: Admitted,
    Sent(request): Sent<TaskWaitRequest>,
) -> RouteResult<TaskReport> {
    Ok(Json(tasks::wait(&supervisor, &principal, request).await?))
}

pub(crate) async fn report(
    State(app): State<App>,
    Admitted { supervisor, principal }: Admitted,
    request_id: RequestIdHeader,
    Sent(request): Sent<AgentReportRequest>,
) -> RouteResult<AgentReportAnswer> {
    let once = request_id.once(&app, &supervisor, &principal, &("task report", &request));
    let key = once.key();
    let report = async move { tasks::report_work(&supervisor, &principal, key, &request).await };
    Ok(Json(once.carry_out(AnswerStorage::WithChanges, report).await?))
}

pub(crate) async fn cancel(
    State(app): State<App>,
    Admitted { supervisor, principal }: Admitted,
    request_id: RequestIdHeader,
    Sent(request): Sent<TaskSelector>,
) -> RouteResult<TaskReport> {
    let once = request_id.once(&app, &supervisor, &principal, &("task cancel", &request));
    let cancel = async move { tasks::cancel(&supervisor, &principal, &request.task).await };
    Ok(Json(once.carry_out(AnswerStorage::AfterWork, cancel).await?))
}

pub(crate) async fn retry(
    State(app): State<App>,
    Admitted { supervisor, principal }: Admitted,
    request_id: RequestIdHeader,
    Sent(request): Sent<TaskRetryRequest>,
) -> RouteResult<TaskReport> {
    let once = request_id.once(&app, &supervisor, &principal, &("task retry", &request));
    let retry = async move { tasks::retry(&supervisor, &principal, &request).await };
    Ok(Json(once.carry_out(AnswerStorage::AfterWork, retry).await?))
}
