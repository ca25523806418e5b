//! Measures disk use, removes old things, keeps the disk budget, and drops conversations about issues.

mod budget;
mod reset;
mod sweep;

use std::sync::Arc;

use segue_core::api::{DiskReport, DiskRequest};
use segue_core::flows::housekeeping::{self, DiskPlan};
use segue_core::model::{DiskLevel, Environment, HousekeepingItem, Principal, RefName};
use segue_core::ports::{DiskMeasurement, Notification};
use segue_core::rules::display::byte_count;
use segue_core::rules::housekeeping::{DiskBudget, RemovalCandidate};
use segue_core::rules::scope::RestrictedAction;
use segue_core::{Error, Result};
use tokio::sync::{Notify, Semaphore, SemaphorePermit};

pub(crate) use reset::reset;
pub(crate) use sweep::{start_sweeper, sweep};

use super::Supervisor;
use crate::blocking::blocking;
use crate::project;

/// The state of housekeeping.
#[derive(Debug)]
pub(super) struct Housekeeping {
    /// Has one permit, so that two sweeps or resets do not remove the same things.
    turn: Semaphore,
    /// Wakes the tasks that wait for disk space.
    pub(super) room: Notify,
}

impl Default for Housekeeping {
    fn default() -> Self {
        Self { turn: Semaphore::new(1), room: Notify::new() }
    }
}

impl Housekeeping {
    /// Waits until no other request removes things.
    async fn turn(&self) -> Result<SemaphorePermit<'_>> {
        let closed = |error| Error::internal("housekeeping has ended").caused_by(error);
        self.turn.acquire().await.map_err(closed)
    }
}

/// Reports what uses disk space.
pub(crate) async fn disk(
    supervisor: &Arc<Supervisor>,
    principal: &Principal,
    request: DiskRequest,
) -> Result<DiskReport> {
    principal.allow(RestrictedAction::ReadAll)?;
    let (plan, measured) = supervisor.measure(request.exact).await?;
    let budget = project::disk_budget(supervisor.config_file());
    let report = plan.report(&measured, budget.as_ref());
    if let Some(budget) = &budget {
        supervisor.note_level(report.total, budget).await?;
    }
    Ok(report)
}

impl Supervisor {
    /// Measures all folders of Segue.
    async fn measure(&self, is_exact: bool) -> Result<(DiskPlan, DiskMeasurement)> {
        let plan = housekeeping::disk_plan(&self.ports, is_exact).await?;
        let (disk, now) = (Arc::clone(&self.ports.disk), self.ports.clock.now());
        let folders = plan.folders.clone();
        let measured = blocking(move || Ok(disk.measure(&folders, now))).await?;
        Ok((plan, measured))
    }

    /// Records the level of disk use, and notifies the user if it is higher than before.
    async fn note_level(&self, used: u64, budget: &DiskBudget) -> Result<()> {
        let Some(level) = housekeeping::note_level(&self.ports, used, budget).await? else {
            return Ok(());
        };
        let text = match level {
            DiskLevel::Full => "new worktrees are refused until there is room: see `segue du`",
            DiskLevel::Warning | DiskLevel::Normal => "run `segue du` to see what uses the space",
        };
        let notification = Notification {
            title: format!("Segue uses {} of {}", byte_count(used), byte_count(budget.bytes)),
            text: text.to_owned(),
            variables: vec![("SEGUE_REASON", format!("disk_{}", level.word()))],
        };
        let settings = project::attention(self.config_file());
        if settings.desktop {
            self.ports.notifier.show(notification.clone());
        }
        if !settings.command.is_empty() {
            self.ports.notifier.run(settings.command, notification);
        }
        Ok(())
    }

    /// Removes something. A worktree is salvaged before.
    async fn remove_item(
        self: &Arc<Self>,
        item: &HousekeepingItem,
        environment: &Environment,
    ) -> Result<Option<RefName>> {
        match item {
            HousekeepingItem::Worktree(worktree) => {
                Ok(self.remove_worktree(worktree, environment).await?.salvage)
            }
            _ => housekeeping::remove(&self.ports, item, environment).await,
        }
    }

    /// Returns the environment for the teardown commands of worktrees. It is empty if there are none,
    /// or if the login shell cannot be read: a teardown command that fails prevents no removal.
    async fn teardown_environment<'a>(
        &self,
        items: impl Iterator<Item = &'a HousekeepingItem>,
    ) -> Environment {
        let has_commands = |item: &HousekeepingItem| match item {
            HousekeepingItem::Worktree(worktree) => !worktree.commands.teardown.is_empty(),
            _ => false,
        };
        match items.into_iter().any(has_commands) {
            true => self.login_shell().await.unwrap_or_default(),
            false => Environment::default(),
        }
    }
}

fn items(candidates: &[RemovalCandidate]) -> impl Iterator<Item = &HousekeepingItem> {
    candidates.iter().map(|it| &it.item)
}
