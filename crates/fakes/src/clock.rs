//! A clock that a test moves, and numbered ids.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use jiff::{SignedDuration, Timestamp};
use segue_core::ports::Clock;
use uuid::Uuid;

use crate::samples;

/// The time stands still until [`FakeClock::advance`] is called.
#[derive(Debug)]
pub struct FakeClock {
    now: Mutex<Timestamp>,
    ids: AtomicU64,
}

/// The first id that the clock generates. Smaller numbers are for ids that tests choose.
const FIRST_ID: u64 = 1_000;

impl Default for FakeClock {
    fn default() -> Self {
        Self { now: Mutex::new(samples::start()), ids: AtomicU64::new(FIRST_ID) }
    }
}

impl FakeClock {
    pub fn advance(&self, by: SignedDuration) {
        let mut now = self.now.lock().unwrap();
        *now = now.checked_add(by).unwrap();
    }

    fn next(&self) -> u128 {
        u128::from(self.ids.fetch_add(1, Ordering::Relaxed))
    }
}

impl Clock for FakeClock {
    fn now(&self) -> Timestamp {
        *self.now.lock().unwrap()
    }

    fn new_id(&self) -> Uuid {
        Uuid::from_u128(self.next())
    }

    fn random_id(&self) -> Uuid {
        Uuid::from_u128(self.next())
    }
}
