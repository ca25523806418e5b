//! The time and new identifiers.

use std::fmt::Debug;

use jiff::Timestamp;
use uuid::Uuid;

/// The time, and identifiers that depend on time or randomness.
pub trait Clock: Debug + Send + Sync {
    fn now(&self) -> Timestamp;

    /// Returns a new UUIDv7 for Segue's own ids. They sort by time.
    fn new_id(&self) -> Uuid;

    /// Returns a new UUIDv4, the version that vendors expect.
    fn random_id(&self) -> Uuid;
}
