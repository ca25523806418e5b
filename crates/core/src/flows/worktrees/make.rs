//! Makes the folder of a worktree, for a new session or for one that comes back.

use jiff::Timestamp;

use super::commands::set_up;
use super::of_session;
use super::plan::{WorktreePlan, refuse_other_branch, refuse_reserved, spec};
use crate::error::{Error, Kind, Result};
use crate::failpoint;
use crate::flows::credentials::git_caller;
use crate::model::{
    AgentWorktree, EnsuredWorktree, Environment, EventPayload, MadeWorktreeFacts, NewEvent,
    Provision, RefName, Salvage, Session, SessionId, WorktreeOrigin, WorktreeRemoval,
};
use crate::ports::{Change, Commit, Ports, RestorationOrder, WorktreeQuery};
use crate::rules::worktrees::{earlier_work, notice, origin};

/// The notice about a branch of a fork in which the commands of the project are not run.
const WITHHELD_COMMANDS: &str = "the setup commands were not run, because the branch is from a \
    fork; add `--setup-fork` to `segue run` to allow them";

/// Makes the worktree of a plan, or uses the existing one as it is, and runs its setup commands
/// unless they have succeeded before. The record is committed before git is run. Returns the event
/// that describes the worktree. Fails if another session works in it.
pub async fn make(
    ports: &Ports,
    plan: &WorktreePlan,
    environment: &Environment,
) -> Result<EventPayload> {
    let caller = git_caller(ports, &plan.worktree, environment)?;
    // Another request may have made the same worktree since it was planned.
    let known = recorded(ports, plan).await?;
    let id = known.as_ref().map_or(plan.worktree.id, |known| known.id);
    failpoint::hit("worktree.record.before");
    let is_set_up = record(ports, plan, known.as_ref()).await?;
    failpoint::hit("worktree.record.after");
    let made = match ports.checkouts.ensure(&plan.spec(), &caller).await {
        Ok(made) => made,
        Err(error) => {
            if known.is_none() {
                commit(ports, vec![Change::ForgetWorktree(id)]).await?;
            }
            return Err(error);
        }
    };
    failpoint::hit("worktree.made.after");
    if known.is_some_and(|known| known.removal.is_some()) {
        commit(ports, vec![Change::SetWorktreeRemoval { worktree: id, removal: None }]).await?;
    }
    let mut worktree = AgentWorktree { id, is_set_up, ..plan.worktree.clone() };
    if made.origin != WorktreeOrigin::Existing
        && let Some(change) = not_set_up(&worktree)
    {
        commit(ports, vec![change]).await?;
        worktree.is_set_up = false;
    }
    set_up(ports, &worktree, environment).await?;
    let mut facts = made_facts(&plan.worktree, &made);
    facts.notices.extend(plan.has_withheld_commands.then(|| WITHHELD_COMMANDS.to_owned()));
    Ok(EventPayload::WorktreeMade(facts))
}

/// Records a new worktree, or the commands of a known one. Returns whether its setup commands have
/// succeeded and its folder is still there. A folder that is made again has lost its ignored files,
/// such as installed packages, so that is recorded before git makes it.
async fn record(ports: &Ports, plan: &WorktreePlan, known: Option<&AgentWorktree>) -> Result<bool> {
    let Some(known) = known else {
        commit(ports, vec![Change::AddWorktree(Box::new(plan.worktree.clone()))]).await?;
        return Ok(false);
    };
    let (worktree, commands) = (known.id, plan.worktree.commands.clone());
    let is_kept = known.removal.is_none() && ports.machine.folder(&known.path).is_ok();
    let mut changes = Vec::new();
    changes.extend(other_branch(known, &plan.worktree));
    if known.commands != commands {
        changes.push(Change::SetWorktreeCommands { worktree, commands });
    }
    changes.extend(not_set_up(known).filter(|_| !is_kept));
    if !changes.is_empty() {
        commit(ports, changes).await?;
    }
    Ok(known.is_set_up && is_kept)
}

/// Returns the change after which the setup commands run again.
pub(super) fn not_set_up(worktree: &AgentWorktree) -> Option<Change> {
    let change = Change::SetWorktreeSetUp { worktree: worktree.id, is_set_up: false };
    worktree.is_set_up.then_some(change)
}

async fn recorded(ports: &Ports, plan: &WorktreePlan) -> Result<Option<AgentWorktree>> {
    let query = WorktreeQuery { session: None, path: Some(plan.worktree.path.clone()) };
    let known = ports.store.worktrees(&query).await?.pop();
    if let Some(known) = &known {
        refuse_reserved(ports, known).await?;
        refuse_other_branch(known, &plan.worktree.branch)?;
    }
    Ok(known)
}

