//! Compares, salvages and removes worktrees.

use super::commands::tear_down;
use super::make::{event, not_set_up, salvage_since};
use crate::api::{
    ChangedFile, WorktreeActionReport, WorktreeDiffReport, WorktreeDiffRequest, WorktreeOutcome,
};
use crate::error::{Error, Result};
use crate::failpoint;
use crate::flows::credentials::git_caller;
use crate::model::{
    AgentWorktree, Environment, EventPayload, FileDiff, NewEvent, RefName, RemovedWorktreeFacts,
    SalvageOutcome, WorktreeDiff, WorktreeRemoval,
};
use crate::ports::{
    Change, Commit, InspectDepth, Ports, RemovalOrder, SessionQuery, SessionSummary, WorktreeQuery,
};

/// The longest patch that is shown.
const MAX_PATCH_BYTES: usize = 8 << 20;

/// Compares a worktree with the commit at which it left its base.
pub async fn diff(
    ports: &Ports,
    worktree: &AgentWorktree,
    request: &WorktreeDiffRequest,
) -> Result<WorktreeDiffReport> {
    let limit = if request.only_stat { 0 } else { MAX_PATCH_BYTES };
    let base = request.base.as_deref();
    let caller = git_caller(ports, worktree, &request.environment)?;
    let compared = ports.checkouts.diff(&worktree.place(), base, limit, &caller).await?;
    let WorktreeDiff { base, files, patch, is_cut } = compared;
    let patch = (!request.only_stat).then(|| String::from_utf8_lossy(&patch).into_owned());
    Ok(WorktreeDiffReport {
        worktree: worktree.id,
        path: worktree.path.clone(),
        branch: worktree.branch.clone(),
        base: base.map(|base| base.to_string()),
        files: files.into_iter().map(changed_file).collect(),
        is_cut: is_cut && patch.is_some(),
        patch,
    })
}

fn changed_file(FileDiff { path, lines }: FileDiff) -> ChangedFile {
    let path = path.to_string_lossy().into_owned();
    ChangedFile { path, added: lines.map(|it| it.0), removed: lines.map(|it| it.1) }
}

/// Stores everything in a worktree in a salvage. The worktree stays.
pub async fn salvage(
    ports: &Ports,
    worktree: &AgentWorktree,
    include: &[String],
) -> Result<WorktreeActionReport> {
    let outcome = ports.checkouts.salvage(&worktree.place(), include).await?;
    Ok(report(worktree, WorktreeOutcome::Salvaged, reference(&outcome)))
}

fn reference(outcome: &SalvageOutcome) -> Option<RefName> {
    outcome.salvage().map(|salvage| salvage.reference.clone())
}

pub(super) fn report(
    worktree: &AgentWorktree,
    outcome: WorktreeOutcome,
    salvage: Option<RefName>,
) -> WorktreeActionReport {
    let AgentWorktree { id, path, branch, .. } = worktree.clone();
    WorktreeActionReport { worktree: id, path, branch, outcome, salvage, notices: Vec::new() }
}

