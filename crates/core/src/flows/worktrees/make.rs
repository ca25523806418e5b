//! Makes the folder of a worktree, for a new session or for one that comes back.

use jiff::Timestamp;

use super::plan::{WorktreePlan, refuse_reserved, spec};
use crate::error::{Error, Kind, Result};
use crate::failpoint;
use crate::flows::SessionState;
use crate::flows::credentials::git_caller;
use crate::model::{
    AgentWorktree, EnsuredWorktree, Environment, EventPayload, MadeWorktreeFacts, NewEvent,
    Provision, RefName, Salvage, SessionId, WorktreeRemoval,
};
use crate::ports::{Change, Commit, Ports, RestorationOrder, WorktreeQuery};
use crate::rules::worktrees::{notice, origin};

/// Makes the worktree of a plan, or uses the existing one as it is. The record is committed before
/// git is run. Returns the event that describes it. Fails if another session works in it.
pub async fn make(
    ports: &Ports,
    plan: &WorktreePlan,
    environment: &Environment,
) -> Result<EventPayload> {
    let caller = git_caller(ports, &plan.worktree, environment)?;
    // Another request may have made the same worktree since it was planned.
    let known = recorded(ports, plan).await?;
    let worktree = known.as_ref().map_or(plan.worktree.id, |known| known.id);
    if known.is_none() {
        failpoint::hit("worktree.record.before");
        commit(ports, vec![Change::AddWorktree(Box::new(plan.worktree.clone()))]).await?;
        failpoint::hit("worktree.record.after");
    }
    let made = match ports.checkouts.ensure(&plan.spec(), &caller).await {
        Ok(made) => made,
        Err(error) => {
            if known.is_none() {
                commit(ports, vec![Change::ForgetWorktree(worktree)]).await?;
            }
            return Err(error);
        }
    };
    failpoint::hit("worktree.made.after");
    if known.is_some_and(|known| known.removal.is_some()) {
        commit(ports, vec![Change::SetWorktreeRemoval { worktree, removal: None }]).await?;
    }
    Ok(EventPayload::WorktreeMade(made_facts(&plan.worktree, &made)))
}

async fn recorded(ports: &Ports, plan: &WorktreePlan) -> Result<Option<AgentWorktree>> {
    let query = WorktreeQuery { session: None, path: Some(plan.worktree.path.clone()) };
    let known = ports.store.worktrees(&query).await?.pop();
    if let Some(known) = &known {
        refuse_reserved(ports, known).await?;
    }
    Ok(known)
}

/// Makes the folder of a session's worktree again, at the same path, if it is gone. Prefers the
/// salvage of the last removal. That the folder is gone is recorded first, so that an interrupted
/// attempt is completed by the next one.
pub async fn bring_back(
    ports: &Ports,
    state: &SessionState,
    environment: &Environment,
) -> Result<()> {
    let Some(worktree) = &state.worktree else { return Ok(()) };
    let is_there = ports.machine.folder(&worktree.path).is_ok();
    if is_there && worktree.removal.is_none() {
        return Ok(());
    }
    record_as_gone(ports, worktree).await?;
    failpoint::hit("worktree.back.before");
    let salvage = salvage_of_removal(ports, worktree).await?.filter(|_| !is_there);
    let (made, note) = match salvage {
        Some(salvage) => restored_or_made(ports, worktree, salvage, environment).await?,
        None => (made_again(ports, worktree, environment).await?, None),
    };
    failpoint::hit("worktree.back.after");
    let mut facts = made_facts(worktree, &made);
    facts.notices.extend(note);
    let events = vec![state.event(ports, EventPayload::WorktreeMade(facts))];
    let exists = Change::SetWorktreeRemoval { worktree: worktree.id, removal: None };
    ports.store.commit(Commit { changes: vec![exists], events }).await?;
    Ok(())
}

