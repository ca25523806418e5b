//! Sessions whose conversation is being carried: one handoff at a time has to do with each.

use std::collections::BTreeSet;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};

use segue_core::model::{Session, SessionId};
use segue_core::{Error, Result};
use tokio::sync::Notify;

/// Which sessions have to do with a handoff now.
#[derive(Clone, Debug, Default)]
pub(crate) struct OnTheWay {
    sessions: Arc<Mutex<BTreeSet<SessionId>>>,
    released: Arc<Notify>,
}

/// These sessions have to do with this handoff alone, until it is dropped.
#[derive(Debug)]
pub(super) struct Claim {
    on_the_way: OnTheWay,
    ids: Vec<SessionId>,
}

impl OnTheWay {
    /// Claims sessions for a handoff; another one's claim is a conflict.
    pub(super) fn claim<'a>(&self, sessions: impl Iterator<Item = &'a Session>) -> Result<Claim> {
        let mut claim = Claim { on_the_way: self.clone(), ids: Vec::new() };
        for session in sessions {
            if !self.sessions().insert(session.id) {
                let address = session.address();
                return Err(Error::conflict(format!("`{address}` is being handed over already"))
                    .hint("wait for that, then run `segue ls` to see where it goes on"));
            }
            claim.ids.push(session.id);
        }
        Ok(claim)
    }

    /// Claims a session for a handoff as soon as no other handoff has to do with it.
    pub(super) async fn claim_after_others(&self, session: &Session) -> Claim {
        loop {
            let mut released = pin!(self.released.notified());
            // Before the look: a claim that is dropped in between is noticed.
            released.as_mut().enable();
            if let Ok(claim) = self.claim(std::iter::once(session)) {
                return claim;
            }
            released.await;
        }
    }

    fn sessions(&self) -> std::sync::MutexGuard<'_, BTreeSet<SessionId>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        let mut sessions = self.on_the_way.sessions();
        self.ids.iter().for_each(|id| {
            sessions.remove(id);
        });
        drop(sessions);
        self.on_the_way.released.notify_waiters();
    }
}