/// Prepares the worktree of a session for a launch: makes its folder again if it is gone, and runs
/// its setup commands unless they have succeeded before. Returns whether the folder was gone. Does
/// nothing for a session without a worktree.
pub async fn prepare(ports: &Ports, session: &Session, environment: &Environment) -> Result<bool> {
    let Some(worktree) = of_session(ports, session).await? else { return Ok(false) };
    let was_gone = bring_back(ports, session, &worktree, environment).await?;
    if let Some(worktree) = of_session(ports, session).await? {
        set_up(ports, &worktree, environment).await?;
    }
    Ok(was_gone)
}

/// Makes the folder of a session's worktree again, at the same path, if it is gone. Prefers the
/// salvage of the last removal. That the folder is gone is recorded first, so that an interrupted
/// attempt is completed by the next one. Returns whether the folder was gone.
pub async fn bring_back(
    ports: &Ports,
    session: &Session,
    worktree: &AgentWorktree,
    environment: &Environment,
) -> Result<bool> {
    let is_there = ports.machine.folder(&worktree.path).is_ok();
    if is_there && worktree.removal.is_none() {
        return Ok(false);
    }
    record_as_gone(ports, worktree).await?;
    failpoint::hit("worktree.back.before");
    let salvage = salvage_of_removal(ports, worktree).await?.filter(|_| !is_there);
    let (made, note) = match salvage {
        Some(salvage) => restored_or_made(ports, worktree, salvage, environment).await?,
        None => (made_again(ports, &worktree.as_restored(), environment).await?, None),
    };
    failpoint::hit("worktree.back.after");
    let back = worktree.checked_out(made.branch.as_deref());
    let mut facts = made_facts(&back, &made);
    facts.notices.extend(note);
    let made = event(ports, Some(session.id), EventPayload::WorktreeMade(facts));
    complete(ports, worktree, &back, made).await?;
    Ok(!is_there)
}

/// Records that the folder of a worktree is complete again, on the branch that git has checked out.
pub(super) async fn complete(
    ports: &Ports,
    before: &AgentWorktree,
    made: &AgentWorktree,
    event: NewEvent,
) -> Result<()> {
    let exists = Change::SetWorktreeRemoval { worktree: before.id, removal: None };
    let changes = [exists].into_iter().chain(other_branch(before, made)).collect();
    ports.store.commit(Commit { changes, events: vec![event] }).await?;
    Ok(())
}

/// Returns the change that gives a worktree another branch. `None` if it is the same branch.
fn other_branch(before: &AgentWorktree, made: &AgentWorktree) -> Option<Change> {
    let change = Change::SetWorktreeBranch { worktree: before.id, branch: made.branch.clone() };
    (before.branch != made.branch).then_some(change)
}

/// Records that a folder is gone, even if Segue has not removed it, and that its setup commands have
/// to run again.
async fn record_as_gone(ports: &Ports, worktree: &AgentWorktree) -> Result<()> {
    let mut changes: Vec<Change> = not_set_up(worktree).into_iter().collect();
    if worktree.removal.is_none() {
        let at = ports.clock.now();
        let removal = WorktreeRemoval { at, is_done: true, salvage: None, onto: None };
        let (worktree, removal) = (worktree.id, Some(removal));
        changes.push(Change::SetWorktreeRemoval { worktree, removal });
    }
    match changes.is_empty() {
        true => Ok(()),
        false => commit(ports, changes).await,
    }
}

/// Returns the salvage of the removal by Segue. If the removal was interrupted, its salvage may not
/// be recorded, but git has it.
async fn salvage_of_removal(ports: &Ports, worktree: &AgentWorktree) -> Result<Option<RefName>> {
    match &worktree.removal {
        None => Ok(None),
        Some(removal) if removal.is_done || removal.salvage.is_some() => {
            Ok(removal.salvage.clone())
        }
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

/// Restores a salvage, on the new branch of an interrupted attempt if there is one. If the branch has
/// moved since, makes the worktree on its own branch without the salvage, which stays.
async fn restored_or_made(
    ports: &Ports,
    worktree: &AgentWorktree,
    salvage: RefName,
    environment: &Environment,
) -> Result<(EnsuredWorktree, Option<String>)> {
    let order = RestorationOrder {
        source: worktree.source.clone(),
        salvage: salvage.clone(),
        branch: worktree.removal.as_ref().and_then(|removal| removal.onto.clone()),
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
        notices: made.notices.iter().map(notice).chain(earlier_work(made)).collect(),
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
