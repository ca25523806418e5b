//! Counts what agents start.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use segue_core::Result;
use segue_core::flows::tasks;
use segue_core::model::{Principal, SessionId};
use segue_core::rules::task_tree::{StartWindow, TreeLimits};

use super::Supervisor;

/// The starts of each agent within the last minute.
#[derive(Debug, Default)]
pub(crate) struct AgentStarts {
    windows: Mutex<HashMap<SessionId, StartWindow>>,
}

impl Supervisor {
    /// Counts a start of an agent, just before it is recorded. Fails if the agent starts too often. The
    /// user may always start something.
    pub(super) fn take_start(&self, principal: &Principal, limits: &TreeLimits) -> Result<()> {
        let Principal::Agent(own) = principal else { return Ok(()) };
        let now = self.ports.clock.now();
        let mut windows = self.agent_starts.windows.lock().unwrap_or_else(PoisonError::into_inner);
        windows.retain(|_, window| !window.is_empty(now));
        let taken = windows.entry(own.id).or_default().take(limits, now);
        drop(windows);
        taken.map_err(|refusal| tasks::refused(own, refusal))
    }
}
