//! Waits for signals and times, for the event loops of holders and of attached clients.

use std::future::pending;
use std::time::Duration;

use segue_core::{Error, Result};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::{Instant, sleep_until};

/// A pause between two keys. It is longer than a terminal takes between the bytes of one key, and
/// too short for a user to notice.
pub(super) const KEY_PAUSE: Duration = Duration::from_millis(30);

/// Waits until `time`. Without a time, it waits forever.
pub(super) async fn at(time: Option<Instant>) {
    match time {
        Some(time) => sleep_until(time).await,
        None => pending().await,
    }
}

/// Begins to receive a signal.
pub(super) fn listen_to(kind: SignalKind) -> Result<Signal> {
    signal(kind).map_err(|error| Error::internal("cannot receive signals").caused_by(error))
}
