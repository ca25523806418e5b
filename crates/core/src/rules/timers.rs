//! When a timer is due.

use std::time::Duration;

use jiff::Timestamp;

/// Returns when something that is said every so often since a launch began is to be said next. What
/// was due while nobody watched is not made up for.
pub fn next_due(began: Timestamp, every: Duration, now: Timestamp) -> Timestamp {
    let passed = Duration::try_from(now.duration_since(began)).unwrap_or_default();
    let rounds = passed.as_millis() / every.as_millis().max(1) + 1;
    let until = every.saturating_mul(u32::try_from(rounds).unwrap_or(u32::MAX));
    began.checked_add(until).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_keeps_its_beat_whoever_looks_and_makes_up_for_nothing() {
        let at = |second: i64| Timestamp::from_second(1_800_000_000 + second).unwrap();
        let table = [(0, 60), (1, 60), (59, 60), (60, 120), (61, 120), (3601, 3660), (-5, 60)];
        for (now, due) in table {
            let next = next_due(at(0), Duration::from_secs(60), at(now));
            assert_eq!(next, at(due), "{now}");
        }
    }
}