/// Salvages a worktree, runs its teardown commands, and removes its folder. Fails if the session
/// that works there runs. The session stays, and gets the worktree back when it comes back.
pub async fn remove(
    ports: &Ports,
    worktree: &AgentWorktree,
    (include, environment): (&[String], &Environment),
) -> Result<WorktreeActionReport> {
    if let Some(removal) = worktree.complete_removal() {
        let salvage = removal.salvage.clone();
        return Ok(report(worktree, WorktreeOutcome::Removed, salvage));
    }
    let used_by = running_session(ports, worktree).await?;
    let used_by = used_by.map(|summary| summary.session.address());
    let order = RemovalOrder { place: worktree.place(), include: include.to_vec(), used_by };
    // An interrupted removal is continued: its salvage may be older than this request.
    let at = worktree.removal.as_ref().map_or_else(|| ports.clock.now(), |removal| removal.at);
    let before = worktree.removal.as_ref().and_then(|removal| removal.salvage.clone());
    let mut begun = WorktreeRemoval { at, is_done: false, salvage: before, onto: None };
    set_removal(ports, worktree, Some(begun.clone()), Vec::new()).await?;
    failpoint::hit("worktree.remove.before");
    let notices = clean_up(ports, worktree, (&order, &mut begun), environment).await?;
    let salvage = match ports.checkouts.remove(&order).await {
        // The salvage from before the teardown has everything that was in the worktree.
        Ok(outcome) => begun.salvage.or_else(|| reference(&outcome)),
        Err(_) if ports.machine.folder(&worktree.path).is_err() => match begun.salvage {
            Some(salvage) => Some(salvage),
            None => salvage_since(ports, worktree, at).await?,
        },
        Err(error) => {
            set_removal(ports, worktree, None, Vec::new()).await?;
            return Err(error);
        }
    };
    failpoint::hit("worktree.removed.after");
    let payload = EventPayload::WorktreeRemoved(RemovedWorktreeFacts {
        path: worktree.path.display().to_string(),
        branch: worktree.branch.to_string(),
        salvage: salvage.clone(),
    });
    let done = WorktreeRemoval { at, is_done: true, salvage: salvage.clone(), onto: None };
    let events = vec![event(ports, worktree.session, payload)];
    set_removal(ports, worktree, Some(done), events).await?;
    if notices.is_empty() {
        ports.commands.remove_log(worktree.id);
    }
    Ok(WorktreeActionReport { notices, ..report(worktree, WorktreeOutcome::Removed, salvage) })
}

/// Salvages a worktree and runs its teardown commands. Returns a warning if a command fails: the
/// removal goes on. Does nothing if there are no commands, or if the worktree cannot be removed.
async fn clean_up(
    ports: &Ports,
    worktree: &AgentWorktree,
    (order, begun): (&RemovalOrder, &mut WorktreeRemoval),
    environment: &Environment,
) -> Result<Vec<String>> {
    if worktree.commands.teardown.is_empty() || order.used_by.is_some() {
        return Ok(Vec::new());
    }
    let facts = ports.checkouts.inspect(&order.place, InspectDepth::State).await;
    if !facts.is_ok_and(|facts| facts.listed.locked.is_none()) {
        return Ok(Vec::new());
    }
    if begun.salvage.is_none() {
        // The removal makes the same salvage, and reports why it cannot.
        let Ok(outcome) = ports.checkouts.salvage(&order.place, &order.include).await else {
            return Ok(Vec::new());
        };
        begun.salvage = reference(&outcome);
    }
    let (id, removal) = (worktree.id, Some(begun.clone()));
    let recorded = Change::SetWorktreeRemoval { worktree: id, removal };
    let changes = [recorded].into_iter().chain(not_set_up(worktree)).collect();
    ports.store.commit(Commit { changes, events: Vec::new() }).await?;
    let failed = tear_down(ports, worktree, environment).await.err();
    Ok(failed.iter().map(Error::in_one_line).collect())
}

pub(super) async fn set_removal(
    ports: &Ports,
    worktree: &AgentWorktree,
    removal: Option<WorktreeRemoval>,
    events: Vec<NewEvent>,
) -> Result<()> {
    let changes = vec![Change::SetWorktreeRemoval { worktree: worktree.id, removal }];
    ports.store.commit(Commit { changes, events }).await?;
    Ok(())
}

/// Returns a running session in this worktree: the one that it is reserved for, or any other.
async fn running_session(
    ports: &Ports,
    worktree: &AgentWorktree,
) -> Result<Option<SessionSummary>> {
    let query = SessionQuery { cwd: Some(worktree.path.clone()), ..SessionQuery::default() };
    let sessions = ports.store.sessions(&query).await?;
    Ok(sessions.into_iter().find(|it| it.open.is_some()))
}

/// Returns the worktrees that no session uses and whose folders exist.
pub async fn unused(ports: &Ports) -> Result<Vec<AgentWorktree>> {
    let mut all = ports.store.worktrees(&WorktreeQuery::default()).await?;
    all.retain(|it| it.session.is_none() && it.complete_removal().is_none());
    Ok(all)
}

/// Describes a worktree that could be removed.
pub fn removable(worktree: &AgentWorktree) -> WorktreeActionReport {
    report(worktree, WorktreeOutcome::Removable, None)
}
