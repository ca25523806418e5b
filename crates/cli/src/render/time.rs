//! Timestamps and durations as people read them.

use jiff::Timestamp;
use jiff::tz::TimeZone;

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
const WEEK: i64 = 7 * DAY;
const YEAR: i64 = 365 * DAY;

/// Returns the time since a timestamp, in one unit: `40s`, `3m`, `5h`, `2d`, `3w`, `1y`.
pub(crate) fn age(then: Timestamp, now: Timestamp) -> String {
    // A clock that was set back must not show a negative age.
    let seconds = now.duration_since(then).as_secs().max(0);
    let (count, unit) = match seconds {
        ..MINUTE => (seconds, 's'),
        MINUTE..HOUR => (seconds / MINUTE, 'm'),
        HOUR..DAY => (seconds / HOUR, 'h'),
        DAY..WEEK => (seconds / DAY, 'd'),
        WEEK..YEAR => (seconds / WEEK, 'w'),
        _ => (seconds / YEAR, 'y'),
    };
    format!("{count}{unit}")
}

/// The time zone in which timestamps are shown.
#[derive(Clone, Debug)]
pub(crate) struct DisplayClock {
    /// `None` shows UTC, with a `Z` at the end.
    zone: Option<TimeZone>,
}

impl DisplayClock {
    /// Shows UTC: for text that goes into a file or to another program.
    pub(crate) fn utc() -> Self {
        Self { zone: None }
    }

    /// Shows the user's time zone: `TZ` if it is set, else the machine's, or UTC if neither is
    /// known. The program contains a copy of the time zone database for machines that have none.
    pub(crate) fn local() -> Self {
        Self { zone: TimeZone::try_system().ok() }
    }

    /// Formats a timestamp with a precision of one second.
    pub(crate) fn timestamp(&self, at: Timestamp) -> String {
        match &self.zone {
            Some(zone) => at.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M:%S").to_string(),
            None => at.strftime("%Y-%m-%d %H:%M:%SZ").to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn age_is_shown_in_its_largest_unit() {
        let table = [
            (0, "0s"),
            (59, "59s"),
            (60, "1m"),
            (3599, "59m"),
            (3600, "1h"),
            (86_399, "23h"),
            (86_400, "1d"),
            (604_799, "6d"),
            (604_800, "1w"),
            (31_535_999, "52w"),
            (31_536_000, "1y"),
            (-90, "0s"),
        ];
        for (seconds, expected) in table {
            assert_eq!(age(at(1_000_000_000), at(1_000_000_000 + seconds)), expected, "{seconds}");
        }
    }

    #[test]
    fn a_timestamp_is_in_utc_or_in_the_users_time_zone() {
        let then = at(1_767_323_472);
        assert_eq!(DisplayClock::utc().timestamp(then), "2026-01-02 03:11:12Z");
        // The zone comes from the bundled database: no file of this machine is read.
        let zone = jiff::tz::TimeZoneDatabase::bundled().get("Asia/Kolkata").unwrap();
        let clock = DisplayClock { zone: Some(zone) };
        assert_eq!(clock.timestamp(then), "2026-01-02 08:41:12");
    }
}
