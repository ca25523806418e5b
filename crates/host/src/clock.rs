//! The system clock, and ids that are generated from the time or at random.

use jiff::Timestamp;
use segue_core::ports::Clock;
use uuid::Uuid;

use crate::failpoints;

/// The only code that reads the system clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let now = Timestamp::now();
        now.checked_add(failpoints::clock_offset()).unwrap_or(now)
    }

    fn new_id(&self) -> Uuid {
        Uuid::now_v7()
    }

    fn random_id(&self) -> Uuid {
        Uuid::new_v4()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_ids_are_sorted_by_time_and_random_ids_are_version_4() {
        let ids: Vec<Uuid> = (0..1000).map(|_| SystemClock.new_id()).collect();
        assert!(ids.is_sorted());
        assert_eq!(ids[0].get_version_num(), 7);
        assert_eq!(SystemClock.random_id().get_version_num(), 4);
        assert_ne!(SystemClock.random_id(), SystemClock.random_id());
    }
}
