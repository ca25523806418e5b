//! Pauses between background requests to a forge.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use segue_core::ports::RequestPace;
use tokio::time::{Instant, sleep_until};

/// The time between two requests.
const PAUSE: Duration = Duration::from_millis(200);

/// Allows one request in each period of 200 milliseconds.
#[derive(Debug, Default)]
pub(super) struct RegularPace {
    /// When the next request may be sent.
    next: Mutex<Option<Instant>>,
}

impl RegularPace {
    /// Reserves the next period, and returns its beginning.
    fn reserve(&self) -> Instant {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let turn = next.map_or(now, |next| next.max(now));
        *next = Some(turn + PAUSE);
        turn
    }
}

#[async_trait]
impl RequestPace for RegularPace {
    async fn turn(&self) {
        sleep_until(self.reserve()).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_at_the_same_time_get_one_period_after_another() {
        let pace = RegularPace::default();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let _guard = runtime.enter();
        let turns = [pace.reserve(), pace.reserve(), pace.reserve()];
        assert!(turns[1] - turns[0] >= PAUSE && turns[2] - turns[1] >= PAUSE, "{turns:?}");
    }
}
