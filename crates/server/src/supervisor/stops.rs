//! Requests to stop a session that waits for permission to start.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use segue_core::model::SessionId;
use tokio::sync::watch;

/// Counts the requests to stop for each session. An actor that waits at a gate handles no messages,
/// but notices this change.
#[derive(Debug, Default)]
pub(crate) struct Stops(Mutex<HashMap<SessionId, watch::Sender<u64>>>);

impl Stops {
    /// Records a request to stop.
    pub(crate) fn request(&self, session: SessionId) {
        self.all().entry(session).or_default().send_modify(|count| *count += 1);
    }

    /// Returns a receiver that is notified of later requests.
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
