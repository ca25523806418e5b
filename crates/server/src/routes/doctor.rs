//! The route of `segue doctor`.

use axum::Json;
use axum::extract::State;
use segue_core::Result;
use segue_core::api::{DoctorReport, DoctorRequest, Severity};
use segue_core::rules::scope::RestrictedAction;

use super::{App, RequestIdHeader, RequestingProcess, RouteResult, Sent};
use crate::requests::AnswerStorage;

pub(crate) async fn doctor(
    State(app): State<App>,
    caller: RequestingProcess,
    request_id: RequestIdHeader,
    Sent(request): Sent<DoctorRequest>,
) -> RouteResult<DoctorReport> {
    if !request.fix {
        return Ok(Json(examine(&app, caller).await?));
    }
    caller.allow(&app, RestrictedAction::Repair).await?;
    let once = request_id.once_without_store(&app, &("doctor", request));
    // A repair continues if its client disconnects: a half-repaired store would be worse than none.
    Ok(Json(
        once.carry_out(AnswerStorage::NotStored, async move { app.examine(true).await }).await?,
    ))
}

/// Reports problems. Findings can name sessions and processes that an agent must not know, so an
/// agent gets only the notes about the machine.
async fn examine(app: &App, caller: RequestingProcess) -> Result<DoctorReport> {
    let is_person = caller.is_person(app).await?;
    let mut report = app.examine(false).await?;
    report.findings.retain(|finding| is_person || finding.severity == Severity::Note);
    Ok(report)
}
