//! Finishes a handoff whose first attempt was interrupted because the daemon died.

use std::sync::Arc;

use segue_core::Result;
use segue_core::api::{HandoffReport, HandoffRequest, Outcome};
use segue_core::flows::handoff::RecordedHandoff;
use segue_core::flows::look::SelectionMode;
use segue_core::model::RequestKey;
use segue_core::rules::accounts::StartRequester;

use super::super::resume::bring_back;
use super::super::{StartTrigger, Supervisor};
use super::start_target::did_not_start;

/// Returns the result of an earlier attempt of the same request. `None` if no attempt recorded a
/// session. Brings the recorded session back, because the daemon may have died before it ran.
pub(super) async fn finish_earlier_attempt(
    supervisor: &Arc<Supervisor>,
    key: Option<RequestKey>,
    request: &HandoffRequest,
) -> Result<Option<HandoffReport>> {
    let Some(recorded) = RecordedHandoff::find(&supervisor.ports, key).await? else {
        return Ok(None);
    };
    let (id, to) = (recorded.session.id, recorded.session.address());
    let how = (SelectionMode::ByName, StartTrigger::now(StartRequester::One));
    let environment = request.caller.environment.clone();
    let outcome = bring_back(supervisor, id, how, (environment, None)).await?;
    if outcome.outcome == Outcome::Refused {
        return Err(did_not_start(&to, &recorded.from, outcome.note.text));
    }
    Ok(Some(recorded.report(outcome)))
}
