//! Things to remove, for tests.

use jiff::Timestamp;
use uuid::Uuid;

use super::{RemovalCandidate, RemovalClass};
use crate::model::{HousekeepingItem, LaunchId, LaunchIndexEntry, SessionId};

/// Returns a time that is this many days after the first day.
pub(super) fn day(number: i64) -> Timestamp {
    Timestamp::from_second(1_700_000_000 + number * 86_400).unwrap()
}

/// Returns something that can be removed. Its number identifies it.
pub(super) fn candidate(
    number: u128,
    class: RemovalClass,
    (last_used, bytes): (i64, u64),
) -> RemovalCandidate {
    let launch = LaunchIndexEntry {
        id: LaunchId::new(Uuid::from_u128(number)),
        session: SessionId::new(Uuid::from_u128(1)),
        number: 1,
        ended_at: None,
    };
    let item = HousekeepingItem::Launch(launch);
    RemovalCandidate { item, class, last_used: day(last_used), bytes, hold: None }
}
