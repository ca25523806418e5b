//! What an interrupted attempt of a request has left in the store.

use std::collections::BTreeMap;

use crate::api::{AgentOutcome, HandoffReport, SessionRef};
use crate::error::{Error, Result};
use crate::model::{Handoff, RequestKey, RequestStep, Session, SessionId};
use crate::ports::Ports;

/// A handoff that an earlier attempt of the same request has recorded.
#[derive(Clone, Debug)]
pub struct RecordedHandoff {
    /// The session that continues the conversation.
    pub session: Session,
    /// The address of the session that the conversation comes from.
    pub from: String,
    step: Handoff,
    characters: u64,
}

impl RecordedHandoff {
    /// Finds the handoff that this request has recorded. `None` if it has recorded none. Returns an
    /// error if one of its sessions was removed since.
    pub async fn find(ports: &Ports, key: Option<RequestKey>) -> Result<Option<Self>> {
        let Some(key) = key else { return Ok(None) };
        let steps = ports.store.request(key).await?;
        let recorded = steps.into_iter().find_map(|step| match step {
            RequestStep::Carried { session, characters } => Some((session, characters)),
            _ => None,
        });
        let Some((id, characters)) = recorded else { return Ok(None) };
        let removed =
            || Error::not_found(format!("session `{id}` was created, and has been removed since"));
        let session = ports.store.session(id).await?.ok_or_else(removed)?;
        let Some((step, from)) = origin(ports, id).await? else {
            return Err(origin_removed(&session));
        };
        Ok(Some(Self { session, from: from.address(), step, characters }))
    }

    /// Returns the report of this handoff after its session was started.
    pub fn report(self, outcome: AgentOutcome) -> HandoffReport {
        let Self { session, from, step, characters } = self;
        HandoffReport {
            from,
            to: session.address(),
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
        }
    }
}

/// Returns the newest handoff to a session, and the session that it comes from. `None` if that
/// session was removed, because its handoffs are removed with it.
async fn origin(ports: &Ports, to: SessionId) -> Result<Option<(Handoff, Session)>> {
    let steps = ports.store.handoffs(to).await?;
    let Some(step) = steps.into_iter().rfind(|step| step.to == to) else { return Ok(None) };
    let from = ports.store.session(step.from).await?;
    Ok(from.map(|from| (step, from)))
}

fn origin_removed(session: &Session) -> Error {
    let to = session.address();
    let error = format!("the conversation went on as `{to}`, and its earlier session was removed");
    Error::not_found(error).hint(format!("run `segue resume {to}` to go on with it"))
}
