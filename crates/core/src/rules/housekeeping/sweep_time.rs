//! When the next sweep is due.

use std::time::Duration;

use jiff::Timestamp;

/// What the sweeper does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SweepTime {
    /// A sweep is due.
    Now,
    /// Wait until this time, and record it first if it is not the recorded one.
    At(Timestamp),
}

/// Decides when the next sweep is due. `recorded` is the time that an earlier daemon recorded. A time
/// that is further away than one interval was recorded with another interval, or before the clock
/// was set back.
pub fn sweep_time(recorded: Option<Timestamp>, every: Duration, now: Timestamp) -> SweepTime {
    let latest = now.checked_add(every).unwrap_or(Timestamp::MAX);
    match recorded {
        Some(due) if due <= now => SweepTime::Now,
        Some(due) => SweepTime::At(due.min(latest)),
        None => SweepTime::At(latest),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sweep_is_due_at_the_recorded_time_whatever_the_daemon_did_meanwhile() {
        let at = |second: i64| Timestamp::from_second(second).unwrap();
        let every = Duration::from_secs(100);
        let table = [
            (None, SweepTime::At(at(1100))),
            (Some(at(1050)), SweepTime::At(at(1050))),
            (Some(at(1000)), SweepTime::Now),
            (Some(at(1)), SweepTime::Now),
            (Some(at(9999)), SweepTime::At(at(1100))),
        ];
        for (recorded, expected) in table {
            assert_eq!(sweep_time(recorded, every, at(1000)), expected, "{recorded:?}");
        }
        assert_eq!(sweep_time(None, Duration::MAX, at(0)), SweepTime::At(Timestamp::MAX));
    }
}
