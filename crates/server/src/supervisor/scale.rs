//! Starts or stops agents of one kind.

use std::sync::Arc;

use segue_core::Result;
use segue_core::api::{RestoreReport, ScaleReport, ScaleRequest, StopOutcome};
use segue_core::flows::scale::{self, ScalePlan};
use segue_core::model::Principal;

use super::Supervisor;
use super::agent_start::bring_up;
use super::concurrent::all;
use super::stop::end;

/// Starts or stops agents of one kind so that the requested number of them runs, and stores that
/// number.
pub(crate) async fn scale(
    supervisor: &Arc<Supervisor>,
    principal: &Principal,
    request: ScaleRequest,
) -> Result<ScaleReport> {
    let ScalePlan { fleet, agents, to_stop } =
        scale::plan(&supervisor.ports, principal, &request).await?;
    let mut stopped = all(to_stop.into_iter().map(|session| end(supervisor, session))).await?;
    stopped.retain(|it| it.outcome == StopOutcome::Stopped);
    let report = bring_up(supervisor, agents, None).await?;
    let RestoreReport { agents, left_alone, complete, .. } = report;
    supervisor.fleet_files.write(&fleet).await?;
    Ok(ScaleReport { agents, stopped, left_alone, complete })
}
