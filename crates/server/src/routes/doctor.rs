//! What disagrees, and the cure.

use axum::Json;
use axum::extract::State;
use segue_core::Result;
use segue_core::api::{DoctorReport, Severity};
use segue_core::rules::scope::Deed;
use serde::{Deserialize, Serialize};

use super::{Answer, App, Asked, Caller};
use crate::requests::Keep;

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct DoctorRequest {
    pub(crate) fix: bool,
}

pub(crate) async fn doctor(
    State(app): State<App>,
    caller: Caller,
    asked: Asked,
    Json(request): Json<DoctorRequest>,
) -> Answer<DoctorReport> {
    if !request.fix {
        return Ok(Json(examine(&app, caller).await?));
    }
    caller.allow(&app, Deed::Repair).await?;
    let once = asked.once_without_store(&app, &("doctor", request));
    // A repair goes on when its client goes away: half a store would be worse than none.
    Ok(Json(once.carry_out(Keep::Nothing, async move { app.examine(true).await }).await?))
}

/// Reports what disagrees. Findings name sessions and processes that are none of an agent's
/// business, so that an agent gets the notes about the machine alone.
async fn examine(app: &App, caller: Caller) -> Result<DoctorReport> {
    let is_person = caller.is_person(app).await?;
    let mut report = app.examine(false).await?;
    report.findings.retain(|finding| is_person || finding.severity == Severity::Note);
    Ok(report)
}
