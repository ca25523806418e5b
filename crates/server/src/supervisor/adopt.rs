//! Adopts conversations that were started without Segue.

use std::sync::Arc;

use segue_core::Result;
use segue_core::api::{
    AdoptCandidate, AdoptReport, AdoptRequest, SessionView, SkippedConversation,
};
use segue_core::flows::adopt::{self, AdoptPlan};
use segue_core::flows::view;
use segue_core::model::RequestKey;

use super::Supervisor;

/// Lists the conversations that can be adopted, or adopts them.
pub(crate) async fn adopt(
    supervisor: &Arc<Supervisor>,
    key: Option<RequestKey>,
    request: AdoptRequest,
) -> Result<AdoptReport> {
    let (candidates, mut report) = match adopt::plan(&supervisor.ports, key, &request).await? {
        AdoptPlan::Listed(report) => return Ok(report),
        AdoptPlan::Adopt(candidates, report) => (candidates, report),
    };
    for candidate in candidates {
        match adopt_one(supervisor, &candidate, (request.name.as_deref(), key)).await {
            Ok(session) => report.adopted.push(session),
            Err(error) if request.id.is_some() => return Err(error),
            Err(error) => report.skipped.push(SkippedConversation {
                vendor: candidate.vendor,
                vendor_session_id: candidate.vendor_session_id,
                why: error.to_string(),
            }),
        }
    }
    Ok(report)
}

async fn adopt_one(
    supervisor: &Arc<Supervisor>,
    candidate: &AdoptCandidate,
    how: (Option<&str>, Option<RequestKey>),
) -> Result<SessionView> {
    let state = adopt::adopt(&supervisor.ports, candidate, how).await?;
    supervisor.fleet_files.write(&state.session.fleet).await?;
    Ok(view::session(&view::summary(&state)))
}
