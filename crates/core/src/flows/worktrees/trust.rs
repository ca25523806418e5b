//! Whether an agent may trust its worktree without asking a person.

use crate::error::Result;
use crate::flows::{SessionState, trust};
use crate::model::{AgentWorktree, FleetScale, Project, RepositorySource};
use crate::ports::Ports;

/// Returns whether the user has trusted the project that a session's worktree belongs to. A branch
/// of a fork is never trusted: its files are not the project's.
pub async fn is_trusted(ports: &Ports, state: &SessionState) -> Result<bool> {
    let Some(worktree) = state.worktree.as_ref().filter(|it| !it.is_from_fork()) else {
        return Ok(false);
    };
    let fleet = ports.store.fleet(&state.session.fleet).await?;
    let Some(folder) = fleet.and_then(|fleet| fleet.folder) else { return Ok(false) };
    let project = ports.projects.read(&folder)?.project(&FleetScale::default())?;
    Ok(belongs_to(worktree, &project) && trust::require(ports, &project).await.is_ok())
}

/// Returns whether the project is in the repository of the worktree, or names it in its file.
fn belongs_to(worktree: &AgentWorktree, project: &Project) -> bool {
    match &worktree.source {
        RepositorySource::Folder(main) => project.folder.starts_with(main),
        RepositorySource::Url(url) => {
            let orders = project.agents.iter().filter_map(|agent| agent.worktree.as_ref());
            let mut urls = orders.filter_map(|order| order.url.as_ref());
            urls.any(|named| named.id() == url.id())
        }
    }
}
