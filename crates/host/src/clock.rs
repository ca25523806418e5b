//! The system's clock, and identifiers that depend on it or on chance.

use jiff::Timestamp;
use segue_core::ports::Clock;
use uuid::Uuid;

use crate::failpoints;

/// The only user of the system's clock.
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
    fn our_ids_are_in_the_order_of_time_and_the_vendors_are_random() {
        let ids: Vec<Uuid> = (0..1000).map(|_| SystemClock.new_id()).collect();
        assert!(ids.is_sorted());
        assert_eq!(ids[0].get_version_num(), 7);
        assert_eq!(SystemClock.random_id().get_version_num(), 4);
        assert_ne!(SystemClock.random_id(), SystemClock.random_id());
    }
}
