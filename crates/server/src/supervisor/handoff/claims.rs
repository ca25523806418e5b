//! Tracks the sessions that take part in a handoff. A session takes part in at most one handoff at
//! a time.

use std::collections::BTreeSet;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};

use segue_core::model::{Session, SessionId};
use segue_core::{Error, Result};
use tokio::sync::Notify;

/// The sessions that take part in a handoff now.
#[derive(Clone, Debug, Default)]
pub(crate) struct HandoffClaims {
    sessions: Arc<Mutex<BTreeSet<SessionId>>>,
    released: Arc<Notify>,
}

/// Reserves sessions for one handoff until it is dropped.
#[derive(Debug)]
pub(super) struct HandoffClaim {
    claims: HandoffClaims,
    ids: Vec<SessionId>,
}

impl HandoffClaims {
    /// Reserves sessions for a handoff. Fails if another handoff has reserved one of them.
    pub(super) fn claim<'a>(
        &self,
        sessions: impl Iterator<Item = &'a Session>,
    ) -> Result<HandoffClaim> {
        let mut claim = HandoffClaim { claims: self.clone(), ids: Vec::new() };
        for session in sessions {
            if !self.sessions().insert(session.id) {
                let address = session.address();
                return Err(Error::conflict(format!("`{address}` is being handed over already"))
                    .hint("wait for its end, then run `segue ls` to see where it goes on"));
            }
            claim.ids.push(session.id);
        }
        Ok(claim)
    }

    /// Reserves a session for a handoff, after any other handoff of that session has ended.
    pub(super) async fn claim_after_others(&self, session: &Session) -> HandoffClaim {
        loop {
            let mut released = pin!(self.released.notified());
            // Enable it before the check, so that a claim that is dropped in between is noticed.
            released.as_mut().enable();
            if let Ok(claim) = self.claim(std::iter::once(session)) {
                return claim;
            }
            released.await;
        }
    }

    /// Waits until none of these sessions takes part in a handoff. Returns whether it had to wait,
    /// because then the sessions may have changed.
    pub(in super::super) async fn wait_for(&self, sessions: &[SessionId]) -> bool {
        let mut has_waited = false;
        loop {
            let mut released = pin!(self.released.notified());
            // Enable it before the check, so that a claim that is dropped in between is noticed.
            released.as_mut().enable();
            if sessions.iter().all(|id| !self.sessions().contains(id)) {
                return has_waited;
            }
            has_waited = true;
            released.await;
        }
    }

    fn sessions(&self) -> std::sync::MutexGuard<'_, BTreeSet<SessionId>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for HandoffClaim {
    fn drop(&mut self) {
        // A claim without sessions must not wake the task that failed to get it. That task would
        // try again at once, in an endless loop.
        if self.ids.is_empty() {
            return;
        }
        let mut sessions = self.claims.sessions();
        self.ids.iter().for_each(|id| {
            sessions.remove(id);
        });
        drop(sessions);
        self.claims.released.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use std::pin::Pin;
    use std::task::{Context, Waker};

    use super::*;

    fn is_pending(future: Pin<&mut impl Future>) -> bool {
        future.poll(&mut Context::from_waker(Waker::noop())).is_pending()
    }

    #[tokio::test]
    async fn refused_claim_does_not_wake_a_waiting_task() {
        let claims = HandoffClaims::default();
        let ids: [SessionId; 1] = ["00000000-0000-7000-8000-000000000001".parse().unwrap()];
        claims.sessions().extend(ids);
        let mut released = pin!(claims.released.notified());
        released.as_mut().enable();
        drop(HandoffClaim { claims: claims.clone(), ids: Vec::new() });
        assert!(is_pending(released));
    }

    #[tokio::test]
    async fn wait_for_returns_after_the_handoff_of_the_session_ends() {
        let claims = HandoffClaims::default();
        let ids = ["00000000-0000-7000-8000-000000000001".parse::<SessionId>().unwrap()];
        claims.sessions().extend(ids);
        let claim = HandoffClaim { claims: claims.clone(), ids: ids.to_vec() };
        let mut waiting = pin!(claims.wait_for(&ids));
        assert!(is_pending(waiting.as_mut()));
        drop(claim);
        assert!(waiting.await);
        assert!(!claims.wait_for(&ids).await);
    }
}
