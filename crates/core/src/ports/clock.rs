//! Time and fresh identifiers.

use std::fmt::Debug;

use jiff::Timestamp;
use uuid::Uuid;

/// Time, and identifiers that depend on time or chance.
pub trait Clock: Debug + Send + Sync {
    fn now(&self) -> Timestamp;

    /// Returns a new UUIDv7: ours, in the order of time.
    fn new_id(&self) -> Uuid;

    /// Returns a new UUIDv4, the kind that vendors expect.
    fn random_id(&self) -> Uuid;
}
