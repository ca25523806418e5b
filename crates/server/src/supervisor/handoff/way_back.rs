//! A conversation that returns to where it was before: only what was said since is carried.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;
use segue_core::Result;
use segue_core::flows::SessionState;
use segue_core::flows::handoff::{self, Source};
use segue_core::flows::look::{self, Asked};
use segue_core::model::{Session, SessionId, VendorId};
use segue_core::rules::recovery::{self, Decision};

use super::super::Supervisor;
use super::quiet;

/// An earlier session of the same conversation.
#[derive(Clone, Debug)]
pub(super) struct Earlier {
    pub(super) session: Session,
    pub(super) source: Source,
    /// When the last thing was said in it.
    pub(super) newest: Option<Timestamp>,
}

impl Earlier {
    /// Ends what may still run in it: nobody else is to write its transcript.
    pub(super) async fn settle(&mut self, supervisor: &Arc<Supervisor>) -> Result<()> {
        quiet(supervisor, self.session.id, false).await?;
        self.newest = handoff::newest(&supervisor.ports, &self.source)?;
        Ok(())
    }
}

/// Finds the session of this vendor that the conversation was in last, if it can go on.
pub(super) async fn find(
    supervisor: &Arc<Supervisor>,
    from: &Session,
    vendor: VendorId,
) -> Result<Option<Earlier>> {
    for id in story(supervisor, from.id).await? {
        let Some(session) = supervisor.ports.store.session(id).await? else { continue };
        let is_other = session.id != from.id && session.cwd == from.cwd;
        if session.vendor == vendor
            && is_other
            && let Some(earlier) = earlier(supervisor, session).await?
        {
            return Ok(Some(earlier));
        }
    }
    Ok(None)
}

/// Returns the sessions that a conversation went through, the nearest first.
async fn story(supervisor: &Arc<Supervisor>, from: SessionId) -> Result<Vec<SessionId>> {
    let (mut seen, mut order) = (BTreeSet::from([from]), vec![from]);
    let mut next = 0;
    while let Some(id) = order.get(next).copied() {
        next += 1;
        let steps = supervisor.ports.store.handoffs(id).await?;
        let neighbours = steps.iter().rev().flat_map(|step| [step.from, step.to]);
        order.extend(neighbours.filter(|id| seen.insert(*id)));
    }
    Ok(order)
}

async fn earlier(supervisor: &Arc<Supervisor>, session: Session) -> Result<Option<Earlier>> {
    let ports = &supervisor.ports;
    let state = SessionState::load(ports, session.id).await?;
    let sight = look::look(ports, &state, Asked::ByName).await?;
    let can_go_on = matches!(
        recovery::decide(&sight.seen),
        Decision::Attach | Decision::Rest { .. } | Decision::Resume { .. }
    );
    let Some(conversation) = sight.conversation.filter(|_| can_go_on) else { return Ok(None) };
    let source = Source {
        vendor: ports.vendors.of(&session)?,
        place: state.place(),
        id: conversation.id,
        transcript: conversation.transcript,
    };
    let newest = handoff::newest(ports, &source)?;
    Ok(Some(Earlier { session, source, newest }))
}
