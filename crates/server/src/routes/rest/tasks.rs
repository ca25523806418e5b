//! Tasks by their ids.

use axum::Json;
use axum::extract::State;
use axum::http::Uri;
use segue_core::api::{
    TaskList, TaskListQuery, TaskPriorityBody, TaskReport, TaskRetryBody, TaskRetryRequest,
    TaskSelector,
};
use segue_core::model::TaskId;

use super::super::inputs::{PathValue, QueryValues};
use super::super::{Admitted, App, ErrorResponse, RequestIdHeader, RouteResult, Sent, tasks};
use super::paged::PageAnswer;
use crate::supervisor;

pub(crate) async fn list_tasks(
    Admitted { supervisor, principal }: Admitted,
    QueryValues(query): QueryValues<TaskListQuery>,
    uri: Uri,
) -> Result<PageAnswer<TaskList>, ErrorResponse> {
    let page = supervisor::tasks::page(&supervisor, &principal, &query).await?;
    let next = page.next.clone();
    Ok(PageAnswer::new(page, &uri, "cursor", next.as_deref()))
}

pub(crate) async fn show_task(
    admitted: Admitted,
    PathValue(id): PathValue<TaskId>,
) -> RouteResult<TaskReport> {
    tasks::show(admitted, Sent(TaskSelector { task: id.to_string() })).await
}

pub(crate) async fn cancel_task(
    state: State<App>,
    admitted: Admitted,
    request_id: RequestIdHeader,
    PathValue(id): PathValue<TaskId>,
) -> RouteResult<TaskReport> {
    let selector = TaskSelector { task: id.to_string() };
    tasks::cancel(state, admitted, request_id, Sent(selector)).await
}

/// Changes the priority of a queued task. The same request twice is the same as once.
pub(crate) async fn set_priority(
    Admitted { supervisor, principal }: Admitted,
    PathValue(id): PathValue<TaskId>,
    Sent(TaskPriorityBody { priority }): Sent<TaskPriorityBody>,
) -> RouteResult<TaskReport> {
    let report = supervisor::tasks::set_priority(&supervisor, &principal, id, priority).await?;
    Ok(Json(report))
}

pub(crate) async fn retry_task(
    state: State<App>,
    admitted: Admitted,
    request_id: RequestIdHeader,
    PathValue(id): PathValue<TaskId>,
    Sent(body): Sent<TaskRetryBody>,
) -> RouteResult<TaskReport> {
    let TaskRetryBody { caller, agent, fresh } = body;
    let request = TaskRetryRequest { caller, task: id.to_string(), agent, fresh };
    tasks::retry(state, admitted, request_id, Sent(request)).await
}
