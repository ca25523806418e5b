//! Decides when a timer is due.

use std::time::Duration;

use jiff::Timestamp;

/// Returns the time until a timer is due next. A timer is due at multiples of `every` after
/// `began`, the start of the launch. Timers that fell due while no daemon was running are skipped.
/// If the clock was set back, the result is still at most one interval.
pub fn until_due(began: Timestamp, every: Duration, now: Timestamp) -> Duration {
    let passed = Duration::try_from(now.duration_since(began)).unwrap_or_default();
    let round = every.as_nanos().max(1);
    let left = round - passed.as_nanos() % round;
    Duration::from_nanos(u64::try_from(left).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timer_is_due_at_multiples_of_its_interval_and_missed_ones_are_skipped() {
        let at = |second: i64| Timestamp::from_second(1_800_000_000 + second).unwrap();
        let table = [(0, 60), (1, 59), (59, 1), (60, 60), (61, 59), (3601, 59), (-5, 60)];
        for (now, left) in table {
            let until = until_due(at(0), Duration::from_secs(60), at(now));
            assert_eq!(until, Duration::from_secs(left), "{now}");
        }
        assert_eq!(until_due(at(0), Duration::ZERO, at(1)), Duration::from_nanos(1));
        assert_eq!(until_due(at(0), Duration::MAX, at(0)), Duration::from_nanos(u64::MAX));
    }
}
