//! Deliveries whose content is old.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::error::Result;
use crate::failpoint;
use crate::model::{DeliveryId, DeliveryStateKind, SourceName};
use crate::ports::{Change, Commit, DeliveryQuery, Ports};

/// The content of this many deliveries is removed in one commit.
const MAX_BATCH: usize = 200;

/// Returns the deliveries that were processed or ignored, are older than a time, and still have their
/// content, by their sources.
pub async fn old_deliveries(
    ports: &Ports,
    age: Duration,
) -> Result<BTreeMap<SourceName, Vec<DeliveryId>>> {
    // An age before the beginning of time means that nothing is old enough.
    let Ok(before) = ports.clock.now().checked_sub(age) else { return Ok(BTreeMap::new()) };
    let states = vec![DeliveryStateKind::Processed, DeliveryStateKind::Ignored];
    let query = DeliveryQuery {
        states: Some(states),
        before: Some(before),
        has_content: Some(true),
        ..DeliveryQuery::default()
    };
    let mut found: BTreeMap<SourceName, Vec<DeliveryId>> = BTreeMap::new();
    for delivery in ports.store.deliveries(&query).await? {
        found.entry(delivery.source).or_default().push(delivery.id);
    }
    Ok(found)
}

/// Removes headers and bodies of deliveries. Their ids and digests stay for ever: a signed delivery
/// that is sent again, at any time, starts no work.
pub async fn remove_delivery_content(ports: &Ports, deliveries: &[DeliveryId]) -> Result<()> {
    for batch in deliveries.chunks(MAX_BATCH) {
        let changes = batch.iter().map(|id| Change::RemoveDeliveryContent(*id)).collect();
        failpoint::hit("delivery.content.before");
        ports.store.commit(Commit { changes, events: Vec::new() }).await?;
        failpoint::hit("delivery.content.after");
    }
    Ok(())
}
