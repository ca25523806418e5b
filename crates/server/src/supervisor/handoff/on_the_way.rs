//! Sessions whose conversation is being carried: one handoff at a time has to do with each.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use segue_core::model::{Session, SessionId};
use segue_core::{Error, Result};

/// Which sessions have to do with a handoff now.
#[derive(Clone, Debug, Default)]
pub(crate) struct OnTheWay(Arc<Mutex<BTreeSet<SessionId>>>);

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

    fn sessions(&self) -> std::sync::MutexGuard<'_, BTreeSet<SessionId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        let mut sessions = self.on_the_way.sessions();
        self.ids.iter().for_each(|id| {
            sessions.remove(id);
        });
    }
}
