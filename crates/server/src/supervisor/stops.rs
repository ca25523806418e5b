//! Requests to stop a session that waits for the right to start.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use segue_core::model::SessionId;
use tokio::sync::watch;

/// How often each session was to be stopped. An actor that waits at a gate handles no messages, but
/// sees this change.
#[derive(Debug, Default)]
pub(crate) struct Stops(Mutex<HashMap<SessionId, watch::Sender<u64>>>);

impl Stops {
    /// Notes a request to stop.
    pub(crate) fn request(&self, session: SessionId) {
        self.all().entry(session).or_default().send_modify(|count| *count += 1);
    }

    /// Follows the requests that come from now on.
    pub(crate) fn follow(&self, session: SessionId) -> watch::Receiver<u64> {
        self.all().entry(session).or_default().subscribe()
    }

    pub(crate) fn forget(&self, session: SessionId) {
        self.all().remove(&session);
    }

    fn all(&self) -> MutexGuard<'_, HashMap<SessionId, watch::Sender<u64>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
