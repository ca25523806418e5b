//! Brings up the agents of a project.

use std::sync::Arc;

use segue_core::Result;
use segue_core::api::{RestoreReport, UpRequest};
use segue_core::flows::up;
use segue_core::model::{Principal, RequestKey};

use super::Supervisor;
use super::agent_start::bring_up;

/// Resumes or starts the agents of the project.
pub(crate) async fn up(
    supervisor: &Arc<Supervisor>,
    principal: &Principal,
    key: Option<RequestKey>,
    request: UpRequest,
) -> Result<RestoreReport> {
    let mut plan = up::plan(&supervisor.ports, principal, &request).await?;
    let report = bring_up(supervisor, std::mem::take(&mut plan.agents), key).await?;
    Ok(RestoreReport { surplus: plan.surplus(&supervisor.ports).await?, ..report })
}
