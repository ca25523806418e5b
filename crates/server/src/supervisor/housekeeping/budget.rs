//! Keeps the disk budget: makes room for a new worktree, or refuses it.

use std::sync::Arc;

use segue_core::api::{FailedTarget, SweepReport, SweptItem};
use segue_core::flows::housekeeping::{self, CandidateScope, DiskPlan};
use segue_core::model::{AgentWorktree, DiskLevel};
use segue_core::ports::DiskMeasurement;
use segue_core::rules::display::byte_count;
use segue_core::rules::housekeeping::{BudgetPlan, DiskBudget, level_of};
use segue_core::{Error, Result};

use super::super::Supervisor;
use super::items;
use crate::project;

/// Why things were removed.
const REASON: &str = "the disk budget was used up";

impl Supervisor {
    /// Fails if a worktree has to be made and the disk budget is used up, also after everything was
    /// removed that nothing needs. Measures nothing if there is no budget.
    pub(in super::super) async fn check_disk(
        self: &Arc<Self>,
        worktree: &AgentWorktree,
    ) -> Result<()> {
        let Some(budget) = project::disk_budget(self.config_file()) else { return Ok(()) };
        if self.ports.machine.folder(&worktree.path).is_ok() {
            return Ok(());
        }
        let _turn = self.housekeeping.turn().await?;
        let (plan, measured) = self.measure(false).await?;
        let used = measured.bytes.iter().sum();
        if level_of(used, &budget) != DiskLevel::Full {
            return self.note_level(used, &budget).await;
        }
        self.make_room((&plan, &measured), &budget).await?;
        let (_, measured) = self.measure(false).await?;
        let used = measured.bytes.iter().sum();
        self.note_level(used, &budget).await?;
        match level_of(used, &budget) {
            DiskLevel::Full => Err(full(used, &budget)),
            DiskLevel::Warning | DiskLevel::Normal => Ok(()),
        }
    }

    /// Removes the oldest things that nothing needs until the rest is below the budget.
    async fn make_room(
        self: &Arc<Self>,
        (plan, measured): (&DiskPlan, &DiskMeasurement),
        budget: &DiskBudget,
    ) -> Result<()> {
        let ages = project::sweep_ages(self.config_file())?;
        let bytes = plan.bytes_by_path(measured);
        let closed = housekeeping::closed_sessions(&self.ports, |_| false).await?;
        let scope = CandidateScope { ages, closed, bytes };
        let candidates = housekeeping::candidates(&self.ports, &scope).await?;
        let environment = self.teardown_environment(items(&candidates)).await;
        let used = measured.bytes.iter().sum();
        let now = self.ports.clock.now();
        let mut plan = BudgetPlan::new(candidates, (used, budget.bytes), (&ages, now));
        let mut report = SweepReport::default();
        while let Some(next) = plan.take_next() {
            let (kind, name) = (next.item.kind(), next.item.name());
            match self.remove_item(&next.item, &environment).await {
                Ok(salvage) => {
                    plan.removed(&next);
                    let reason = format!("{REASON}, and {}", next.class.description());
                    report.removed.push(SweptItem { kind: kind.into(), name, reason, salvage });
                }
                Err(error) => report.failed.push(FailedTarget { target: name, error }),
            }
        }
        housekeeping::record_sweep(&self.ports, &report, REASON).await
    }
}

fn full(used: u64, budget: &DiskBudget) -> Error {
    let (used, budget) = (byte_count(used), byte_count(budget.bytes));
    Error::unavailable(format!("no worktree is made: Segue uses {used} of {budget} on disk"))
        .caused_by("nothing can be removed that is not in use")
        .hint("run `segue du` to see what uses the space, and `segue rm` to remove sessions")
        .hint("or set a larger `budget` under `[disk]` in config.toml")
}
