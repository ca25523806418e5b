//! The live launches with their holders. They distinguish requests of agents from requests of users.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use segue_core::Result;
use segue_core::model::{Launch, LaunchId, SessionId};
use segue_core::ports::Machine;
use segue_core::rules::origin::{CallerEvidence, CallerRefusal, LiveLaunch, Origin, origin};

/// The launches that actors follow now.
#[derive(Debug, Default)]
pub(crate) struct LiveLaunches(Mutex<HashMap<LaunchId, (SessionId, LiveLaunch)>>);

impl LiveLaunches {
    pub(crate) fn insert(&self, machine: &dyn Machine, launch: &Launch) {
        let in_cgroup = |agent| machine.has_cgroup(agent, launch.id);
        let live = LiveLaunch {
            launch: launch.id,
            holder: launch.holder.clone(),
            has_cgroup: launch.agent.as_ref().is_some_and(in_cgroup),
        };
        self.all().insert(launch.id, (launch.session, live));
    }

    pub(crate) fn remove(&self, launch: LaunchId) {
        self.all().remove(&launch);
    }

    /// Returns the session whose launch a request comes from. `None` if a user made the request.
    /// Fails if the caller cannot be identified.
    pub(crate) fn caller(&self, evidence: &CallerEvidence) -> Result<Option<SessionId>> {
        let live: Vec<LiveLaunch> = self.all().values().map(|(_, live)| live.clone()).collect();
        match origin(evidence, &live) {
            Origin::Person => Ok(None),
            Origin::Refused(refusal) => Err(refusal.into()),
            Origin::Launch(launch) => {
                let session = self.all().get(&launch).map(|(session, _)| *session);
                session.map(Some).ok_or_else(|| CallerRefusal::DeadLaunch.into())
            }
        }
    }

    /// Returns how many launches are alive, and how many of them have a cgroup.
    pub(crate) fn count(&self) -> (usize, usize) {
        let all = self.all();
        (all.len(), all.values().filter(|(_, live)| live.has_cgroup).count())
    }

    fn all(&self) -> MutexGuard<'_, HashMap<LaunchId, (SessionId, LiveLaunch)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
