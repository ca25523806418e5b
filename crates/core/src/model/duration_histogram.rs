//! How long something took, counted in ranges.

use std::time::Duration;

/// The upper limits of the ranges, in milliseconds.
const LIMITS_MS: [u64; 14] =
    [1, 2, 5, 10, 25, 50, 100, 250, 500, 1000, 5000, 30_000, 300_000, 3_600_000];

/// Numbers of durations in ranges, and their sum.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DurationHistogram {
    /// The durations of each range, and those above all ranges.
    counts: [u64; LIMITS_MS.len() + 1],
    sum: Duration,
}

impl DurationHistogram {
    /// Counts a duration.
    pub fn observe(&mut self, duration: Duration) {
        let is_within = |limit: &u64| duration <= Duration::from_millis(*limit);
        let range = LIMITS_MS.iter().position(is_within).unwrap_or(LIMITS_MS.len());
        if let Some(count) = self.counts.get_mut(range) {
            *count += 1;
        }
        self.sum = self.sum.saturating_add(duration);
    }

    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    pub fn sum(&self) -> Duration {
        self.sum
    }

    /// Returns each upper limit with the number of durations that do not exceed it.
    pub fn cumulative(&self) -> impl Iterator<Item = (Duration, u64)> {
        LIMITS_MS.iter().zip(&self.counts).scan(0, |sum, (limit, count)| {
            *sum += count;
            Some((Duration::from_millis(*limit), *sum))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duration_is_counted_in_its_range_and_in_all_larger_ones() {
        let mut histogram = DurationHistogram::default();
        for milliseconds in [1, 2, 3, 10_000_000] {
            histogram.observe(Duration::from_millis(milliseconds));
        }
        let counts: Vec<u64> = histogram.cumulative().map(|(_, count)| count).collect();
        assert_eq!(counts[..4], [1, 2, 3, 3]);
        assert_eq!((counts.last(), histogram.count()), (Some(&3), 4));
        assert_eq!(histogram.sum(), Duration::from_millis(10_000_006));
    }
}
