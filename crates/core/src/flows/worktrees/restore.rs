//! Restores removed worktrees from their salvages.

use jiff::Timestamp;

use super::actions::report;
use super::commands::set_up;
use super::make::{complete, event, made_again, made_facts, not_set_up, salvage_since};
use crate::api::{WorktreeActionReport, WorktreeOutcome};
use crate::error::{Error, Result};
use crate::failpoint;
use crate::flows::credentials::git_caller;
use crate::model::{
    AgentWorktree, BranchName, EnsuredWorktree, Environment, EventPayload, RefName, WorktreeRemoval,
};
use crate::ports::{Change, Commit, Ports, RestorationOrder};
use crate::rules::shell::quoted;
use crate::rules::worktrees::notice;

/// Makes the folder of a removed worktree again, from the salvage of its removal. `branch` is a new
/// branch for it, if its own branch has moved; the worktree then belongs to that branch.
pub async fn restore(
    ports: &Ports,
    worktree: &AgentWorktree,
    (branch, environment): (Option<BranchName>, &Environment),
) -> Result<WorktreeActionReport> {
    let salvage = worktree.removal.as_ref().and_then(|removal| removal.salvage.clone());
    let salvage = match salvage {
        Some(salvage) => salvage,
        None => newest_salvage(ports, worktree).await?,
    };
    let is_there = ports.machine.folder(&worktree.path).is_ok();
    let made = match worktree.removal.is_some() && is_there {
        // An interrupted restoration is completed.
        true => {
            refuse_another_branch(worktree, branch.as_ref())?;
            made_again(ports, &worktree.as_restored(), environment).await?
        }
        false => restored(ports, worktree, (&salvage, branch), environment).await?,
    };
    failpoint::hit("worktree.restored.after");
    let restored = worktree.checked_out(made.branch.as_deref());
    let mut notices: Vec<String> = made.notices.iter().map(notice).collect();
    let payload = EventPayload::WorktreeMade(made_facts(&restored, &made));
    complete(ports, worktree, &restored, event(ports, worktree.session, payload)).await?;
    let restored = AgentWorktree { is_set_up: false, ..restored };
    let failed = set_up(ports, &restored, environment).await.err();
    notices.extend(failed.iter().map(Error::in_one_line));
    let report = report(&restored, WorktreeOutcome::Restored, Some(salvage));
    Ok(WorktreeActionReport { notices, ..report })
}

/// Restores a salvage where no folder is. The new branch is recorded before git is run: if this
/// process is killed, the next attempt completes the restoration on that branch.
async fn restored(
    ports: &Ports,
    worktree: &AgentWorktree,
    (salvage, branch): (&RefName, Option<BranchName>),
    environment: &Environment,
) -> Result<EnsuredWorktree> {
    let caller = git_caller(ports, worktree, environment)?;
    let is_gone = || ports.machine.folder(&worktree.path).is_err();
    let set = |removal| Change::SetWorktreeRemoval { worktree: worktree.id, removal };
    let mut changes: Vec<Change> = not_set_up(worktree).into_iter().collect();
    if is_gone() {
        let at = worktree.removal.as_ref().map_or_else(|| ports.clock.now(), |it| it.at);
        let (salvage, onto) = (Some(salvage.clone()), branch.clone());
        changes.push(set(Some(WorktreeRemoval { at, is_done: true, salvage, onto })));
    }
    ports.store.commit(Commit { changes, events: Vec::new() }).await?;
    failpoint::hit("worktree.restore.before");
    let (source, salvage) = (worktree.source.clone(), salvage.clone());
    let order = RestorationOrder { source, salvage, branch };
    match ports.checkouts.restore(&order, &caller).await {
        Ok(made) => Ok(made),
        Err(error) => {
            // A folder that git has begun to fill is completed on the recorded branch.
            if is_gone() {
                let changes = vec![set(worktree.removal.clone())];
                ports.store.commit(Commit { changes, events: Vec::new() }).await?;
            }
            Err(error)
        }
    }
}

/// Fails if a folder that is there in part is wanted on another branch than the interrupted
/// restoration uses.
fn refuse_another_branch(worktree: &AgentWorktree, wanted: Option<&BranchName>) -> Result<()> {
    let Some(wanted) = wanted.filter(|wanted| **wanted != worktree.as_restored().branch) else {
        return Ok(());
    };
    let (path, branch) = (worktree.path.display(), &worktree.branch);
    let error = Error::conflict(format!(
        "the worktree of branch `{branch}` cannot be restored onto `{wanted}`: `{path}` exists"
    ));
    let path = quoted(&worktree.path);
    Err(error
        .caused_by("an earlier removal or restoration of the worktree was interrupted")
        .hint(format!("run `segue worktree restore {path}` to complete it on its branch")))
}

async fn newest_salvage(ports: &Ports, worktree: &AgentWorktree) -> Result<RefName> {
    let newest = salvage_since(ports, worktree, Timestamp::MIN).await?;
    newest.ok_or_else(|| {
        let branch = &worktree.branch;
        Error::not_found(format!("there is no salvage of the worktree of branch `{branch}`"))
            .caused_by("it was never salvaged, or had nothing that its branch does not have")
            .hint(format!("run `segue run --worktree {branch}` to make it again"))
    })
}
