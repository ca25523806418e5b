//! Which launches are alive, and below which holders: what tells an agent's calls from a person's.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use segue_core::model::{Launch, LaunchId, SessionId};
use segue_core::ports::Machine;

/// The launches that actors follow now.
#[derive(Debug, Default)]
pub(crate) struct LiveLaunches(Mutex<HashMap<LaunchId, SessionId>>);

/// Where a process comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// No launch.
    Elsewhere,
    /// A launch of this session, which is alive.
    Launch(SessionId),
    /// A launch that is over, or not one of ours.
    DeadLaunch,
}

impl LiveLaunches {
    pub(crate) fn insert(&self, launch: &Launch) {
        self.all().insert(launch.id, launch.session);
    }

    pub(crate) fn remove(&self, launch: LaunchId) {
        self.all().remove(&launch);
    }

    /// Tells where a process comes from. Holders are subreapers, so whatever an agent starts stays
    /// below its holder. The outermost mark counts: an agent can give what it starts another one.
    pub(crate) fn origin(&self, machine: &dyn Machine, pid: u32) -> Origin {
        let ancestry = machine.ancestry(pid);
        match ancestry.iter().rev().find_map(|pid| machine.mark(*pid)) {
            None => Origin::Elsewhere,
            Some(mark) => {
                self.all().get(&mark).map_or(Origin::DeadLaunch, |it| Origin::Launch(*it))
            }
        }
    }

    fn all(&self) -> MutexGuard<'_, HashMap<LaunchId, SessionId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
