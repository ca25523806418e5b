//! Worktrees of agents: planned, made, brought back, listed and removed.
//!
//! A worktree is recorded before git makes it. The commit of a launch reserves the worktree for the
//! session. The reservation ends when the session is removed, and moves with a handoff. Another
//! session of the same agent can take it over from a headless session whose last turn is over.

mod actions;
mod commands;
mod list;
mod make;
mod plan;
mod restore;
mod trust;

use crate::error::{Error, Result};
use crate::model::{AgentWorktree, Session, SessionId};
use crate::ports::{Ports, WorktreeQuery};

pub use actions::{diff, removable, remove, salvage, unused};
pub use list::{find, list};
pub use make::{bring_back, make, prepare};
pub use plan::{WorktreePlan, place, plan};
pub(crate) use plan::{owner, reserved};
pub use restore::restore;
pub use trust::is_trusted;

/// Returns the present record of a worktree. Fails if it was deleted meanwhile.
pub async fn again(ports: &Ports, worktree: &AgentWorktree) -> Result<AgentWorktree> {
    let query = WorktreeQuery { session: None, path: Some(worktree.path.clone()) };
    let found = ports.store.worktrees(&query).await?.pop();
    found.ok_or_else(|| {
        let path = worktree.path.display();
        Error::not_found(format!("the worktree `{path}` is not recorded any more"))
    })
}

/// Returns the worktree in which a session works: the one with its folder. `None` for a session that
/// an agent has started in the worktree of another session.
pub async fn of_session(ports: &Ports, session: &Session) -> Result<Option<AgentWorktree>> {
    let query = WorktreeQuery { session: None, path: Some(session.cwd.clone()) };
    let found = ports.store.worktrees(&query).await?.pop();
    let is_own = |owner: SessionId| owner == session.id || session.parent.is_none();
    Ok(found.filter(|worktree| worktree.session.is_none_or(is_own)))
}
