//! Which launches are alive, and below which holders: what tells an agent's calls from a person's.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use segue_core::model::{Launch, LaunchId, SessionId};
use segue_core::ports::Machine;

/// The launches that actors follow now.
#[derive(Debug, Default)]
pub(crate) struct LiveLaunches(Mutex<HashMap<LaunchId, Live>>);

#[derive(Clone, Copy, Debug)]
struct Live {
    session: SessionId,
    holder: Option<u32>,
}

/// Where a process comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// No launch of ours.
    Elsewhere,
    /// A launch of this session, which is alive.
    Launch(SessionId),
    /// A launch that is over.
    DeadLaunch,
}

impl LiveLaunches {
    pub(crate) fn insert(&self, launch: &Launch) {
        let holder = launch.holder.as_ref().map(|holder| holder.pid);
        self.all().insert(launch.id, Live { session: launch.session, holder });
    }

    pub(crate) fn remove(&self, launch: LaunchId) {
        self.all().remove(&launch);
    }

    /// Tells where a process comes from. Holders are subreapers, so whatever an agent starts stays
    /// below its holder: the ancestry tells, whatever the process did to its environment.
    pub(crate) fn origin(&self, machine: &dyn Machine, pid: u32) -> Origin {
        let ancestry = machine.ancestry(pid);
        let marks: Vec<LaunchId> = ancestry.iter().filter_map(|pid| machine.mark(*pid)).collect();
        let above = |live: &Live| live.holder.is_some_and(|holder| ancestry.contains(&holder));
        let found = self
            .all()
            .iter()
            .find_map(|(id, live)| (marks.contains(id) || above(live)).then_some(live.session));
        match found {
            Some(session) => Origin::Launch(session),
            None if marks.is_empty() => Origin::Elsewhere,
            None => Origin::DeadLaunch,
        }
    }

    fn all(&self) -> MutexGuard<'_, HashMap<LaunchId, Live>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
