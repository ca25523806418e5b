//! The commits that record what became of a delivery, and that an issue was closed or reopened.

use crate::model::{
    DeliveryAction, DeliverySummary, EventPayload, NewEvent, StoredDeliveryState, TrackedIssue,
};
use crate::ports::{Change, Commit, Ports};

/// Returns the commit for a delivery whose events were compared with the rules.
pub fn processed(
    ports: &Ports,
    delivery: &DeliverySummary,
    actions: Vec<DeliveryAction>,
) -> Commit {
    let texts: Vec<String> = actions.iter().map(ToString::to_string).collect();
    let what = if texts.is_empty() { "nothing to do".to_owned() } else { texts.join("; ") };
    commit(ports, delivery, StoredDeliveryState::Processed { actions }, what)
}

/// Returns the commit for a delivery that no rule can be about.
pub fn ignored(ports: &Ports, delivery: &DeliverySummary, reason: String) -> Commit {
    let what = format!("ignored: {reason}");
    commit(ports, delivery, StoredDeliveryState::Ignored { reason }, what)
}

/// Returns the commit for a delivery that cannot be processed.
pub fn failed(ports: &Ports, delivery: &DeliverySummary, reason: String) -> Commit {
    let what = format!("failed: {reason}");
    commit(ports, delivery, StoredDeliveryState::Failed { reason }, what)
}

fn commit(
    ports: &Ports,
    delivery: &DeliverySummary,
    state: StoredDeliveryState,
    what: String,
) -> Commit {
    let (id, source) = (delivery.id, delivery.source.clone());
    let payload = EventPayload::DeliveryProcessed { delivery: id, source, what };
    let event = NewEvent { at: ports.clock.now(), session: None, launch: None, payload };
    Commit { changes: vec![Change::SetDelivery { delivery: id, state }], events: vec![event] }
}

/// Returns the record of an issue that was closed. Its sessions are cleaned up afterwards.
pub fn closed(ports: &Ports, tracked: &TrackedIssue) -> Change {
    let closed_at = tracked.closed_at.or_else(|| Some(ports.clock.now()));
    Change::PutTrackedIssue(Box::new(TrackedIssue {
        closed_at,
        needs_cleanup: true,
        ..tracked.clone()
    }))
}

/// Returns the record of an issue that was reopened.
pub fn reopened(tracked: &TrackedIssue) -> Change {
    Change::PutTrackedIssue(Box::new(TrackedIssue {
        closed_at: None,
        needs_cleanup: false,
        ..tracked.clone()
    }))
}
