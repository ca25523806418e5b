//! Removes old things, once a day and on request.

use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use segue_core::api::{FailedTarget, SweepReport, SweepRequest, SweptItem};
use segue_core::flows::housekeeping::{self, AskedIssues, CandidateScope};
use segue_core::model::{HousekeepingKind, Principal, SourceName};
use segue_core::rules::display::counted;
use segue_core::rules::housekeeping::{RemovalCandidate, SweepAges, SweepTime};
use segue_core::rules::scope::RestrictedAction;
use segue_core::{Error, Result};

use super::super::Supervisor;
use super::items;
use crate::project;

/// Why things were removed.
const REASON: &str = "they were old";

/// Removes old things, or reports what would be removed.
pub(crate) async fn sweep(
    supervisor: &Arc<Supervisor>,
    principal: &Principal,
    request: SweepRequest,
) -> Result<SweepReport> {
    principal.allow(RestrictedAction::Sweep)?;
    supervisor.sweep(request.dry_run).await
}

impl Supervisor {
    /// Removes old things. A failure is reported, and does not prevent the other removals.
    async fn sweep(self: &Arc<Self>, dry_run: bool) -> Result<SweepReport> {
        let ages = project::sweep_ages(self.config_file())?;
        // Forges may answer slowly: other requests that remove things do not wait for them.
        let AskedIssues { closed: asked, failed } = housekeeping::asked_issues(&self.ports).await?;
        let _turn = self.housekeeping.turn().await?;
        let is_silent = |source: &SourceName| failed.contains_key(source);
        let mut closed = housekeeping::closed_sessions(&self.ports, is_silent).await?;
        closed.extend(asked);
        let scope = CandidateScope { ages, closed, bytes: HashMap::new() };
        let found = housekeeping::candidates(&self.ports, &scope).await?;
        let now = self.ports.clock.now();
        let expired = found.into_iter().filter_map(|it| Some((it.expiry(&ages, now)?, it)));
        let (reasons, expired): (Vec<String>, Vec<RemovalCandidate>) = expired.unzip();
        let environment = self.teardown_environment(items(&expired)).await;
        let failed = failed.into_iter().map(unasked).collect();
        let mut report = SweepReport { dry_run, removed: Vec::new(), failed };
        for (reason, candidate) in reasons.into_iter().zip(&expired) {
            let (kind, name) = (candidate.item.kind().into(), candidate.item.name());
            let removed = match dry_run {
                true => Ok(None),
                false => self.remove_item(&candidate.item, &environment).await,
            };
            match removed {
                Ok(salvage) => report.removed.push(SweptItem { kind, name, reason, salvage }),
                Err(error) => report.failed.push(FailedTarget { target: name, error }),
            }
        }
        self.sweep_deliveries(&ages, &mut report).await;
        housekeeping::record_sweep(&self.ports, &report, REASON).await?;
        if !dry_run {
            self.examine_disk().await?;
        }
        Ok(report)
    }

    /// Reads all folders in full, so that files that have grown in place count from now on, and
    /// records the level of disk use. Does nothing without a budget.
    async fn examine_disk(&self) -> Result<()> {
        // The disk may have been full, whatever the budget is.
        self.housekeeping.room.notify_waiters();
        let Some(budget) = project::disk_budget(self.config_file()) else { return Ok(()) };
        let (_, measured) = self.measure(true).await?;
        self.note_level(measured.bytes.iter().sum(), &budget).await?;
        self.housekeeping.room.notify_waiters();
        Ok(())
    }

    /// Removes headers and bodies of old deliveries.
    async fn sweep_deliveries(&self, ages: &SweepAges, report: &mut SweepReport) {
        let old = match housekeeping::old_deliveries(&self.ports, ages.deliveries).await {
            Ok(old) => old,
            Err(error) => {
                report.failed.push(FailedTarget { target: "deliveries".to_owned(), error });
                return;
            }
        };
        for (source, ids) in old {
            let removed = match report.dry_run {
                true => Ok(()),
                false => housekeeping::remove_delivery_content(&self.ports, &ids).await,
            };
            let name = format!("content of {} of {source}", counted(ids.len(), "webhook request"));
            match removed {
                Ok(()) => report.removed.push(SweptItem {
                    kind: HousekeepingKind::Delivery.into(),
                    name,
                    reason: "it was processed or ignored long ago".to_owned(),
                    salvage: None,
                }),
                Err(error) => report.failed.push(FailedTarget { target: name, error }),
            }
        }
    }
}

/// Returns the report about a forge that could not be asked.
fn unasked((source, error): (SourceName, Error)) -> FailedTarget {
    let hint = "worktrees of its issues stay until a later sweep";
    FailedTarget { target: format!("source {source}"), error: error.hint(hint) }
}

/// Starts the sweeper. It waits for the recorded time of the next sweep, so that restarts of the
/// daemon do not delay it.
pub(crate) fn start_sweeper(supervisor: &Arc<Supervisor>) {
    let supervisor = Arc::downgrade(supervisor);
    tokio::spawn(async move {
        while let Some(wait) = next_step(&supervisor).await {
            tokio::time::sleep(wait).await;
        }
    });
}

/// Sweeps if a sweep is due. Returns how long to wait. `None` if the supervisor is gone.
async fn next_step(supervisor: &Weak<Supervisor>) -> Option<Duration> {
    let supervisor = supervisor.upgrade()?;
    let every = project::sweep_interval(supervisor.config_file());
    match housekeeping::next_sweep(&supervisor.ports, every).await {
        Ok(SweepTime::At(due)) => {
            let rest = due.duration_since(supervisor.ports.clock.now());
            Some(Duration::try_from(rest).unwrap_or_default())
        }
        Ok(SweepTime::Now) => {
            if let Err(error) = supervisor.sweep_on_time(every).await {
                tracing::warn!(%error, "a sweep failed");
            }
            Some(Duration::ZERO)
        }
        Err(error) => {
            tracing::warn!(%error, "the time of the next sweep is not known");
            Some(every)
        }
    }
}

impl Supervisor {
    /// Sweeps. The time of the next sweep is recorded before, so that a sweep that ends the daemon
    /// does not end every daemon after it.
    async fn sweep_on_time(self: &Arc<Self>, every: Duration) -> Result<()> {
        housekeeping::record_next_sweep(&self.ports, every).await?;
        let report = self.sweep(false).await?;
        for FailedTarget { target, error } in &report.failed {
            tracing::warn!(target, %error, "a sweep could not remove something");
        }
        Ok(())
    }
}
