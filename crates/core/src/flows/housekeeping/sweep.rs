//! When sweeps happen, and what they recorded.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;

use crate::api::SweepReport;
use crate::error::Result;
use crate::failpoint;
use crate::model::{EventPayload, NewEvent, SweptFacts};
use crate::ports::{Change, Commit, Ports};
use crate::rules::housekeeping::{SweepTime, sweep_time};

/// Returns when the next sweep is due, and records that time, so that a new daemon knows it.
pub async fn next_sweep(ports: &Ports, every: Duration) -> Result<SweepTime> {
    let recorded = ports.store.housekeeping().await?.next_sweep;
    let next = sweep_time(recorded, every, ports.clock.now());
    if let SweepTime::At(due) = next
        && recorded != Some(due)
    {
        record(ports, due).await?;
    }
    Ok(next)
}

/// Records when the sweep after the present one is due.
pub async fn record_next_sweep(ports: &Ports, every: Duration) -> Result<()> {
    let due = ports.clock.now().checked_add(every).unwrap_or(Timestamp::MAX);
    record(ports, due).await
}

async fn record(ports: &Ports, due: Timestamp) -> Result<()> {
    failpoint::hit("sweep.next.before");
    let changes = vec![Change::SetNextSweep(due)];
    ports.store.commit(Commit { changes, events: Vec::new() }).await?;
    failpoint::hit("sweep.next.after");
    Ok(())
}

/// Records what was removed. Records nothing if nothing was removed and nothing failed.
pub async fn record_sweep(ports: &Ports, report: &SweepReport, reason: &str) -> Result<()> {
    if report.dry_run || (report.removed.is_empty() && report.failed.is_empty()) {
        return Ok(());
    }
    let mut removed = BTreeMap::new();
    for item in &report.removed {
        *removed.entry(item.kind.as_str().to_owned()).or_default() += 1;
    }
    let facts = SweptFacts { removed, failed: report.failed.len(), reason: reason.to_owned() };
    let payload = EventPayload::Swept(facts);
    let event = NewEvent { at: ports.clock.now(), session: None, launch: None, payload };
    ports.store.commit(Commit { changes: Vec::new(), events: vec![event] }).await.map(drop)
}
