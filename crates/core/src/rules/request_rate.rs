//! Limits how often a peer or a token may ask.

use std::time::Duration;

/// How many requests are allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLimit {
    /// At once, after a pause.
    pub burst: u32,
    /// The time after which one more is allowed.
    pub interval: Duration,
}

/// How much of a limit is used up. Times are counted from any fixed start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateState {
    /// When the whole burst is available again.
    refilled_at: Duration,
}

impl RateState {
    /// Returns the state before the first request.
    pub fn unused() -> Self {
        Self { refilled_at: Duration::ZERO }
    }

    /// Counts a request. Returns the time after which it would be allowed if it is not allowed now;
    /// such a request does not count.
    pub fn take(&mut self, limit: RateLimit, now: Duration) -> Result<(), Duration> {
        let begin = self.refilled_at.max(now);
        let burst = limit.interval.saturating_mul(limit.burst.saturating_sub(1));
        let wait = begin.saturating_sub(now).saturating_sub(burst);
        if !wait.is_zero() {
            return Err(wait);
        }
        self.refilled_at = begin.saturating_add(limit.interval);
        Ok(())
    }

    /// Returns whether the state is the same as before the first request.
    pub fn is_unused(self, now: Duration) -> bool {
        self.refilled_at <= now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: RateLimit = RateLimit { burst: 3, interval: Duration::from_millis(100) };

    fn at(milliseconds: u64) -> Duration {
        Duration::from_millis(milliseconds)
    }

    #[test]
    fn burst_is_allowed_and_then_one_request_in_each_interval() {
        let mut state = RateState::unused();
        let table = [
            (1000, Ok(())),
            (1000, Ok(())),
            (1000, Ok(())),
            (1000, Err(at(100))),
            (1050, Err(at(50))),
            (1100, Ok(())),
            (1100, Err(at(100))),
            (1300, Ok(())),
            (1300, Ok(())),
            (1300, Err(at(100))),
        ];
        for (now, expected) in table {
            assert_eq!(state.take(LIMIT, at(now)), expected, "{now}");
        }
    }

    #[test]
    fn refused_requests_do_not_count_and_a_pause_restores_the_burst() {
        let mut state = RateState::unused();
        for _ in 0..1000 {
            // Refused requests are part of this test.
            let _counted = state.take(LIMIT, at(0));
        }
        assert!(!state.is_unused(at(299)));
        assert!(state.is_unused(at(300)));
        assert_eq!(state.take(LIMIT, at(300)), Ok(()));
    }
}
