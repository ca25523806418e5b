//! Repeats a handoff request whose first attempt was interrupted because the daemon died.

use std::collections::BTreeMap;
use std::sync::Arc;

use segue_core::api::{HandoffReport, HandoffRequest, Outcome, SessionRef};
use segue_core::flows::look::Asked;
use segue_core::model::{RequestKey, RequestStep, SessionId};
use segue_core::rules::accounts::Wanted;
use segue_core::{Error, Result};

use super::super::resume::bring_back;
use super::super::{Supervisor, Wish};

/// Returns the result of an earlier attempt of the same request. `None` if no attempt recorded a
/// session. Brings the recorded session back, because the daemon may have died before it ran.
pub(super) async fn carried_before(
    supervisor: &Arc<Supervisor>,
    key: Option<RequestKey>,
    request: &HandoffRequest,
) -> Result<Option<HandoffReport>> {
    let Some(key) = key else { return Ok(None) };
    let steps = supervisor.ports.store.request(key).await?;
    let carried = steps.into_iter().find_map(|step| match step {
        RequestStep::Carried { session, characters } => Some((session, characters)),
        _ => None,
    });
    let Some((session, characters)) = carried else { return Ok(None) };
    go_on(supervisor, session, characters, request).await.map(Some)
}

async fn go_on(
    supervisor: &Arc<Supervisor>,
    id: SessionId,
    characters: u64,
    request: &HandoffRequest,
) -> Result<HandoffReport> {
    let store = &supervisor.ports.store;
    let gone = || Error::not_found(format!("session `{id}` was created, and is removed since"));
    let session = store.session(id).await?.ok_or_else(gone)?;
    let steps = store.handoffs(id).await?;
    let step = steps.into_iter().rfind(|step| step.to == id).ok_or_else(gone)?;
    let from = store.session(step.from).await?.map_or(request.from.clone(), |it| it.address());
    let to = session.address();
    let wish = Wish::now(Wanted::One);
    let environment = request.caller.environment.clone();
    let outcome = bring_back(supervisor, id, (Asked::ByName, wish), (environment, None)).await?;
    if outcome.outcome == Outcome::Refused {
        return Err(Error::vendor(format!("`{to}` did not start"))
            .caused_by(outcome.note.unwrap_or_default())
            .hint(format!("run `segue log {to}` to see why"))
            .hint(format!("run `segue resume {from} --stopped` to go on as before")));
    }
    Ok(HandoffReport {
        from,
        to,
        of: SessionRef::of(&session),
        vendor: session.vendor,
        headless: session.headless,
        mode: step.form.into(),
        turns_carried: step.turns_carried,
        turns_left_out: step.turns_left_out,
        chars: characters,
        note: outcome.note,
        dialog: outcome.dialog,
        // The recorded handoff does not contain these numbers.
        redacted: BTreeMap::new(),
        turns: Vec::new(),
        content: None,
    })
}
