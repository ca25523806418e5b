//! Makes worktrees for new sessions, and carries out requests about worktrees.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};

use segue_core::Result;
use segue_core::api::{
    WorktreeActionReport, WorktreeActionRequest, WorktreeDiffReport, WorktreeDiffRequest,
    WorktreeGcReport, WorktreeGcRequest, WorktreeList, WorktreesRequest,
};
use segue_core::flows::worktrees::{self, WorktreePlan};
use segue_core::model::{AgentWorktree, BranchName, Environment, EventPayload, Principal, Session};
use segue_core::rules::scope::RestrictedAction;
use tokio::sync::Notify;

use super::{SessionRequest, Supervisor};

/// The worktrees that are being made or changed, by their paths.
#[derive(Clone, Debug, Default)]
pub(super) struct WorktreeClaims {
    paths: Arc<Mutex<BTreeSet<PathBuf>>>,
    released: Arc<Notify>,
}

/// Reserves a worktree for one request until it is dropped.
#[derive(Debug)]
pub(super) struct WorktreeClaim {
    claims: WorktreeClaims,
    path: PathBuf,
}

impl WorktreeClaims {
    /// Reserves a worktree, after all other requests for it have ended.
    async fn claim(&self, path: &Path) -> WorktreeClaim {
        loop {
            let mut released = pin!(self.released.notified());
            // Enable it before the check, so that a claim that is dropped in between is noticed.
            released.as_mut().enable();
            if self.paths().insert(path.to_owned()) {
                return WorktreeClaim { claims: self.clone(), path: path.to_owned() };
            }
            released.await;
        }
    }

    fn paths(&self) -> std::sync::MutexGuard<'_, BTreeSet<PathBuf>> {
        self.paths.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for WorktreeClaim {
    fn drop(&mut self) {
        self.claims.paths().remove(&self.path);
        self.claims.released.notify_waiters();
    }
}

/// A worktree that was made for a new session. No other request gets it before the session is
/// recorded and this is dropped.
#[derive(Debug)]
pub(super) struct MadeWorktree {
    pub(super) event: EventPayload,
    _claim: WorktreeClaim,
}

impl Supervisor {
    /// Makes the worktree of a new session.
    pub(super) async fn make_worktree(
        &self,
        plan: Option<&WorktreePlan>,
        environment: &Environment,
    ) -> Result<Option<MadeWorktree>> {
        let Some(plan) = plan else { return Ok(None) };
        let claim = self.worktree_claims.claim(&plan.worktree.path).await;
        let event = worktrees::make(&self.ports, plan, environment).await?;
        Ok(Some(MadeWorktree { event, _claim: claim }))
    }

    /// Prepares the worktree of a session for a launch. Returns whether its folder was gone.
    pub(super) async fn prepare_worktree(
        &self,
        session: &Session,
        environment: &Environment,
    ) -> Result<bool> {
        let Some(worktree) = worktrees::of_session(&self.ports, session).await? else {
            return Ok(false);
        };
        let _claim = self.worktree_claims.claim(&worktree.path).await;
        worktrees::prepare(&self.ports, session, environment).await
    }

    /// Removes a worktree. The actor of its session does it, so that no process is started there
    /// meanwhile.
    async fn remove_worktree(
        self: &Arc<Self>,
        worktree: &AgentWorktree,
        environment: &Environment,
    ) -> Result<WorktreeActionReport> {
        // A headless session leaves its worktree to others, which its actor does not know.
        let _claim = self.worktree_claims.claim(&worktree.path).await;
        match worktree.session {
            Some(session) => {
                let environment = environment.clone();
                self.ask(session, |reply| SessionRequest::RemoveWorktree { environment, reply })
                    .await
            }
            None => worktrees::remove(&self.ports, worktree, (&[], environment)).await,
        }
    }
}

/// Lists worktrees.
pub(crate) async fn list_worktrees(
    supervisor: &Arc<Supervisor>,
    principal: &Principal,
    request: &WorktreesRequest,
) -> Result<WorktreeList> {
    principal.allow(RestrictedAction::ReadAll)?;
    let worktrees = worktrees::list(&supervisor.ports, principal, request).await?;
    Ok(WorktreeList { worktrees })
}

/// Compares a worktree with its base.
pub(crate) async fn diff_worktree(
    supervisor: &Arc<Supervisor>,
    principal: &Principal,
    request: &WorktreeDiffRequest,
) -> Result<WorktreeDiffReport> {
    principal.allow(RestrictedAction::ReadAll)?;
    let ports = &supervisor.ports;
    let worktree = worktrees::find(ports, principal, &request.name, &request.cwd).await?;
    worktrees::diff(ports, &worktree, request).await
}

/// Stores everything in a worktree in a salvage.
pub(crate) async fn salvage_worktree(
    supervisor: &Arc<Supervisor>,
    principal: &Principal,
    request: &WorktreeActionRequest,
) -> Result<WorktreeActionReport> {
    let worktree = found(supervisor, principal, request).await?;
    worktrees::salvage(&supervisor.ports, &worktree, &[]).await
}

/// Salvages and removes a worktree.
pub(crate) async fn remove_worktree(
    supervisor: &Arc<Supervisor>,
    principal: &Principal,
    request: &WorktreeActionRequest,
) -> Result<WorktreeActionReport> {
    let worktree = found(supervisor, principal, request).await?;
    supervisor.remove_worktree(&worktree, &request.environment).await
}

/// Makes a removed worktree again.
pub(crate) async fn restore_worktree(
    supervisor: &Arc<Supervisor>,
    principal: &Principal,
    request: &WorktreeActionRequest,
) -> Result<WorktreeActionReport> {
    let branch = request.branch.as_deref().map(BranchName::parse).transpose()?;
    let worktree = found(supervisor, principal, request).await?;
    let _claim = supervisor.worktree_claims.claim(&worktree.path).await;
    worktrees::restore(&supervisor.ports, &worktree, (branch, &request.environment)).await
}

/// Removes the worktrees that no session uses.
pub(crate) async fn collect_garbage(
    supervisor: &Arc<Supervisor>,
    principal: &Principal,
    request: &WorktreeGcRequest,
) -> Result<WorktreeGcReport> {
    principal.allow(RestrictedAction::MakeWorktree)?;
    let how = (request.is_dry_run, &request.environment);
    let claim = async |path: &Path| supervisor.worktree_claims.claim(path).await;
    let (removed, failed) = worktrees::collect_garbage(&supervisor.ports, how, claim).await?;
    Ok(WorktreeGcReport { removed, failed })
}

async fn found(
    supervisor: &Arc<Supervisor>,
    principal: &Principal,
    request: &WorktreeActionRequest,
) -> Result<AgentWorktree> {
    principal.allow(RestrictedAction::MakeWorktree)?;
    worktrees::find(&supervisor.ports, principal, &request.name, &request.cwd).await
}
