//! What an interrupted attempt of a request has left in the store.

use std::collections::BTreeMap;

use crate::api::{AgentOutcome, HandoffReport, SessionRef};
use crate::error::{Error, Result};
use crate::model::{Handoff, RequestKey, RequestStep, Session};
use crate::ports::Ports;

/// A handoff that an earlier attempt of the same request has recorded.
#[derive(Clone, Debug)]
pub struct RecordedHandoff {
    /// The session that continues the conversation.
    pub session: Session,
    step: Handoff,
    /// The address of the session that the conversation comes from. `None` if it was removed.
    from: Option<String>,
    characters: u64,
}

impl RecordedHandoff {
    /// Finds the handoff that this request has recorded. `None` if it has recorded none. Returns an
    /// error if the session was removed since.
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
        let steps = ports.store.handoffs(id).await?;
        let step = steps.into_iter().rfind(|step| step.to == id).ok_or_else(removed)?;
        let from = ports.store.session(step.from).await?.map(|session| session.address());
        Ok(Some(Self { session, step, from, characters }))
    }

    /// Returns the address of the session that the conversation comes from, or `default` if that
    /// session was removed.
    pub fn from_or(&self, default: &str) -> String {
        self.from.clone().unwrap_or_else(|| default.to_owned())
    }

    /// Returns the report of this handoff after its session was started.
    pub fn report(self, from: String, outcome: AgentOutcome) -> HandoffReport {
        let Self { session, step, characters, .. } = self;
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
