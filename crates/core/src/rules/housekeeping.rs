//! Decides what is removed when it is old, and what is removed first when the disk budget is used up.
//!
//! Nothing that is in use is ever removed, and nothing that would be lost. Worktrees are salvaged
//! before they are removed.

mod budget;
mod full_disk;
mod level;
mod sweep_time;

use std::time::Duration;

use jiff::Timestamp;

use crate::model::HousekeepingItem;
use crate::rules::display::counted;

pub use budget::BudgetPlan;
pub use full_disk::is_disk_full;
pub use level::{DiskBudget, level_of};
pub use sweep_time::{SweepTime, sweep_time};

/// After which time without use something is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SweepAges {
    /// A worktree whose issue is closed.
    pub closed: Duration,
    /// A worktree without a session.
    pub orphans: Duration,
    /// The folder of an ended launch.
    pub launches: Duration,
    /// A shared clone without worktrees.
    pub clones: Duration,
    /// A copy in the archive whose session has ended. `None` keeps all copies.
    pub archives: Option<Duration>,
    /// Headers and body of a delivery that was processed or ignored.
    pub deliveries: Duration,
}

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

impl Default for SweepAges {
    fn default() -> Self {
        Self {
            closed: 7 * DAY,
            orphans: 14 * DAY,
            launches: 30 * DAY,
            clones: 30 * DAY,
            archives: None,
            deliveries: 30 * DAY,
        }
    }
}

/// Why something can be removed. The budget removes things in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RemovalClass {
    /// A worktree without a session.
    UnusedWorktree,
    /// A worktree whose session is at rest and whose issue is closed.
    ClosedWorktree,
    /// A copy of a conversation whose session has ended or was removed.
    ArchivedCopy,
    /// The folder of a launch that has ended and is not the last one of its session.
    EndedLaunch,
    /// A clone without worktrees.
    UnusedClone,
    /// A worktree whose session is at rest. The session gets it back when it comes back.
    RestingWorktree,
}

/// Something that may be removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemovalCandidate {
    pub item: HousekeepingItem,
    pub class: RemovalClass,
    pub last_used: Timestamp,
    /// What it uses on disk. 0 if that is not known.
    pub bytes: u64,
    /// Why it must stay: it is in use, or something would be lost. `None` if it may be removed.
    pub hold: Option<String>,
}

impl RemovalCandidate {
    /// Returns why a sweep removes this. `None` if it stays.
    pub fn expiry(&self, ages: &SweepAges, now: Timestamp) -> Option<String> {
        let age = limit(self.class, ages)?;
        let unused = unused_for(self.last_used, now);
        if self.hold.is_some() || unused < age {
            return None;
        }
        Some(format!("{} and was not used for {}", self.class.description(), in_words(unused)))
    }

    /// Returns whether it may be removed when the budget is used up.
    fn can_make_room(&self, ages: &SweepAges, now: Timestamp) -> bool {
        match self.class {
            RemovalClass::ArchivedCopy | RemovalClass::EndedLaunch => {
                self.expiry(ages, now).is_some()
            }
            RemovalClass::UnusedWorktree
            | RemovalClass::ClosedWorktree
            | RemovalClass::UnusedClone
            | RemovalClass::RestingWorktree => self.hold.is_none(),
        }
    }
}

impl RemovalClass {
    /// Returns what is removed, as the beginning of a sentence.
    pub fn description(self) -> &'static str {
        match self {
            Self::UnusedWorktree => "it has no session",
            Self::ClosedWorktree => "its issue is closed",
            Self::ArchivedCopy => "its session has ended",
            Self::EndedLaunch => "the launch has ended",
            Self::UnusedClone => "it has no worktree",
            Self::RestingWorktree => "its session is at rest",
        }
    }
}

/// Returns after which time without use a sweep removes something. `None` if it never does.
fn limit(class: RemovalClass, ages: &SweepAges) -> Option<Duration> {
    match class {
        RemovalClass::UnusedWorktree => Some(ages.orphans),
        RemovalClass::ClosedWorktree => Some(ages.closed),
        RemovalClass::ArchivedCopy => ages.archives,
        RemovalClass::EndedLaunch => Some(ages.launches),
        RemovalClass::UnusedClone => Some(ages.clones),
        RemovalClass::RestingWorktree => None,
    }
}

/// Returns how long something was not used. A time in the future counts as now.
pub fn unused_for(last_used: Timestamp, now: Timestamp) -> Duration {
    Duration::try_from(now.duration_since(last_used)).unwrap_or_default()
}

fn in_words(time: Duration) -> String {
    let seconds = usize::try_from(time.as_secs()).unwrap_or(usize::MAX);
    match seconds {
        0..60 => counted(seconds, "second"),
        60..3600 => counted(seconds / 60, "minute"),
        3600..86_400 => counted(seconds / 3600, "hour"),
        _ => counted(seconds / 86_400, "day"),
    }
}

#[cfg(test)]
mod samples;

#[cfg(test)]
mod tests;
