//! The settings about disk use and old things.

use std::path::Path;
use std::time::Duration;

use jiff::{Span, SpanRelativeTo};
use segue_core::Result;
use segue_core::rules::housekeeping::{DiskBudget, SweepAges};
use serde::Deserialize;

use super::settings::{ByteCount, read};

/// The default part of the budget from which on the user is warned.
const DEFAULT_WARN: f64 = 0.8;

/// The default time between two sweeps.
const DEFAULT_INTERVAL: Duration = Duration::from_secs(24 * 60 * 60);

/// The shortest time between two sweeps.
const SHORTEST_INTERVAL: Duration = Duration::from_secs(1);

/// How much disk space Segue may use.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct DiskTable {
    budget: Option<ByteCount>,
    /// The part of the budget from which on the user is warned.
    warn: Option<Fraction>,
}

/// After which time without use things are removed.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct SweepTable {
    /// Worktrees of closed issues.
    closed: Option<AgeLimit>,
    /// Worktrees without a session.
    orphans: Option<AgeLimit>,
    /// Folders of ended launches.
    launches: Option<AgeLimit>,
    /// Shared clones without worktrees.
    clones: Option<AgeLimit>,
    /// Copies in the archive.
    archives: Option<AgeLimit>,
    /// Headers and bodies of deliveries.
    deliveries: Option<AgeLimit>,
    /// The time between two sweeps.
    every: Option<AgeLimit>,
}

/// Returns how much disk space Segue may use. `None` without a limit.
pub(crate) fn disk_budget(config_file: &Path) -> Option<DiskBudget> {
    // A file that cannot be read is reported elsewhere, see `attention`.
    let DiskTable { budget, warn } = read(config_file).ok()?.disk;
    let ByteCount(bytes) = budget?;
    Some(DiskBudget::new(bytes, warn.map_or(DEFAULT_WARN, |Fraction(part)| part)))
}

/// Returns after which time without use things are removed. A file that cannot be read is an error:
/// nothing is removed while the ages are not known.
pub(crate) fn sweep_ages(config_file: &Path) -> Result<SweepAges> {
    let table = read(config_file)?.sweep;
    let default = SweepAges::default();
    let age = |age: Option<AgeLimit>, default| age.map_or(default, |AgeLimit(age)| age);
    Ok(SweepAges {
        closed: age(table.closed, default.closed),
        orphans: age(table.orphans, default.orphans),
        launches: age(table.launches, default.launches),
        clones: age(table.clones, default.clones),
        archives: table.archives.map(|AgeLimit(age)| age).or(default.archives),
        deliveries: age(table.deliveries, default.deliveries),
    })
}

/// Returns the time between two sweeps.
pub(crate) fn sweep_interval(config_file: &Path) -> Duration {
    let every = read(config_file).ok().and_then(|settings| settings.sweep.every);
    every.map_or(DEFAULT_INTERVAL, |AgeLimit(every)| every).max(SHORTEST_INTERVAL)
}

/// A time such as `14d` or `12h`. A day has 24 hours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
struct AgeLimit(Duration);

impl TryFrom<String> for AgeLimit {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let wrong = || format!("`{text}` is not a time such as `14d` or `12h`");
        let span: Span = text.parse().map_err(|_| wrong())?;
        let days = SpanRelativeTo::days_are_24_hours();
        let length = span.to_duration(days).map_err(|_| wrong())?;
        Duration::try_from(length).map(Self).map_err(|_| wrong())
    }
}

/// A number between 0 and 1.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(try_from = "f64")]
struct Fraction(f64);

impl TryFrom<f64> for Fraction {
    type Error = String;

    fn try_from(number: f64) -> Result<Self, Self::Error> {
        match (0.0..=1.0).contains(&number) {
            true => Ok(Self(number)),
            false => Err(format!("it must be between 0 and 1, got {number}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::project::check_settings;

    const DAY: Duration = Duration::from_secs(24 * 60 * 60);

    #[test]
    fn budget_is_off_by_default_and_warns_at_a_part_of_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.toml");
        assert_eq!(disk_budget(&file), None);
        let table = [
            ("budget = \"50 GB\"", 50_000_000_000, 40_000_000_000),
            ("budget = \"1 MB\"\nwarn = 0.5", 1_000_000, 500_000),
            ("budget = \"1 MB\"\nwarn = 1.0", 1_000_000, 1_000_000),
        ];
        for (text, bytes, warn_bytes) in table {
            fs::write(&file, format!("[disk]\n{text}\n")).unwrap();
            assert_eq!(disk_budget(&file), Some(DiskBudget { bytes, warn_bytes }), "{text}");
        }
        for line in ["warn = 1.5", "warn = -1.0", "budget = \"much\"", "limit = \"1 GB\""] {
            fs::write(&file, format!("[disk]\n{line}\n")).unwrap();
            assert!(check_settings(&file).is_err(), "{line}");
            assert_eq!(disk_budget(&file), None, "{line}");
        }
    }

    #[test]
    fn sweep_has_ages_in_days_and_removes_nothing_if_they_cannot_be_read() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.toml");
        assert_eq!(sweep_ages(&file).unwrap(), SweepAges::default());
        assert_eq!(sweep_interval(&file), DAY);
        let text = "[sweep]\nclosed = \"1d\"\norphans = \"12h\"\nlaunches = \"0s\"\n\
                    clones = \"2w\"\narchives = \"90d\"\ndeliveries = \"3d\"\nevery = \"6h\"\n";
        fs::write(&file, text).unwrap();
        let ages = SweepAges {
            closed: DAY,
            orphans: DAY / 2,
            launches: Duration::ZERO,
            clones: 14 * DAY,
            archives: Some(90 * DAY),
            deliveries: 3 * DAY,
        };
        assert_eq!(sweep_ages(&file).unwrap(), ages);
        assert_eq!(sweep_interval(&file), DAY / 4);
        for line in ["closed = \"soon\"", "orphans = \"-1d\"", "every = 3", "days = \"1d\""] {
            fs::write(&file, format!("[sweep]\n{line}\n")).unwrap();
            assert!(sweep_ages(&file).is_err(), "{line}");
            assert_eq!(sweep_interval(&file), DAY, "{line}");
        }
    }
}