/// Records that a folder is gone that Segue has not removed.
async fn record_as_gone(ports: &Ports, worktree: &AgentWorktree) -> Result<()> {
    if worktree.removal.is_some() {
        return Ok(());
    }
    let removal = WorktreeRemoval { at: ports.clock.now(), is_done: true, salvage: None };
    let (worktree, removal) = (worktree.id, Some(removal));
    commit(ports, vec![Change::SetWorktreeRemoval { worktree, removal }]).await
}

/// Returns the salvage of the removal by Segue. If the removal was interrupted, its salvage is not
/// recorded, but git has it.
async fn salvage_of_removal(ports: &Ports, worktree: &AgentWorktree) -> Result<Option<RefName>> {
    match &worktree.removal {
        None => Ok(None),
        Some(removal) if removal.is_done => Ok(removal.salvage.clone()),
        Some(removal) => salvage_since(ports, worktree, removal.at).await,
    }
}

/// Returns the newest complete salvage of a worktree that was made at this time or later.
pub(super) async fn salvage_since(
    ports: &Ports,
    worktree: &AgentWorktree,
    at: Timestamp,
) -> Result<Option<RefName>> {
    let salvages = ports.checkouts.salvages(&worktree.source).await?;
    let is_own = |salvage: &&Salvage| {
        salvage.path == worktree.path && !salvage.is_remainder && salvage.made_at >= at
    };
    Ok(salvages.iter().find(is_own).map(|salvage| salvage.reference.clone()))
}

/// Restores a salvage. If its branch has moved since, makes the worktree without it; the salvage
/// stays.
async fn restored_or_made(
    ports: &Ports,
    worktree: &AgentWorktree,
    salvage: RefName,
    environment: &Environment,
) -> Result<(EnsuredWorktree, Option<String>)> {
    let order = RestorationOrder {
        source: worktree.source.clone(),
        salvage: salvage.clone(),
        branch: None,
    };
    let caller = git_caller(ports, worktree, environment)?;
    match ports.checkouts.restore(&order, &caller).await {
        Ok(made) => Ok((made, None)),
        Err(error) if error.kind == Kind::Conflict => {
            let made = made_again(ports, worktree, environment).await?;
            let note = format!("its uncommitted changes are still in {salvage}: {error}");
            Ok((made, Some(note)))
        }
        Err(error) => Err(not_brought_back(worktree, &error)),
    }
}

pub(super) async fn made_again(
    ports: &Ports,
    worktree: &AgentWorktree,
    environment: &Environment,
) -> Result<EnsuredWorktree> {
    let spec = spec(worktree, Provision::default());
    let caller = git_caller(ports, worktree, environment)?;
    let made = ports.checkouts.ensure(&spec, &caller).await;
    made.map_err(|error| not_brought_back(worktree, &error))
}

fn not_brought_back(worktree: &AgentWorktree, error: &Error) -> Error {
    let (path, branch) = (worktree.path.display(), &worktree.branch);
    let failed = Error::new(
        error.kind,
        format!("the worktree `{path}` of branch `{branch}` cannot be made again"),
    );
    let failed = failed.caused_by(error);
    error.hints.iter().fold(failed, |failed, hint| failed.hint(hint.clone()))
}

/// Returns the facts about a worktree that was made.
pub(super) fn made_facts(worktree: &AgentWorktree, made: &EnsuredWorktree) -> MadeWorktreeFacts {
    MadeWorktreeFacts {
        path: worktree.path.display().to_string(),
        branch: worktree.branch.to_string(),
        origin: origin(&made.origin),
        notices: made.notices.iter().map(notice).collect(),
    }
}

/// Returns an event about a worktree, in the log of the session that works there.
pub(super) fn event(ports: &Ports, session: Option<SessionId>, payload: EventPayload) -> NewEvent {
    NewEvent { at: ports.clock.now(), session, launch: None, payload }
}

async fn commit(ports: &Ports, changes: Vec<Change>) -> Result<()> {
    ports.store.commit(Commit { changes, events: Vec::new() }).await?;
    Ok(())
}
