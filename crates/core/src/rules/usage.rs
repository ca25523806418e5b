//! Decides which reports about used tokens are new, and adds usage up.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::api::{UsageList, UsageRow};
use crate::model::{
    AgentName, CountedRequest, CountedUsage, DailyUsage, FleetName, ReportedUsage, SessionId,
    Usage, UsageCursor, UsageGrouping, UsagePosition, UsageReading, UsdAmount, VendorId,
};

/// How many of the newest requests of a source are remembered. The records of one request are only
/// a few lines apart.
const MAX_RECENT_REQUESTS: usize = 64;

/// Which reports are new in a source that is read from its beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountingStart {
    /// When the session began. An adopted or handed-over conversation may have older reports, which
    /// other sessions have used.
    pub session_began: Timestamp,
    /// The newest report that was counted in another conversation of the session. A fork contains
    /// copies of its reports.
    pub counted_elsewhere: Option<Timestamp>,
}

/// Returns what the new reports of a source add, for each day, and the next cursor of the source.
pub fn count(
    known: Option<&UsageCursor>,
    reading: UsageReading,
    start: CountingStart,
) -> (UsageCursor, Vec<CountedUsage>) {
    let UsageReading { reports, position, is_from_start } = reading;
    let mut cursor = known.cloned().unwrap_or_default();
    cursor.position = position;
    let counted_before = cursor.newest.max(start.counted_elsewhere);
    if is_from_start {
        cursor.recent.clear();
    }
    let is_new = |report: &ReportedUsage| {
        !is_from_start
            || (report.at >= start.session_began
                && counted_before.is_none_or(|newest| report.at > newest))
    };
    let mut days: BTreeMap<Date, CountedUsage> = BTreeMap::new();
    for report in reports.into_iter().filter(is_new) {
        let at = report.at;
        let usage = added(&mut cursor.recent, report);
        if usage.is_zero() {
            continue;
        }
        cursor.newest = cursor.newest.max(Some(at));
        let day = days.entry(day(at)).or_insert(CountedUsage { at, usage: Usage::default() });
        *day = CountedUsage { at: day.at.max(at), usage: day.usage.plus(usage) };
    }
    let surplus = cursor.recent.len().saturating_sub(MAX_RECENT_REQUESTS);
    cursor.recent.drain(..surplus);
    (cursor, days.into_values().collect())
}

/// Returns what the cost of a process adds to its cost that is counted already, and the next cursor.
/// The position of the cursor is the counted cost, so that every new cost is a new position.
pub fn count_cost(
    known: Option<&UsageCursor>,
    total: UsdAmount,
    at: Timestamp,
) -> (UsageCursor, Vec<CountedUsage>) {
    let usage = Usage { cost_usd: Some(total), ..Usage::default() };
    let report = ReportedUsage { key: "cost".to_owned(), at, usage };
    let position = UsagePosition { offset: total.billionths(), mark: 0 };
    let reading = UsageReading { reports: vec![report], position, is_from_start: false };
    count(known, reading, CountingStart { session_began: at, counted_elsewhere: None })
}

/// Returns what a report adds to what is counted for its request already.
fn added(
    recent: &mut Vec<CountedRequest>,
    ReportedUsage { key, usage, .. }: ReportedUsage,
) -> Usage {
    match recent.iter_mut().rev().find(|request| request.key == key) {
        Some(request) => {
            let added = usage.beyond(request.usage);
            request.usage = request.usage.plus(added);
            added
        }
        None if usage.is_zero() => Usage::default(),
        None => {
            recent.push(CountedRequest { key, usage });
            usage
        }
    }
}

/// Returns the day of a timestamp in UTC.
pub fn day(at: Timestamp) -> Date {
    at.to_zoned(TimeZone::UTC).date()
}

/// What identifies a row of a [`UsageList`]. Rows are in this order.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct UsageRowKey {
    day: Option<Date>,
    fleet: Option<FleetName>,
    agent: Option<AgentName>,
    vendor: Option<VendorId>,
}

impl UsageRowKey {
    fn of(entry: &DailyUsage, by: UsageGrouping) -> Self {
        let none = Self::default();
        match by {
            UsageGrouping::Agent => {
                Self { fleet: Some(entry.fleet.clone()), agent: entry.agent.clone(), ..none }
            }
            UsageGrouping::Vendor => Self { vendor: Some(entry.vendor.clone()), ..none },
            UsageGrouping::Day => Self { day: Some(entry.day), ..none },
            UsageGrouping::DayAndVendor => {
                Self { day: Some(entry.day), vendor: Some(entry.vendor.clone()), ..none }
            }
        }
    }
}

/// Adds usage up for each agent, vendor or day, or for each vendor on each day.
pub fn grouped(entries: &[DailyUsage], by: UsageGrouping) -> UsageList {
    let mut rows: BTreeMap<UsageRowKey, Vec<&DailyUsage>> = BTreeMap::new();
    for entry in entries {
        rows.entry(UsageRowKey::of(entry, by)).or_default().push(entry);
    }
    let usage = rows.into_iter().map(|(key, entries)| row(key, &entries)).collect();
    UsageList { usage, total: row(UsageRowKey::default(), &entries.iter().collect::<Vec<_>>()) }
}

fn row(key: UsageRowKey, entries: &[&DailyUsage]) -> UsageRow {
    let sessions: BTreeSet<SessionId> = entries.iter().map(|entry| entry.session).collect();
    let usage = Usage::sum(entries.iter().map(|entry| entry.usage)).unwrap_or_default();
    let UsageRowKey { day, fleet, agent, vendor } = key;
    UsageRow { fleet, agent, vendor, day, sessions: sessions.len(), usage }
}

#[cfg(test)]
mod tests;
