//! Makes worktrees for new sessions, and carries out requests about worktrees.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};

use segue_core::api::{
    FailedTarget, WorktreeActionReport, WorktreeActionRequest, WorktreeDiffReport,
    WorktreeDiffRequest, WorktreeGcReport, WorktreeGcRequest, WorktreeList, WorktreesRequest,
};
use segue_core::flows::worktrees::{self, WorktreePlan};
use segue_core::model::{AgentWorktree, BranchName, Environment, EventPayload, Principal, Session};
use segue_core::rules::scope::RestrictedAction;
use segue_core::{Error, Result};
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
            if let Some(claim) = self.try_claim(path) {
                return claim;
            }
            released.await;
        }
    }

    /// Reserves a worktree. `None` if another request has it.
    fn try_claim(&self, path: &Path) -> Option<WorktreeClaim> {
        let is_free = self.paths().insert(path.to_owned());
        is_free.then(|| WorktreeClaim { claims: self.clone(), path: path.to_owned() })
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
    /// Makes the worktree of a new session. Fails if the disk budget is used up.
    pub(super) async fn make_worktree(
        self: &Arc<Self>,
        plan: Option<&WorktreePlan>,
        environment: &Environment,
    ) -> Result<Option<MadeWorktree>> {
        let Some(plan) = plan else { return Ok(None) };
        self.check_disk(&plan.worktree).await?;
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

    /// Removes a worktree. Fails if another request uses it. A start of its session that was
    /// requested before is a conflict; later starts, also of other sessions, wait for the claim before
    /// they prepare the worktree. So the teardown commands run outside of the actor, which handles
    /// other requests meanwhile.
    pub(super) async fn remove_worktree(
        self: &Arc<Self>,
        worktree: &AgentWorktree,
        environment: &Environment,
    ) -> Result<WorktreeActionReport> {
        let _claim =
            self.worktree_claims.try_claim(&worktree.path).ok_or_else(|| in_use(worktree))?;
        let worktree = worktrees::again(&self.ports, worktree).await?;
        if let Some(session) = worktree.session {
            self.ask(session, |reply| SessionRequest::CheckNoStart { reply }).await?;
        }
        let removed = worktrees::remove(&self.ports, &worktree, (&[], environment)).await;
        self.housekeeping.room.notify_waiters();
        removed
    }
}

fn in_use(worktree: &AgentWorktree) -> Error {
    let path = worktree.path.display();
    Error::conflict(format!("another command makes or changes the worktree `{path}`"))
        .hint("run the command again when that is done; `segue worktree ls` shows who works there")
}

/// Lists worktrees.
pub(crate) async fn list_worktrees(
    supervisor: &Arc<Supervisor>,
    principal: &Principal,
    request: &WorktreesRequest,
) -> Result<WorktreeList> {
    principal.allow(RestrictedAction::ReadAll)?;
    let worktrees = worktrees::list(&supervisor.ports, principal, request).await?;
    Ok(WorktreeList { worktrees, next: None })
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
    let (mut removed, mut failed) = (Vec::new(), Vec::new());
    for worktree in worktrees::unused(&supervisor.ports).await? {
        if request.is_dry_run {
            removed.push(worktrees::removable(&worktree));
            continue;
        }
        match supervisor.remove_worktree(&worktree, &request.environment).await {
            Ok(report) => removed.push(report),
            Err(error) => {
                let target = worktree.path.display().to_string();
                failed.push(FailedTarget { target, error });
            }
        }
    }
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
