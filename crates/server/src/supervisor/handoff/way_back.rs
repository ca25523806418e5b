//! Returns a conversation to a session that had it before. Only the turns since then are carried.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;
use segue_core::Result;
use segue_core::flows::SessionState;
use segue_core::flows::handoff::{self, SourceConversation};
use segue_core::flows::look::{self, Asked};
use segue_core::model::{Session, SessionId, VendorId};
use segue_core::rules::recovery::{self, Decision};

use super::super::Supervisor;
use super::quiet;

/// An earlier session of the same conversation.
#[derive(Clone, Debug)]
pub(super) struct Earlier {
    pub(super) session: Session,
    pub(super) source: SourceConversation,
    /// The timestamp of the newest turn that both sessions have.
    pub(super) newest: Option<Timestamp>,
    /// When the conversation last moved between the two sessions.
    parted: Option<Timestamp>,
}

impl Earlier {
    /// Stops a process that still runs in this session, so that it does not write to the transcript
    /// meanwhile.
    pub(super) async fn settle(&mut self, supervisor: &Arc<Supervisor>) -> Result<()> {
        quiet(supervisor, self.session.id, false).await?;
        self.newest = handoff::newest(&supervisor.ports, &self.source)?;
        self.newest = shared(self.newest, self.parted);
        Ok(())
    }
}

/// Finds the session of this vendor that had the conversation last, if it can be resumed.
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
            && let Some(earlier) = earlier(supervisor, session, from.id).await?
        {
            return Ok(Some(earlier));
        }
    }
    Ok(None)
}

/// Returns the sessions that a conversation went through. The sessions with the fewest handoffs in
/// between come first.
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

/// Returns the time of the last handoff between two sessions. If there is none, returns the time of
/// the last handoff that the first session took part in.
async fn parted(
    supervisor: &Arc<Supervisor>,
    id: SessionId,
    other: SessionId,
) -> Result<Option<Timestamp>> {
    let steps = supervisor.ports.store.handoffs(id).await?;
    let common = steps.iter().filter(|step| step.from == other || step.to == other);
    let newest = common.map(|step| step.at).max();
    Ok(newest.or_else(|| steps.iter().map(|step| step.at).max()))
}

/// Returns the timestamp up to which two sessions have the same turns. Turns that were added to the
/// earlier session after the conversation left it do not count: they do not show which turns of the
/// other session it has.
fn shared(newest: Option<Timestamp>, parted: Option<Timestamp>) -> Option<Timestamp> {
    newest.map(|newest| parted.map_or(newest, |parted| newest.min(parted)))
}

async fn earlier(
    supervisor: &Arc<Supervisor>,
    session: Session,
    from: SessionId,
) -> Result<Option<Earlier>> {
    let ports = &supervisor.ports;
    let state = SessionState::load(ports, session.id).await?;
    let sight = look::look(ports, &state, Asked::ByName).await?;
    let can_go_on = matches!(
        recovery::decide(&sight.seen),
        Decision::Attach | Decision::Rest { .. } | Decision::Resume { .. }
    );
    let Some(conversation) = sight.conversation.filter(|_| can_go_on) else { return Ok(None) };
    let source = SourceConversation {
        vendor: ports.vendors.of(&session)?,
        place: state.place(),
        id: conversation.id,
        transcript: conversation.transcript,
    };
    let parted = parted(supervisor, session.id, from).await?;
    let newest = shared(handoff::newest(ports, &source)?, parted);
    Ok(Some(Earlier { session, source, newest, parted }))
}
