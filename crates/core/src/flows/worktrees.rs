//! Worktrees of agents: planned, made, brought back, listed and removed.
//!
//! A worktree is recorded before git makes it. The commit that creates a session reserves the
//! worktree for it. The reservation ends when the session is removed, and moves with a handoff.

mod actions;
mod list;
mod make;
mod plan;
mod trust;

use crate::error::Result;
use crate::model::{AgentWorktree, Session};
use crate::ports::{Ports, WorktreeQuery};

pub use actions::{collect_garbage, diff, remove, restore, salvage};
pub use list::{find, list};
pub use make::{bring_back, make};
pub use plan::{WorktreePlan, place, plan};
pub use trust::is_trusted;

/// Returns the worktree in which a session works: the one with its folder, unless it is reserved
/// for another session.
pub async fn of_session(ports: &Ports, session: &Session) -> Result<Option<AgentWorktree>> {
    let query = WorktreeQuery { session: None, path: Some(session.cwd.clone()) };
    let found = ports.store.worktrees(&query).await?.pop();
    Ok(found.filter(|worktree| worktree.session.is_none_or(|owner| owner == session.id)))
}
