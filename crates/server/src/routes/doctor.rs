//! What disagrees, and the cure.

use axum::Json;
use axum::extract::State;
use segue_core::api::DoctorReport;
use segue_core::rules::scope::Deed;
use serde::{Deserialize, Serialize};

use super::{Answer, App, Caller};

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct DoctorRequest {
    pub(crate) fix: bool,
}

pub(crate) async fn doctor(
    State(app): State<App>,
    caller: Caller,
    Json(request): Json<DoctorRequest>,
) -> Answer<DoctorReport> {
    if request.fix {
        caller.allow(&app, Deed::Repair).await?;
    }
    Ok(Json(app.examine(request.fix).await?))
}
