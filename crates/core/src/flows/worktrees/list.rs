//! Finds worktrees by the names that users give, and describes them.

use std::collections::BTreeMap;
use std::path::Path;

use crate::api::{
    BranchDistance, ChangeCounts, SessionRef, WorktreeState, WorktreeView, WorktreesRequest,
};
use crate::error::{Error, Result};
use crate::flows::select;
use crate::model::{
    AgentWorktree, Divergence, Principal, Session, SessionId, WorktreeChanges, WorktreeFacts,
};
use crate::ports::{InspectDepth, Ports, SessionQuery, WorktreeQuery};
use crate::rules::address::nearest;

/// Returns the worktrees that a request means, oldest first.
pub async fn list(
    ports: &Ports,
    principal: &Principal,
    request: &WorktreesRequest,
) -> Result<Vec<WorktreeView>> {
    let worktrees = match request.names.as_slice() {
        [] => ports.store.worktrees(&WorktreeQuery::default()).await?,
        names => {
            let mut found = Vec::new();
            for name in names {
                found.push(find(ports, principal, name, &request.cwd).await?);
            }
            found
        }
    };
    let owners = owners(ports, &worktrees).await?;
    let depth = if request.with_sizes { InspectDepth::StateAndSize } else { InspectDepth::State };
    let mut views = Vec::new();
    for worktree in &worktrees {
        let owner = worktree.session.and_then(|id| owners.get(&id));
        views.push(view(ports, worktree, owner, depth).await);
    }
    Ok(views)
}

async fn owners(
    ports: &Ports,
    worktrees: &[AgentWorktree],
) -> Result<BTreeMap<SessionId, Session>> {
    let ids = worktrees.iter().filter_map(|worktree| worktree.session).collect();
    let sessions = ports.store.sessions(&SessionQuery::ids(ids)).await?;
    Ok(sessions.into_iter().map(|it| (it.session.id, it.session)).collect())
}

/// Finds the worktree that a word means: the path of its folder or of a folder in it, its branch,
/// or the session that works there.
pub async fn find(
    ports: &Ports,
    principal: &Principal,
    word: &str,
    cwd: &Path,
) -> Result<AgentWorktree> {
    let all = ports.store.worktrees(&WorktreeQuery::default()).await?;
    let path = cwd.join(word);
    let path = ports.machine.folder(&path).map_or(path, |folder| folder.real_path);
    // A word without a slash is a path only if it means this folder.
    let is_path = word.contains('/') || word == ".";
    if is_path && let Some(found) = all.iter().find(|it| path.starts_with(&it.path)) {
        return Ok(found.clone());
    }
    let of_branch: Vec<&AgentWorktree> =
        all.iter().filter(|it| it.branch.as_str() == word).collect();
    match of_branch.as_slice() {
        [only] => return Ok((*only).clone()),
        [] => {}
        several => return Err(ambiguous(word, several)),
    }
    let found = match select::find(ports, principal, word, cwd).await {
        Ok(summary) => all.iter().find(|it| it.session == Some(summary.session.id)),
        Err(_) => None,
    };
    found.cloned().ok_or_else(|| unknown(word, &all))
}

fn ambiguous(word: &str, several: &[&AgentWorktree]) -> Error {
    let error = Error::usage(format!("{} worktrees have the branch `{word}`", several.len()));
    several.iter().fold(error, |error, it| error.hint(format!("use `{}`", it.path.display())))
}

fn unknown(word: &str, all: &[AgentWorktree]) -> Error {
    let error = Error::not_found(format!("there is no worktree `{}`", word.escape_debug()));
    let similar = nearest(word, all.iter().map(|it| it.branch.as_str()));
    let error =
        similar.into_iter().fold(error, |error, it| error.hint(format!("did you mean `{it}`?")));
    error.hint("run `segue worktree ls` to see all worktrees")
}

/// Describes a worktree. An error of git becomes part of the description.
async fn view(
    ports: &Ports,
    worktree: &AgentWorktree,
    owner: Option<&Session>,
    depth: InspectDepth,
) -> WorktreeView {
    let plain = plain_view(ports, worktree, owner);
    if plain.state != WorktreeState::Present {
        return plain;
    }
    match ports.checkouts.inspect(&worktree.place(), depth).await {
        Ok(facts) => with_facts(plain, facts),
        Err(error) => WorktreeView { error: Some(error.in_one_line()), ..plain },
    }
}

fn plain_view(ports: &Ports, worktree: &AgentWorktree, owner: Option<&Session>) -> WorktreeView {
    let state = match worktree.complete_removal() {
        Some(_) => WorktreeState::Removed,
        None if ports.machine.folder(&worktree.path).is_ok() => WorktreeState::Present,
        None => WorktreeState::Missing,
    };
    WorktreeView {
        worktree: worktree.id,
        path: worktree.path.clone(),
        repository: worktree.source.to_string(),
        branch: worktree.branch.clone(),
        agent: worktree.agent.to_string(),
        leased_to: owner.map(SessionRef::of),
        state,
        checked_out: None,
        head: None,
        changes: None,
        operation: None,
        distance: None,
        size_bytes: None,
        port: worktree.port,
        salvage: worktree.removal.as_ref().and_then(|removal| removal.salvage.clone()),
        error: None,
        created_at: worktree.created_at,
    }
}

fn with_facts(view: WorktreeView, facts: WorktreeFacts) -> WorktreeView {
    let WorktreeChanges { staged, modified, untracked, conflicted } = facts.changes;
    let checked_out = facts.listed.branch.unwrap_or_else(|| "(detached)".to_owned());
    WorktreeView {
        checked_out: (checked_out != view.branch.as_str()).then_some(checked_out),
        head: facts.listed.head.map(|head| head.to_string()),
        changes: Some(ChangeCounts { staged, modified, untracked, conflicted }),
        operation: facts.operation.map(|operation| operation.word().to_owned()),
        distance: facts.upstream.or(facts.default_branch).map(distance),
        size_bytes: facts.size_bytes,
        ..view
    }
}

fn distance(Divergence { from, ahead, behind }: Divergence) -> BranchDistance {
    BranchDistance { from, ahead, behind }
}
