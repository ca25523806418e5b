//! The session in which the target's vendor had the conversation before. Only the turns since then
//! are handed over.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::SourceConversation;
use crate::error::Result;
use crate::flows::SessionState;
use crate::flows::look::{self, SelectionMode};
use crate::model::{Session, SessionId, VendorId};
use crate::ports::Ports;
use crate::rules::handoff::{can_continue, last_handoff_between, shared_until};
use crate::rules::recovery;

/// An earlier session of the same conversation.
#[derive(Clone, Debug)]
pub struct EarlierSession {
    pub session: Session,
    pub(super) conversation: SourceConversation,
    /// The timestamp up to which both sessions have the same turns.
    pub(super) shared_until: Option<Timestamp>,
    /// When the conversation last moved between the two sessions.
    last_handoff: Option<Timestamp>,
}

impl EarlierSession {
    /// Finds the session of this vendor that had the conversation last, if it can be resumed.
    pub(super) async fn find(
        ports: &Ports,
        from: &Session,
        vendor: &VendorId,
    ) -> Result<Option<Self>> {
        for id in connected_sessions(ports, from.id).await? {
            let Some(session) = ports.store.session(id).await? else { continue };
            let is_other = session.id != from.id && session.cwd == from.cwd;
            if session.vendor == *vendor
                && is_other
                && let Some(earlier) = Self::of(ports, session, from.id).await?
            {
                return Ok(Some(earlier));
            }
        }
        Ok(None)
    }

    async fn of(ports: &Ports, session: Session, from: SessionId) -> Result<Option<Self>> {
        let state = SessionState::load(ports, session.id).await?;
        let observed = look::look(ports, &state, SelectionMode::ByName).await?;
        let can_continue = can_continue(&recovery::decide(&observed.facts));
        let Some(known) = observed.conversation.filter(|_| can_continue) else { return Ok(None) };
        let conversation = SourceConversation {
            vendor: ports.vendors.of(&session)?,
            place: state.place(),
            id: known.id,
            transcript: known.transcript,
        };
        let steps = ports.store.handoffs(session.id).await?;
        let last_handoff = last_handoff_between(&steps, from);
        let shared_until = shared_until(conversation.newest_timestamp(ports)?, last_handoff);
        Ok(Some(Self { session, conversation, shared_until, last_handoff }))
    }

    /// Reads the newest turn again, after the session's process has ended.
    pub fn read_again(&mut self, ports: &Ports) -> Result<()> {
        let newest = self.conversation.newest_timestamp(ports)?;
        self.shared_until = shared_until(newest, self.last_handoff);
        Ok(())
    }
}

/// Returns the sessions that a conversation went through. The sessions with the fewest handoffs in
/// between come first.
async fn connected_sessions(ports: &Ports, from: SessionId) -> Result<Vec<SessionId>> {
    let (mut seen, mut order) = (BTreeSet::from([from]), vec![from]);
    let mut next = 0;
    while let Some(id) = order.get(next).copied() {
        next += 1;
        let steps = ports.store.handoffs(id).await?;
        let neighbours = steps.iter().rev().flat_map(|step| [step.from, step.to]);
        order.extend(neighbours.filter(|id| seen.insert(*id)));
    }
    Ok(order)
}
